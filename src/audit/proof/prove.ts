/** Makes a proof that a program without this service can check (docs/design/audit.md#proofs). */
import { signedNote, verifierKeyOf, verifyHeadSignature } from '../../events/log-note.ts';
import { consistencyRanges, inclusionRanges, isConsistent, leafOf, rootByInclusion } from '../../events/log-tree.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import { hashEvent } from '../../storage/prepare-append.ts';
import type { ReadableLog } from '../readable-log.ts';
import { type ExportedEvent, exportedEvent } from './exported-event.ts';
import type { ProofSubject } from './proof-subject.ts';
import { type Covering, headCovering } from './recorded-heads.ts';
import { SubtreeRoots } from './subtree-roots.ts';

export interface ProvenEvent extends ExportedEvent {
  /** Its place in the log, from 0: the index of its leaf. */
  readonly index: number;
  /** Hash of the event before it in its stream; empty for the first. */
  readonly previous_hash: string;
  /** Roots of the subtrees beside the way from the leaf to the root, from the leaf upwards. */
  readonly path: readonly string[];
}

export interface Proof {
  readonly format: 'docket-proof';
  readonly version: 1;
  readonly log_id: string;
  readonly kind: ProofSubject['kind'];
  readonly events: readonly ProvenEvent[];
  readonly head: {
    /** Signed note with size and root. */
    readonly note: string;
    /** The key that signed it, as programs for signed notes take it. */
    readonly key: string;
  };
  /** The first anchored head that is not smaller; null if there is none yet. */
  readonly anchor: {
    readonly size: number;
    readonly root: string;
    /** Proves that the tree of `head` is the beginning of the anchored one. */
    readonly consistency: readonly string[];
    readonly transaction: string;
    readonly slot: number;
    readonly block_time: Instant | null;
  } | null;
}

/** `uncovered`: no head covers the events yet. `broken`: the log does not match its own head. */
export type Unproven = 'uncovered' | 'broken';

export async function prove(log: ReadableLog, logId: string, subject: ProofSubject): Promise<Proof | Unproven> {
  const indexes = await indexesOf(log, subject.events);
  const last = indexes.at(-1);
  if (last === undefined) return 'broken';
  const covering = await headCovering(log, last + 1);
  if (covering === null) return 'uncovered';
  const { head, anchor } = covering;
  const ranges = {
    inclusion: indexes.map((index) => inclusionRanges(index, head.size)),
    consistency: anchor === null ? [] : consistencyRanges(head.size, anchor.size),
  };
  const roots = new SubtreeRoots([...ranges.inclusion.flat(), ...ranges.consistency]);
  await readLeaves(log, roots);
  if (!roots.isComplete) return 'broken';
  const paths = ranges.inclusion.map((path) => path.map((range) => roots.rootOf(range)));
  const consistency = ranges.consistency.map((range) => roots.rootOf(range));
  const previous = await previousHash(log, subject.events);
  if (!holds(logId, subject.events, indexes, paths, previous, covering, consistency)) return 'broken';
  return {
    format: 'docket-proof',
    version: 1,
    log_id: logId,
    kind: subject.kind,
    events: subject.events.map((event, step) => ({
      index: indexes[step] as number,
      previous_hash: subject.events[step - 1]?.metadata.hash ?? previous,
      ...exportedEvent(event),
      path: (paths[step] ?? []).map(hex),
    })),
    head: { note: signedNote(head, logId, head.publicKey), key: verifierKeyOf(logId, head.publicKey) },
    anchor: anchor && {
      size: anchor.size,
      root: anchor.root,
      consistency: consistency.map(hex),
      transaction: anchor.transaction,
      slot: anchor.slot,
      block_time: anchor.blockTime,
    },
  };
}

const hex = (node: Buffer): string => node.toString('hex');

/** The events' places in the log; empty if the log does not hold them in this order. */
async function indexesOf(log: ReadableLog, events: readonly RecordedEvent[]): Promise<readonly number[]> {
  const indexes: number[] = [];
  let size = 0;
  for await (const batch of log.readAll(null, { by: 'all' })) {
    for (const { position } of batch.events) {
      if (position === events[indexes.length]?.position) indexes.push(size);
      size += 1;
      if (indexes.length === events.length) return indexes;
    }
  }
  return [];
}

async function readLeaves(log: ReadableLog, roots: SubtreeRoots): Promise<void> {
  for await (const batch of log.readAll(null, { by: 'all' })) {
    for (const { stream, revision, metadata } of batch.events) {
      if (roots.isComplete) return;
      roots.add(leafOf({ stream, revision, hash: metadata.hash }));
    }
  }
}

async function previousHash(log: ReadableLog, [first]: readonly RecordedEvent[]): Promise<string> {
  if (!first || first.revision === 0) return '';
  const [before] = await log.read(first.stream, { from: first.revision - 1, limit: 1 });
  return before?.metadata.hash ?? '';
}

/** A proof that its own head does not confirm must not leave the service: the log was changed. */
function holds(
  logId: string,
  events: readonly RecordedEvent[],
  indexes: readonly number[],
  paths: readonly (readonly Buffer[])[],
  previous: string,
  { head, anchor }: Covering,
  consistency: readonly Buffer[],
): boolean {
  const root = Buffer.from(head.root, 'hex');
  const isIncluded = events.every((event, step) => {
    const { stream, revision, metadata } = event;
    const before = events[step - 1]?.metadata.hash ?? previous;
    const leaf = leafOf({ stream, revision, hash: metadata.hash });
    const reached = rootByInclusion(leaf, indexes[step] as number, head.size, paths[step] ?? []);
    return hashEvent(before, event) === metadata.hash && reached?.equals(root) === true;
  });
  const isAnchored =
    anchor === null ||
    isConsistent({ size: head.size, root }, { size: anchor.size, root: Buffer.from(anchor.root, 'hex') }, consistency);
  return isIncluded && isAnchored && verifyHeadSignature(head, logId, head.publicKey);
}
