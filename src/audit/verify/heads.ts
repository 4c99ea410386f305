/**
 * Recomputes the log's tree while the log is read, and compares it with each recorded head and with a head that
 * somebody kept (docs/design/audit.md#heads).
 */
import type { EventOf } from '../../events/event.ts';
import {
  LOG_HEAD_STREAM,
  type LogHeadAnchored,
  type LogHeadKeyIntroduced,
  type LogHeadRecorded,
} from '../../events/log-head.ts';
import { type HeadClaim, verifyHeadSignature } from '../../events/log-note.ts';
import { LogTree, leafHexOf, nodeHash } from '../../events/log-tree.ts';
import { isSignature, SIGNATURE } from '../../solana/addresses.ts';
import type { Position } from '../../storage/event-log.ts';
import type { RuleName } from '../rules/catalogue.ts';
import { canonicalText } from './canonical-plain.ts';
import { HeadKeys, type HeadKeysState } from './head-keys.ts';
import { LateHeads, NO_LEAF } from './late-heads.ts';
import { type LeafPlace, PendingLeaves } from './pending-leaves.ts';
import type { Scratch } from './scratch.ts';

/** Heads are written once a minute. One that comes more than this many events later is checked at the end. */
const MOST_PENDING = 100_000;

/** The newest head that the log was proven by. */
export interface ProvenHead extends HeadClaim {
  readonly masterVersion: number;
  readonly publicKey: string;
  /** Revision in the stream `log-head`. */
  readonly revision: number;
  readonly last: LeafPlace;
}

/** A head that somebody kept. */
export interface KeptClaim extends HeadClaim {
  /** Whether the log once held it, so that it must be there still. */
  readonly isRecorded?: boolean;
}

export interface ClaimedAnchor extends HeadClaim {
  readonly transaction: string;
  readonly slot: number;
}

export interface HeadFindings {
  /** @param followsFrom the breach that this one follows from; null for one of its own */
  breach(rule: RuleName, expected: string, found: string, followsFrom: string | null): void;
}

/** Where an event of the stream `log-head` is. */
interface HeadPlace {
  readonly revision: number;
  readonly position: Position;
}

type Recorded = EventOf<typeof LogHeadRecorded>['data'];

export interface HeadsState {
  readonly base: readonly [size: number, peaks: readonly string[]];
  readonly pending: ReturnType<PendingLeaves['toJson']>;
  readonly keys: HeadKeysState;
  readonly uncovered: LeafPlace | null;
  readonly logId: string | null;
  readonly lastSize: number;
  readonly recorded: number;
  readonly lost: string | null;
  readonly damage: string | null;
  readonly broken: boolean;
  readonly proven: ProvenHead | null;
  readonly anchored: ClaimedAnchor | null;
  readonly anchors: number;
}

export class Heads {
  readonly #kept: KeptClaim | null;
  readonly #insertHead;
  readonly #rootOf;
  /** The tree of all events but the pending ones. */
  #base = new LogTree();
  #pending = new PendingLeaves();
  readonly keys: HeadKeys;
  readonly late: LateHeads;
  /** The first event that no head covers, if it is in the base already. */
  #uncovered: LeafPlace | null = null;
  #logId: string | null = null;
  #lastSize = 0;
  #recorded = 0;
  /** Why the tree cannot be computed now; null if it can. */
  #lost: string | null = null;
  /** A breach that explains why the next head does not match; null if there is none. */
  #damage: string | null = null;
  /** A head did not match: from there on, heads prove only what came after. */
  #broken = false;
  #proven: ProvenHead | null = null;
  #anchored: ClaimedAnchor | null = null;
  #anchors = 0;
  /** The root at the size of the kept head; null if that size was not reached. */
  #keptRoot: string | null = null;

  constructor(scratch: Scratch, kept: KeptClaim | null, state: HeadsState | null) {
    const { database } = scratch;
    this.keys = new HeadKeys(state?.keys ?? null);
    this.late = new LateHeads(scratch);
    this.#kept = kept;
    this.#insertHead = database.prepare('INSERT OR REPLACE INTO heads (size, root) VALUES (?, ?)');
    this.#rootOf = database.prepare<[number], string>('SELECT root FROM heads WHERE size = ?').pluck();
    if (state) this.#restore(state);
    if (kept && this.size >= kept.size) this.#keptRoot = this.#rootAt(kept.size) ?? this.#rootOf.get(kept.size) ?? null;
  }

  /** How many events were read. */
  get size(): number {
    return this.#base.size + this.#pending.count;
  }

  get recorded(): number {
    return this.#recorded;
  }

  get anchors(): number {
    return this.#anchors;
  }

  get proven(): ProvenHead | null {
    return this.#proven;
  }

  /** The newest anchor that names a recorded head. */
  get anchored(): ClaimedAnchor | null {
    return this.#anchored;
  }

  /** The first event that no head covers, apart from those about heads; null if there is none, or it is not known. */
  get uncovered(): LeafPlace | null {
    if (this.#lost !== null) return null;
    return this.#uncovered ?? this.#pending.firstOutside(LOG_HEAD_STREAM);
  }

  /** Whether the kept head lies before what this run reads, so that its root is not known. */
  get keptIsUnknown(): boolean {
    return this.#kept !== null && this.#keptRoot === null && this.size >= this.#kept.size;
  }

  founded(logId: string): void {
    this.#logId ??= logId;
  }

  /**
   * Adds the leaf of an event.
   * @param hash null if it cannot be read, which `damaged` reports
   */
  add(hash: string | null, { stream, revision }: LeafPlace): void {
    const leaf = hash === null ? NO_LEAF : leafHexOf(canonicalText(stream), revision, `"${hash}"`);
    this.#pending.add(leaf, { stream, revision });
    if (this.#kept?.size === this.size) this.#keptRoot = this.#rootAt(this.size);
    if (this.#pending.count < MOST_PENDING) return;
    this.#uncovered ??= this.#pending.firstOutside(LOG_HEAD_STREAM);
    this.#pending.appendTo(this.#base, MOST_PENDING / 2);
    this.#pending.drop(MOST_PENDING / 2);
  }

  /** A breach was found that changes the tree, so a head that does not match follows from it. */
  damaged(by: string): void {
    this.#damage ??= by;
  }

  introduceKey(
    { masterVersion, publicKey }: EventOf<typeof LogHeadKeyIntroduced>['data'],
    place: HeadPlace,
    findings: HeadFindings,
  ): void {
    const known = this.keys.introduce({ masterVersion, publicKey, ...place }).publicKey;
    if (known !== publicKey) {
      findings.breach('head_key_known', `one key of version ${masterVersion}: ${known}`, publicKey, null);
    }
  }

  /** Compares a recorded head with the tree of the events before it. */
  check(head: Recorded, { revision, position }: HeadPlace, findings: HeadFindings): void {
    this.#recorded++;
    const { size, root, masterVersion } = head;
    const publicKey = this.keys.of(masterVersion);
    if (publicKey === undefined) {
      const found = `version ${masterVersion}`;
      findings.breach('head_key_known', 'a key that was introduced before', found, this.#damage);
    } else if (this.#logId === null) {
      findings.breach('head_signature_valid', 'a log with an id', 'none', this.#damage);
    } else if (!verifyHeadSignature(head, this.#logId, publicKey)) {
      const expected = `a signature by the key of version ${masterVersion}`;
      findings.breach('head_signature_valid', expected, 'another signature', null);
    } else if (size <= this.#lastSize) {
      findings.breach('head_size_rises', `more than ${this.#lastSize} events`, `${size} events`, null);
    } else {
      this.#lastSize = size;
      const tree = size >= this.#base.size && size <= this.size ? this.#treeAt(size) : null;
      if (size < this.#base.size) this.#postpone(head, { revision, position });
      else if (tree?.root().toString('hex') !== root) this.#mismatch(head, tree, findings);
      else this.#accept(head, tree, { publicKey, revision }, findings);
    }
  }

  /** The head is older than what is kept of the tree: the first heads of a log that was written before it had heads. */
  #postpone({ size, root }: Recorded, place: HeadPlace): void {
    this.#insertHead.run(size, root);
    const damage = this.#damage ?? this.#lost ?? (this.#broken ? 'a head that does not match' : null);
    this.late.add({ size, root, damage, ...place });
    // Where the events that no head covers begin now is not known.
    this.#uncovered = null;
  }

  #accept(
    { size, root, peaks, last, masterVersion }: Recorded,
    tree: LogTree,
    { publicKey, revision }: { readonly publicKey: string; readonly revision: number },
    findings: HeadFindings,
  ): void {
    this.#insertHead.run(size, root);
    const covered = size - this.#base.size;
    const place = this.#pending.placeAt(covered - 1);
    if (place && (place.stream !== last.stream || place.revision !== last.revision)) {
      findings.breach('head_covers_last', placeText(place), placeText(last), null);
    } else if (peaks.join() !== tree.peaks.map((peak) => peak.toString('hex')).join()) {
      findings.breach('head_peaks_match', `the ${tree.peaks.length} peaks of the tree`, 'other peaks', null);
    }
    this.#base = tree;
    this.#pending.drop(covered);
    this.#uncovered = null;
    this.#lost = null;
    this.#damage = null;
    if (!this.#broken) this.#proven = { size, root, masterVersion, publicKey, revision, last };
  }

  /** The log is another than the one that was signed. From here on the tree continues what was signed. */
  #mismatch({ size, root, peaks, last }: Recorded, tree: LogTree | null, findings: HeadFindings): void {
    const found = tree ? `${tree.root().toString('hex')}` : `only ${this.size} events before this head`;
    findings.breach('head_root_matches', `root ${root} of ${size} events`, found, this.#damage ?? this.#lost);
    this.#broken = true;
    const at = this.#pending.indexOf(last);
    const signed = treeOf(size, peaks, root);
    if (at === -1 || signed === null) {
      this.#lost ??= 'an earlier head that does not match';
      return;
    }
    this.#base = signed;
    this.#pending.drop(at + 1);
    this.#uncovered = null;
    this.#lost = null;
    this.#damage = null;
  }

  /** Notes an anchor. @returns the anchor, to be compared with the chain; null if it names no recorded head */
  anchor(anchored: EventOf<typeof LogHeadAnchored>['data'], findings: HeadFindings): ClaimedAnchor | null {
    this.#anchors++;
    const { size, root, transaction, slot } = anchored;
    const recorded = this.#rootOf.get(size);
    if (recorded !== root) {
      const expected = recorded === undefined ? 'the size of a recorded head' : `root ${recorded} of ${size} events`;
      const follows = recorded === undefined && this.#broken ? 'a head that does not match' : null;
      findings.breach('anchor_names_head', expected, `root ${root} of ${size} events`, follows);
      return null;
    }
    if (!isSignature(transaction)) {
      findings.breach('anchor_on_chain', SIGNATURE, 'another text', null);
      return null;
    }
    this.#anchored = { size, root, transaction, slot };
    return this.#anchored;
  }

  /** What the whole log says about the kept head: null if it holds, or none was given. */
  keptBreach(): { readonly expected: string; readonly found: string; readonly followsFrom: string | null } | null {
    if (this.#kept === null) return null;
    const { size, root, isRecorded = false } = this.#kept;
    if (this.#keptRoot === root) {
      if (!isRecorded || this.#rootOf.get(size) === root) return null;
      const followsFrom = this.#damage ?? this.#lost ?? (this.#broken ? 'a head that does not match' : null);
      return { expected: `the kept head of ${size} events in the log`, found: 'no such head', followsFrom };
    }
    const found = this.#keptRoot ?? `a log of ${this.size} events`;
    return { expected: `root ${root} of ${size} events`, found, followsFrom: this.#damage ?? this.#lost };
  }

  root(): string {
    return this.#treeAt(this.size).root().toString('hex');
  }

  toJson(): HeadsState {
    return {
      base: [this.#base.size, this.#base.peaks.map((peak) => peak.toString('hex'))],
      pending: this.#pending.toJson(),
      keys: this.keys.toJson(),
      uncovered: this.#uncovered,
      logId: this.#logId,
      lastSize: this.#lastSize,
      recorded: this.#recorded,
      lost: this.#lost,
      damage: this.#damage,
      broken: this.#broken,
      proven: this.#proven,
      anchored: this.#anchored,
      anchors: this.#anchors,
    };
  }

  #restore(state: HeadsState): void {
    const [size, peaks] = state.base;
    this.#base = LogTree.of(size, bytesOf(peaks));
    this.#pending = PendingLeaves.of(state.pending);
    this.#uncovered = state.uncovered;
    this.#logId = state.logId;
    this.#lastSize = state.lastSize;
    this.#recorded = state.recorded;
    this.#lost = state.lost;
    this.#damage = state.damage;
    this.#broken = state.broken;
    this.#proven = state.proven;
    this.#anchored = state.anchored;
    this.#anchors = state.anchors;
  }

  #rootAt(size: number): string | null {
    return size < this.#base.size ? null : this.#treeAt(size).root().toString('hex');
  }

  /** @param size between those of the base and of the whole tree */
  #treeAt(size: number): LogTree {
    const tree = LogTree.of(this.#base.size, this.#base.peaks);
    this.#pending.appendTo(tree, size - this.#base.size);
    return tree;
  }
}

const bytesOf = (peaks: readonly string[]): Buffer[] => peaks.map((peak) => Buffer.from(peak, 'hex'));

/** The tree that a head claims; null unless its peaks make its root. */
function treeOf(size: number, peaks: readonly string[], root: string): LogTree | null {
  const bytes = bytesOf(peaks);
  if (bytes.length === 0) return null;
  try {
    const folded = bytes.reduceRight((right, left) => nodeHash(left, right));
    return folded.toString('hex') === root ? LogTree.of(size, bytes) : null;
  } catch {
    // Not as many peaks as a tree of this size has.
    return null;
  }
}

const placeText = ({ stream, revision }: LeafPlace): string => `${stream} ${revision} as the last event`;
