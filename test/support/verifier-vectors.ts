/** The test vectors of `examples/verifier`: what each file is, and what a verifier must say of it. */
import { askedProofOf, findSubject, type ProofSubject } from '../../src/audit/proof/proof-subject.ts';
import { type Proof, prove } from '../../src/audit/proof/prove.ts';
import { signedNote, verifierKeyOf } from '../../src/events/log-note.ts';
import { eventId } from '../../src/storage/event-id.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';
import { type ChangedEvent, ExportedLog, onDisk } from './exported-log.ts';
import { FOUNDED, KEYS, LOG_ID, LogWriter, PAYMENT, REQUEST, TRANSACTION, writtenLog } from './written-log.ts';

export interface ExpectedBreach {
  readonly rule: string;
  readonly stream: string | null;
  readonly revision: number | null;
}

export interface Vector {
  readonly file: string;
  readonly about: string;
  /** A head kept earlier: a file beside it. */
  readonly head?: string;
  /** A verifier key kept earlier. */
  readonly key?: string;
  readonly exit: 0 | 1 | 2;
  readonly breaches: readonly ExpectedBreach[];
}

export interface Vectors {
  readonly vectors: readonly Vector[];
  readonly files: ReadonlyMap<string, string>;
}

const keyOf = (version: number): string => verifierKeyOf(LOG_ID, KEYS[version - 1]?.publicKey ?? '');

function noteOf(writer: LogWriter, size: number, version: number, logId = LOG_ID): string {
  const key = KEYS[version - 1];
  if (!key) throw new Error(`there is no key ${version}`);
  const head = { size, root: writer.tree(size).root().toString('hex') };
  return signedNote({ ...head, signature: key.signHead(head, logId) }, logId, key.publicKey);
}

const HEAD = 'log-head';
const DOCKET = 'docket-cand-3:24-cv-00042';
const OTHER = 'docket-cand-3:24-cv-00043';
const opened = (number: string) => ['DocketOpened', 1, { court: 'cand', caseNumber: number }] as const;
const checked = (source: string) =>
  [
    'DocketChecked',
    1,
    { source, askedAt: '2026-03-01T12:00:30.000000Z', complete: true, outcome: 'unchanged', ingestId: null },
  ] as const;

/** Index 0 log-identity, 1 DOCKET, 2 OTHER, 3 and 4 log-head, 5 DOCKET, 6 OTHER, 7 log-head, 8 and 9 DOCKET. */
const shortLog = (): LogWriter =>
  new LogWriter()
    .write('log-identity', [FOUNDED])
    .write(DOCKET, [opened('3:24-cv-00042')])
    .write(OTHER, [opened('3:24-cv-00043')])
    .head(1, { introduces: true })
    .write(DOCKET, [checked('one')])
    .write(OTHER, [checked('two')])
    .head(1)
    .write(DOCKET, [checked('three'), checked('four')]);

const at = (log: ExportedLog, index: number): ChangedEvent => {
  const event = log.events[index];
  if (!event) throw new Error(`there is no event ${index}`);
  return event;
};
const set = (event: ChangedEvent, data: Record<string, unknown>): void => {
  event.data = { ...event.data, ...data } as ChangedEvent['data'];
};

type Kept = Pick<Vector, 'head' | 'key'>;

export async function verifierVectors(): Promise<Vectors> {
  const vectors: Vector[] = [];
  const files = new Map<string, string>();
  const add = (
    file: string,
    about: string,
    text: string,
    exit: 0 | 1 | 2,
    breaches: readonly [rule: string, stream: string | null, revision: number | null][] = [],
    kept: Kept = {},
  ): void => {
    files.set(file, text);
    const listed = breaches.map(([rule, stream, revision]) => ({ rule, stream, revision }));
    vectors.push({ file, about, ...kept, exit, breaches: listed });
  };
  const short = await ExportedLog.of(shortLog());
  const copy = (): ExportedLog => structuredCloneOf(short);
  files.set('kept-head.txt', noteOf(shortLog(), 7, 1));
  files.set('kept-head-of-another-key.txt', noteOf(shortLog(), 7, 2));
  const CUT = 5;

  // Logs that hold.
  add(
    'log-good.ndjson',
    'Two payments, two keys of heads, an anchor, unusual values, events after the last head.',
    (await ExportedLog.of(writtenLog())).text(),
    0,
  );
  add('log-short.ndjson', 'A head and a key that were kept earlier.', short.text(), 0, [], {
    head: 'kept-head.txt',
    key: keyOf(1),
  });
  add('log-empty.ndjson', 'A log without events.', (await ExportedLog.of(new LogWriter())).text(), 0);
  add(
    'log-without-heads.ndjson',
    'A log of an earlier version: no heads, and no command ids.',
    (
      await ExportedLog.of(
        new LogWriter().write('log-identity', [FOUNDED], null).write(DOCKET, [opened('3:24-cv-00042')], null),
      )
    ).text(),
    0,
  );

  // One breach each.
  const changed = (
    file: string,
    about: string,
    change: (log: ExportedLog) => void,
    breaches: Parameters<typeof add>[4],
    kept?: Kept,
  ): void => {
    const log = copy();
    change(log);
    add(file, about, log.text(), 1, breaches, kept);
  };
  changed('log-field-changed.ndjson', 'A field was changed.', (log) => set(at(log, 5), { source: 'changed' }), [
    ['hash_matches', DOCKET, 1],
  ]);
  changed(
    'log-metadata-changed.ndjson',
    'The time of recording was changed.',
    (log) => {
      const event = at(log, 9);
      event.metadata = { ...event.metadata, recordedAt: '2026-03-01T12:59:59.000000Z' };
    },
    [['hash_matches', DOCKET, 3]],
  );
  changed(
    'log-hash-recomputed.ndjson',
    'A field after the last head was changed with its hash, but the next event of the stream keeps the old chain.',
    (log) => {
      set(at(log, 8), { source: 'changed' });
      const event = at(log, 8);
      event.hash = hashEvent(at(log, 5).hash, event as unknown as Parameters<typeof hashEvent>[1]);
      log.sealed();
    },
    [['hash_matches', DOCKET, 3]],
  );
  changed(
    'log-chain-recomputed.ndjson',
    'An insider changed a field and recomputed every hash after it.',
    (log) => {
      set(at(log, 5), { source: 'changed' });
      log.rehashed().sealed();
    },
    [['head_root_matches', HEAD, 2]],
  );
  changed(
    'log-event-removed.ndjson',
    'An event after the last head was removed.',
    (log) => {
      log.events.splice(8, 1);
      log.repositioned().sealed();
    },
    [['revisions_contiguous', DOCKET, 3]],
  );
  changed(
    'log-stream-removed.ndjson',
    'A whole stream was removed.',
    (log) => {
      log.events.splice(0, log.events.length, ...log.events.filter(({ stream }) => stream !== OTHER));
      log.repositioned().sealed();
    },
    [['head_root_matches', HEAD, 1]],
  );
  changed(
    'log-stream-added.ndjson',
    'A stream was added in the past.',
    (log) => {
      const stream = 'docket-cand-3:24-cv-00044';
      const like = at(log, 2);
      log.events.splice(1, 0, { ...like, stream, id: eventId(String(like.metadata.commandId), stream, -1, 0) });
      log.rehashed().repositioned().sealed();
    },
    [['head_root_matches', HEAD, 1]],
  );
  changed(
    'log-streams-exchanged.ndjson',
    'Two streams changed places between two heads.',
    (log) => {
      log.events.splice(5, 2, at(log, 6), at(log, 5));
      log.repositioned().sealed();
    },
    [['head_root_matches', HEAD, 2]],
  );
  changed(
    'log-id-changed.ndjson',
    'An insider gave an event after the last head another id, and recomputed its hash.',
    (log) => {
      at(log, 9).id = at(log, 8).id;
      log.rehashed().sealed();
    },
    [['event_id_recomputable', DOCKET, 3]],
  );
  changed(
    'log-position-repeated.ndjson',
    'Two events have one position.',
    (log) => {
      at(log, 9).position = at(log, 8).position;
    },
    [['positions_contiguous', DOCKET, 3]],
  );
  changed(
    'log-head-resigned.ndjson',
    'A head was signed by a key that the log did not introduce.',
    (log) => {
      const head = at(log, 7);
      const claim = head.data as unknown as { size: number; root: string };
      set(head, { signature: KEYS[1]?.signHead(claim, LOG_ID) });
      log.rehashed().sealed();
    },
    [['head_signature_valid', HEAD, 2]],
  );
  changed(
    'log-head-of-no-key.ndjson',
    'A head names a key that was never introduced.',
    (log) => {
      set(at(log, 7), { masterVersion: 9 });
      log.rehashed();
      log.sealed();
      // The last line still names the key that signed.
      log.end = { ...log.end, signed_head: short.end?.signed_head };
    },
    [['head_key_known', HEAD, 2]],
  );
  changed(
    'log-head-malformed.ndjson',
    'The data of a head is not that of a head.',
    (log) => {
      set(at(log, 7), { size: '7' });
      log.rehashed();
      log.events.splice(8);
      log.sealed();
      log.end = { ...log.end, signed_head: { note: noteOf(shortLog(), 3, 1), key: keyOf(1) } };
    },
    [['schema_fits', HEAD, 2]],
  );
  add(
    'log-heads-fall.ndjson',
    'A later head covers fewer events.',
    (await ExportedLog.of(shortLog().head(1, { size: 6 }))).text(),
    1,
    [['head_size_rises', HEAD, 3]],
  );
  add(
    'log-key-exchanged.ndjson',
    'Another key was introduced under a known version.',
    (
      await ExportedLog.of(
        shortLog().write(HEAD, [
          ['LogHeadKeyIntroduced', 1, { masterVersion: 1, publicKey: KEYS[1]?.publicKey ?? '' }],
        ]),
      )
    ).text(),
    1,
    [['head_key_known', HEAD, 3]],
  );
  add(
    'log-anchor-differs.ndjson',
    'An anchor of a root that no head has.',
    (await ExportedLog.of(shortLog().anchor(7, 'ab'.repeat(32)))).text(),
    1,
    [['anchor_names_head', HEAD, 3]],
  );
  add(
    'log-other-key.ndjson',
    'The log introduces another key than the one that was kept.',
    short.text(),
    1,
    [['head_key_kept', HEAD, 0]],
    { key: keyOf(2) },
  );
  changed(
    'log-tail-cut.ndjson',
    'The tail was cut together with its head; a kept head shows it.',
    (log) => {
      log.events.splice(CUT);
      log.sealed();
    },
    [['head_kept_matches', 'log-head', null]],
    { head: 'kept-head.txt' },
  );
  changed(
    'log-rewritten.ndjson',
    'The service itself rewrote the log and signed new heads; a kept head shows it.',
    () => undefined,
    [['head_kept_matches', 'log-head', null]],
    { head: 'kept-head.txt' },
  );
  files.set('log-rewritten.ndjson', (await ExportedLog.of(rewritten())).text());
  add(
    'log-kept-head-forged.ndjson',
    'The kept head is not signed by a key of the log.',
    short.text(),
    1,
    [['head_kept_signed', 'log-head', null]],
    { head: 'kept-head-of-another-key.txt' },
  );
  changed(
    'log-last-line-missing.ndjson',
    'The file was cut after an event.',
    (log) => {
      log.end = null;
    },
    [['export_complete', null, null]],
  );
  changed(
    'log-last-event-missing.ndjson',
    'The last event is missing from the file.',
    (log) => {
      log.events.pop();
      const end = copy().end;
      log.sealed();
      log.end = { ...log.end, events: end?.events };
    },
    [['export_complete', null, null]],
  );
  changed(
    'log-last-head-forged.ndjson',
    'The head in the last line has a signature that the log does not have.',
    (log) => {
      log.end = { ...log.end, signed_head: { note: noteOf(shortLog(), 7, 2), key: keyOf(2) } };
    },
    [['export_complete', null, null]],
  );
  changed(
    'log-id-malformed.ndjson',
    'The id of the log is not a UUID.',
    (log) => {
      log.events.splice(1);
      set(at(log, 0), { logId: '\u001b[2J' });
      log.rehashed().sealed();
      log.header.log_id = null;
    },
    [['schema_fits', 'log-identity', 0]],
  );
  changed(
    'log-named-differently.ndjson',
    'The first line names another log.',
    (log) => {
      log.header.log_id = '00000000-0000-4000-8000-000000000000';
    },
    [['export_complete', null, null]],
  );

  // Not readable.
  const lines = short.text().trimEnd().split('\n');
  const replaced = (index: number, line: string): string => `${lines.with(index, line).join('\n')}\n`;
  const line = lines[1] ?? '';
  add('unreadable-empty.ndjson', 'Nothing.', '', 2);
  add('unreadable-text.ndjson', 'Not JSON.', 'no such log\n', 2);
  add(
    'unreadable-version.ndjson',
    'A later version of the format.',
    replaced(0, (lines[0] ?? '').replace('"version":1', '"version":2')),
    2,
  );
  add('unreadable-cut.ndjson', 'Cut within a line.', short.text().slice(0, -400), 2);
  add(
    'unreadable-member-twice.ndjson',
    'A member twice: which one counts depends on the program.',
    replaced(1, line.replace('"revision":0', '"revision":0,"revision":1')),
    2,
  );
  add(
    'unreadable-member-missing.ndjson',
    'An event without its type.',
    replaced(1, line.replace(/"type":"[^"]*",/, '')),
    2,
  );
  add(
    'unreadable-member-unknown.ndjson',
    'An event with a member that the format does not know.',
    replaced(1, line.replace('"revision":0', '"revision":0,"rev":1')),
    2,
  );
  add(
    'unreadable-type.ndjson',
    'A revision that is text.',
    replaced(1, line.replace('"revision":0', '"revision":"0"')),
    2,
  );
  add(
    'unreadable-fraction.ndjson',
    'A revision that is no whole number.',
    replaced(1, line.replace('"revision":0', '"revision":0.5')),
    2,
  );
  add(
    'unreadable-huge.ndjson',
    'A revision that no double holds.',
    replaced(1, line.replace('"revision":0', `"revision":${'9'.repeat(400)}`)),
    2,
  );
  add(
    'unreadable-infinity.ndjson',
    'A number that is not JSON.',
    replaced(1, line.replace('"revision":0', '"revision":Infinity')),
    2,
  );
  add(
    'unreadable-deep.ndjson',
    'Data nested too deeply.',
    replaced(1, line.replace(/"data":\{/, `"data":{"deep":${'['.repeat(200)}${']'.repeat(200)},`)),
    2,
  );
  add('unreadable-more.ndjson', 'A line after the last one.', `${short.text()}${lines[1]}\n`, 2);

  // Proofs.
  const proofs = await onDisk(writtenLog(), async (log) => {
    const of = async (text: string): Promise<Proof> => {
      const asked = askedProofOf(text);
      const proof = asked && (await prove(log, LOG_ID, (await findSubject(log, asked)) as ProofSubject));
      if (!proof || typeof proof === 'string') throw new Error(`${text}: ${proof}`);
      return proof;
    };
    return {
      event: await of(`${DOCKET}@1`),
      first: await of('log-identity@0'),
      request: await of(REQUEST),
      again: await of(TRANSACTION),
    };
  });
  const pretty = (proof: unknown): string => `${JSON.stringify(proof, null, 2)}\n`;
  add('proof-first-event.json', 'The first event of a log.', pretty(proofs.first), 0);
  add('proof-event.json', 'An event with others before it in its stream.', pretty(proofs.event), 0, [], {
    key: keyOf(2),
  });
  add(
    'proof-request.json',
    'A payment from its claim to its finality, with an anchor of a later head.',
    pretty(proofs.request),
    0,
  );
  files.set('kept-head-of-18.txt', noteOf(writtenLog(), 18, 2));
  add('proof-request-kept.json', 'The same, with the anchored head kept earlier.', pretty(proofs.again), 0, [], {
    head: 'kept-head-of-18.txt',
  });

  const bad = (
    file: string,
    about: string,
    change: (proof: ChangedProof) => void,
    breaches: Parameters<typeof add>[4],
    kept?: Kept,
  ): void => {
    const proof = structuredClone(proofs.request) as unknown as ChangedProof;
    change(proof);
    add(file, about, pretty(proof), 1, breaches, kept);
  };
  const step = (proof: ChangedProof, index: number): ChangedProof['events'][number] => {
    const event = proof.events[index];
    if (!event) throw new Error(`there is no event ${index}`);
    return event;
  };
  bad('proof-amount-changed.json', 'An amount was changed.', (proof) => set(step(proof, 0), { amount: '1' }), [
    ['hash_matches', PAYMENT, 0],
  ]);
  bad(
    'proof-hash-recomputed.json',
    'The last event was changed with its hash.',
    (proof) => {
      const event = step(proof, 4);
      set(event, { slot: 1 });
      event.hash = hashEvent(event.previous_hash, event as unknown as Parameters<typeof hashEvent>[1]);
    },
    [['inclusion_proven', PAYMENT, 4]],
  );
  bad(
    'proof-path-changed.json',
    'A path leads elsewhere.',
    (proof) => {
      const { path } = step(proof, 1);
      path[0] = 'ab'.repeat(32);
    },
    [['inclusion_proven', PAYMENT, 1]],
  );
  bad('proof-path-cut.json', 'A path has another length than the tree demands.', (proof) => step(proof, 2).path.pop(), [
    ['inclusion_proven', PAYMENT, 2],
  ]);
  bad(
    'proof-index-changed.json',
    'An event claims another place in the log.',
    (proof) => {
      step(proof, 4).index = 13;
    },
    [['inclusion_proven', PAYMENT, 4]],
  );
  bad('proof-event-missing.json', 'An event between two others was left out.', (proof) => proof.events.splice(3, 1), [
    ['revisions_contiguous', PAYMENT, 4],
    ['hash_matches', PAYMENT, 4],
  ]);
  bad(
    'proof-signature-changed.json',
    'The head has the signature of another.',
    (proof) => {
      const [text = ''] = proof.head.note.split('\n— ');
      proof.head.note = `${text}\n— ${noteOf(writtenLog(), 18, 2).split('\n— ')[1]}`;
    },
    [['head_signature_valid', null, null]],
  );
  bad(
    'proof-of-another-log.json',
    'The head is of another log.',
    (proof) => {
      proof.log_id = '00000000-0000-4000-8000-000000000000';
    },
    [['head_signature_valid', null, null]],
  );
  bad(
    'proof-other-key.json',
    'Another key signed than the one that was kept.',
    () => undefined,
    [['head_key_kept', null, null]],
    { key: keyOf(1) },
  );
  bad(
    'proof-anchor-changed.json',
    'The anchor is of a tree that does not begin with this one.',
    (proof) => {
      proof.anchor.root = 'ab'.repeat(32);
    },
    [['anchor_consistent', null, null]],
  );
  bad(
    'proof-kept-head-differs.json',
    'A kept head of the same size has another root.',
    () => undefined,
    [['head_kept_matches', 'log-head', null]],
    { head: 'kept-head-of-a-rewritten-log.txt' },
  );
  files.set('kept-head-of-a-rewritten-log.txt', signedHeadOf(18));

  const proof = pretty(proofs.event);
  add('unreadable-proof.json', 'A proof without its head.', pretty({ ...proofs.event, head: undefined }), 2);
  add(
    'unreadable-proof-note.json',
    'A head that is not a signed note.',
    pretty({ ...proofs.event, head: { ...proofs.event.head, note: 'root' } }),
    2,
  );
  add(
    'unreadable-proof-key.json',
    'A key that is not the one that its own hash names.',
    proof.replace(/\+[0-9a-f]{8}\+/, '+00000000+'),
    2,
  );
  add('unreadable-proof-format.json', 'Another format.', proof.replace('docket-proof', 'docket-prove'), 2);
  add('unreadable-proof-cut.json', 'A proof that was cut.', proof.slice(0, 900), 2);
  add('unreadable-proof-kept.json', 'A kept head of a size that this proof says nothing about.', proof, 2, [], {
    head: 'kept-head.txt',
  });
  return { vectors, files };
}

interface ChangedProof {
  log_id: string;
  events: (ChangedEvent & { index: number; previous_hash: string; path: string[] })[];
  head: { note: string; key: string };
  anchor: { root: string };
}

const rewritten = (): LogWriter =>
  new LogWriter()
    .write('log-identity', [FOUNDED])
    .write(DOCKET, [opened('3:24-cv-00042')])
    .write(OTHER, [opened('3:24-cv-00043')])
    .head(1, { introduces: true })
    .write(DOCKET, [checked('one')])
    .write(OTHER, [checked('changed')])
    .head(1)
    .write(DOCKET, [checked('three'), checked('four')]);

function signedHeadOf(size: number): string {
  const key = KEYS[1];
  if (!key) throw new Error('there is no second key');
  const head = { size, root: 'cd'.repeat(32) };
  return signedNote({ ...head, signature: key.signHead(head, LOG_ID) }, LOG_ID, key.publicKey);
}

const structuredCloneOf = ({ header, events, end }: ExportedLog): ExportedLog =>
  new ExportedLog(structuredClone(header), structuredClone(events), structuredClone(end));
