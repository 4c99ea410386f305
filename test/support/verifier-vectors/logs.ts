/** Exported logs that hold, and logs with one breach each. */
import { eventId } from '../../../src/storage/event-id.ts';
import { hashEvent } from '../../../src/storage/prepare-append.ts';
import { ExportedLog } from '../exported-log.ts';
import { FOUNDED, KEYS, LOG_ID, LogWriter, writtenLog } from '../written-log.ts';
import { DOCKET, HEAD, OTHER, opened, shortLog } from './short-log.ts';
import { type BreachParts, type Kept, keyOf, noteOf, nth, setData, type VectorSet } from './vector-set.ts';

export async function addLogs(set: VectorSet): Promise<void> {
  const short = await ExportedLog.of(shortLog());
  set.files.set('kept-head.txt', noteOf(shortLog(), 7, 1));
  set.files.set('kept-head-of-another-key.txt', noteOf(shortLog(), 7, 2));

  // Logs that hold.
  set.add(
    'log-good.ndjson',
    'Two payments, two keys of heads, an anchor, unusual values, events after the last head.',
    (await ExportedLog.of(writtenLog())).text(),
    0,
  );
  set.add('log-short.ndjson', 'A head and a key that were kept earlier.', short.text(), 0, [], {
    head: 'kept-head.txt',
    key: keyOf(1),
  });
  set.add('log-empty.ndjson', 'A log without events.', (await ExportedLog.of(new LogWriter())).text(), 0);
  set.add(
    'log-without-heads.ndjson',
    'A log of an earlier version: no heads, and no command ids.',
    (
      await ExportedLog.of(
        new LogWriter().write('log-identity', [FOUNDED], null).write(DOCKET, [opened('3:24-cv-00042')], null),
      )
    ).text(),
    0,
  );

  const traced = await ExportedLog.of(
    new LogWriter()
      .write('log-identity', [FOUNDED])
      .write(DOCKET, [opened('3:24-cv-00042')], undefined, `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01`),
  );
  set.add('log-traced.ndjson', 'An event whose metadata names the span that wrote it.', traced.text(), 0);
  const untraced = traced.copy();
  const { traceparent: _, ...rest } = nth(untraced.events, 1).metadata;
  nth(untraced.events, 1).metadata = rest;
  set.add('log-trace-removed.ndjson', 'The name of the span was removed.', untraced.text(), 1, [
    ['hash_matches', DOCKET, 0],
  ]);

  // One breach each.
  const changed = (
    file: string,
    about: string,
    change: (log: ExportedLog) => void,
    breaches: readonly BreachParts[],
    kept?: Kept,
  ): void => {
    const log = short.copy();
    change(log);
    set.add(file, about, log.text(), 1, breaches, kept);
  };
  changed(
    'log-field-changed.ndjson',
    'A field was changed.',
    (log) => setData(nth(log.events, 5), { source: 'changed' }),
    [['hash_matches', DOCKET, 1]],
  );
  changed(
    'log-metadata-changed.ndjson',
    'The time of recording was changed.',
    (log) => {
      const event = nth(log.events, 9);
      event.metadata = { ...event.metadata, recordedAt: '2026-03-01T12:59:59.000000Z' };
    },
    [['hash_matches', DOCKET, 3]],
  );
  changed(
    'log-hash-recomputed.ndjson',
    'A field after the last head was changed with its hash, but the next event of the stream keeps the old chain.',
    (log) => {
      setData(nth(log.events, 8), { source: 'changed' });
      const event = nth(log.events, 8);
      event.hash = hashEvent(nth(log.events, 5).hash, event as unknown as Parameters<typeof hashEvent>[1]);
      log.sealed();
    },
    [['hash_matches', DOCKET, 3]],
  );
  changed(
    'log-chain-recomputed.ndjson',
    'An insider changed a field and recomputed every hash after it.',
    (log) => {
      setData(nth(log.events, 5), { source: 'changed' });
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
      const like = nth(log.events, 2);
      log.events.splice(1, 0, { ...like, stream, id: eventId(String(like.metadata.commandId), stream, -1, 0) });
      log.rehashed().repositioned().sealed();
    },
    [['head_root_matches', HEAD, 1]],
  );
  changed(
    'log-streams-exchanged.ndjson',
    'Two streams changed places between two heads.',
    (log) => {
      log.events.splice(5, 2, nth(log.events, 6), nth(log.events, 5));
      log.repositioned().sealed();
    },
    [['head_root_matches', HEAD, 2]],
  );
  changed(
    'log-id-changed.ndjson',
    'An insider gave an event after the last head another id, and recomputed its hash.',
    (log) => {
      nth(log.events, 9).id = nth(log.events, 8).id;
      log.rehashed().sealed();
    },
    [['event_id_recomputable', DOCKET, 3]],
  );
  changed(
    'log-position-repeated.ndjson',
    'Two events have one position.',
    (log) => {
      nth(log.events, 9).position = nth(log.events, 8).position;
    },
    [['positions_contiguous', DOCKET, 3]],
  );
  changed(
    'log-head-resigned.ndjson',
    'A head was signed by a key that the log did not introduce.',
    (log) => {
      const head = nth(log.events, 7);
      const claim = head.data as unknown as { size: number; root: string };
      setData(head, { signature: nth(KEYS, 1).signHead(claim, LOG_ID) });
      log.rehashed().sealed();
    },
    [['head_signature_valid', HEAD, 2]],
  );
  changed(
    'log-head-of-no-key.ndjson',
    'A head names a key that was never introduced.',
    (log) => {
      setData(nth(log.events, 7), { masterVersion: 9 });
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
      setData(nth(log.events, 7), { size: '7' });
      log.rehashed();
      log.events.splice(8);
      log.sealed();
      log.end = { ...log.end, signed_head: { note: noteOf(shortLog(), 3, 1), key: keyOf(1) } };
    },
    [['schema_fits', HEAD, 2]],
  );
  set.add(
    'log-heads-fall.ndjson',
    'A later head covers fewer events.',
    (await ExportedLog.of(shortLog().head(1, { size: 6 }))).text(),
    1,
    [['head_size_rises', HEAD, 3]],
  );
  set.add(
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
  set.add(
    'log-anchor-differs.ndjson',
    'An anchor of a root that no head has.',
    (await ExportedLog.of(shortLog().anchor(7, 'ab'.repeat(32)))).text(),
    1,
    [['anchor_names_head', HEAD, 3]],
  );
  set.add(
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
      log.events.splice(5);
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
  set.files.set('log-rewritten.ndjson', (await ExportedLog.of(shortLog('changed'))).text());
  set.add(
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
      const end = short.copy().end;
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
      setData(nth(log.events, 0), { logId: '\u001b[2J' });
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
}
