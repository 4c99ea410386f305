/** Proofs that hold, proofs with one breach each, and files that are no proof. */
import { askedProofOf, findSubject, type ProofSubject } from '../../../src/audit/proof/proof-subject.ts';
import { type Proof, prove } from '../../../src/audit/proof/prove.ts';
import { hashEvent } from '../../../src/storage/prepare-append.ts';
import { type ChangedEvent, onDisk } from '../exported-log.ts';
import { LOG_ID, PAYMENT, REQUEST, TRANSACTION, writtenLog } from '../written-log.ts';
import { DOCKET } from './short-log.ts';
import { type BreachParts, type Kept, keyOf, noteOf, nth, setData, type VectorSet } from './vector-set.ts';

/** Parts of a proof that a vector changes. */
interface ChangedProof {
  log_id: string;
  events: (ChangedEvent & { index: number; previous_hash: string; path: string[] })[];
  head: { note: string; key: string };
  anchor: { root: string };
}

export async function addProofs(set: VectorSet): Promise<void> {
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
  set.add('proof-first-event.json', 'The first event of a log.', pretty(proofs.first), 0);
  set.add('proof-event.json', 'An event with others before it in its stream.', pretty(proofs.event), 0, [], {
    key: keyOf(2),
  });
  set.add(
    'proof-request.json',
    'A payment from its claim to its finality, with an anchor of a later head.',
    pretty(proofs.request),
    0,
  );
  set.files.set('kept-head-of-18.txt', noteOf(writtenLog(), 18, 2));
  set.add('proof-request-kept.json', 'The same, with the anchored head kept earlier.', pretty(proofs.again), 0, [], {
    head: 'kept-head-of-18.txt',
  });

  const bad = (
    file: string,
    about: string,
    change: (proof: ChangedProof) => void,
    breaches: readonly BreachParts[],
    kept?: Kept,
  ): void => {
    const proof = structuredClone(proofs.request) as unknown as ChangedProof;
    change(proof);
    set.add(file, about, pretty(proof), 1, breaches, kept);
  };
  bad(
    'proof-amount-changed.json',
    'An amount was changed.',
    (proof) => setData(nth(proof.events, 0), { amount: '1' }),
    [['hash_matches', PAYMENT, 0]],
  );
  bad(
    'proof-hash-recomputed.json',
    'The last event was changed with its hash.',
    (proof) => {
      const event = nth(proof.events, 4);
      setData(event, { slot: 1 });
      event.hash = hashEvent(event.previous_hash, event as unknown as Parameters<typeof hashEvent>[1]);
    },
    [['inclusion_proven', PAYMENT, 4]],
  );
  bad(
    'proof-path-changed.json',
    'A path leads elsewhere.',
    (proof) => {
      const { path } = nth(proof.events, 1);
      path[0] = 'ab'.repeat(32);
    },
    [['inclusion_proven', PAYMENT, 1]],
  );
  bad(
    'proof-path-cut.json',
    'A path has another length than the tree demands.',
    (proof) => nth(proof.events, 2).path.pop(),
    [['inclusion_proven', PAYMENT, 2]],
  );
  bad(
    'proof-index-changed.json',
    'An event claims another place in the log.',
    (proof) => {
      nth(proof.events, 4).index = 13;
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
  set.files.set('kept-head-of-a-rewritten-log.txt', noteOf(writtenLog(), 18, 2, 'cd'.repeat(32)));

  const proof = pretty(proofs.event);
  set.add('unreadable-proof.json', 'A proof without its head.', pretty({ ...proofs.event, head: undefined }), 2);
  set.add(
    'unreadable-proof-note.json',
    'A head that is not a signed note.',
    pretty({ ...proofs.event, head: { ...proofs.event.head, note: 'root' } }),
    2,
  );
  set.add(
    'unreadable-proof-key.json',
    'A key that is not the one that its own hash names.',
    proof.replace(/\+[0-9a-f]{8}\+/, '+00000000+'),
    2,
  );
  set.add('unreadable-proof-format.json', 'Another format.', proof.replace('docket-proof', 'docket-prove'), 2);
  set.add('unreadable-proof-cut.json', 'A proof that was cut.', proof.slice(0, 900), 2);
  set.add('unreadable-proof-kept.json', 'A kept head of a size that this proof says nothing about.', proof, 2, [], {
    head: 'kept-head.txt',
  });
}
