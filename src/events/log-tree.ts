/**
 * The Merkle tree over all events of a log in their order, as certificate-transparency logs have it (RFC 6962, section
 * 2.1; docs/design/audit.md#tree). Pure. Hashes are 32 bytes, as lower-case hex in events and files.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

const HASH_BYTES = 32;
export const LEAF_BYTES = HASH_BYTES;
/** Reused for every node: a one, then the two hashes. */
const NODE = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** What the tree commits to of one event. Its index in the tree is its place in the log, from 0. */
export interface LeafEvent {
  readonly stream: string;
  readonly revision: number;
  /** `metadata.hash`. */
  readonly hash: string;
}

/** The leaf's hash: SHA-256 of a zero byte and the canonical JSON of `[stream, revision, hash]`. */
export const leafOf = ({ stream, revision, hash: eventHash }: LeafEvent): Buffer =>
  bytesOf(leafHexOf(canonicalJson(stream), revision, canonicalJson(eventHash)));

/**
 * As `leafOf`, in hex, of canonical texts that are known already.
 * As one string and by way of hex, because this runs for every event, and is twice as fast.
 */
export const leafHexOf = (stream: string, revision: number, eventHash: string): string =>
  hash('sha256', `\0[${stream},${revision},${eventHash}]`);

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (!isHash(left) || !isHash(right)) throw new RangeError('a node has two hashes of 32 bytes');
  NODE.set(left, 1);
  NODE.set(right, 1 + HASH_BYTES);
  return bytesOf(hash('sha256', NODE));
}

const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_BYTES;

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Buffer = hash('sha256', '', 'buffer');

/**
 * A tree that grows at its end. It keeps only the roots of its complete subtrees, one for each bit of its size, so that
 * it needs under 2 KiB for any log.
 */
export class LogTree {
  #size = 0;
  /** From left to right, that is from the largest to the smallest. */
  readonly #peaks: Buffer[] = [];

  /**
   * The tree of a size that has these peaks.
   * @throws RangeError if there is not one peak of 32 bytes for each bit of the size
   */
  static of(size: number, peaks: readonly Uint8Array[]): LogTree {
    const tree = new LogTree();
    if (!Number.isSafeInteger(size) || size < 0 || peaks.length !== bitsOf(size) || !peaks.every(isHash)) {
      throw new RangeError(`${peaks.length} peaks do not make a tree of ${size} leaves`);
    }
    tree.#size = size;
    tree.#peaks.push(...peaks.map((peak) => Buffer.from(peak)));
    return tree;
  }

  get size(): number {
    return this.#size;
  }

  get peaks(): readonly Buffer[] {
    return this.#peaks;
  }

  add(leaf: Buffer): void {
    this.#grow(leaf, 1);
  }

  /**
   * Adds leaves that follow each other in memory, two at a time where they make a node.
   * @throws RangeError unless all have 32 bytes
   */
  addAll(leaves: Uint8Array): void {
    if (leaves.length % HASH_BYTES !== 0) throw new RangeError('leaves have 32 bytes each');
    for (let at = 0; at < leaves.length; ) {
      const isPair = this.#size % 2 === 0 && at + 2 * HASH_BYTES <= leaves.length;
      const end = at + (isPair ? 2 : 1) * HASH_BYTES;
      const bytes = leaves.subarray(at, end);
      if (isPair) {
        NODE.set(bytes, 1);
        this.#grow(bytesOf(hash('sha256', NODE)), 2);
      } else this.#grow(Buffer.from(bytes), 1);
      at = end;
    }
  }

  /** @param root of a complete subtree of this many leaves, which must divide the size */
  #grow(root: Buffer, leaves: 1 | 2): void {
    let node = root;
    for (let left = this.#size / leaves; left % 2 === 1; left = Math.floor(left / 2)) {
      node = nodeHash(this.#peaks.pop() as Buffer, node);
    }
    this.#peaks.push(node);
    this.#size += leaves;
  }

  root(): Buffer {
    return this.#peaks.length === 0 ? EMPTY_ROOT : this.#peaks.reduceRight((right, left) => nodeHash(left, right));
  }
}

function bitsOf(size: number): number {
  let bits = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits;
}

/** Leaves `from` (included) to `to` (excluded), whose subtree's root is one element of a proof. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

/** The largest power of two below n, for n > 1. */
function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
}

/**
 * The subtrees whose roots prove that a leaf is in the tree of a size, from the leaf upwards.
 * @throws RangeError for an index outside the tree
 */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`leaf ${index} is not in a tree of ${size} leaves`);
  const ranges: LeafRange[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      ranges.push({ from: middle, to });
      to = middle;
    } else {
      ranges.push({ from, to: middle });
      from = middle;
    }
  }
  return ranges.reverse();
}

/**
 * The subtrees whose roots prove that a tree of `before` leaves is the beginning of one of `size` leaves.
 * @throws RangeError unless 0 < before <= size
 */
export function consistencyRanges(before: number, size: number): readonly LeafRange[] {
  if (!(before > 0 && before <= size)) throw new RangeError(`no proof from ${before} to ${size} leaves`);
  const ranges: LeafRange[] = [];
  let [from, to] = [0, size];
  /** Whether the old tree is exactly the present subtree; its root is then known to the verifier. */
  let isWhole = true;
  while (before !== to) {
    const middle = from + splitOf(to - from);
    if (before <= middle) {
      ranges.push({ from: middle, to });
      to = middle;
    } else {
      ranges.push({ from, to: middle });
      from = middle;
      isWhole = false;
    }
  }
  if (!isWhole) ranges.push({ from, to });
  return ranges.reverse();
}

/** The root that a leaf and its path lead to; null if the path does not have the length and the hashes that it must. */
export function rootByInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Buffer | null {
  if (!(Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size)) return null;
  const ranges = inclusionRanges(index, size);
  if (ranges.length !== path.length || ![leaf, ...path].every(isHash)) return null;
  return ranges.reduce<Buffer>((node, range, step) => {
    const sibling = path[step] as Uint8Array;
    return range.from > index ? nodeHash(node, sibling) : nodeHash(sibling, node);
  }, Buffer.from(leaf));
}

/** Whether a path proves that the tree with root `before` is the beginning of the tree with root `after`. */
export function isConsistent(
  before: { readonly size: number; readonly root: Uint8Array },
  after: { readonly size: number; readonly root: Uint8Array },
  path: readonly Uint8Array[],
): boolean {
  if (before.size > after.size || before.size < 0) return false;
  if (before.size === 0) return path.length === 0 && EMPTY_ROOT.equals(before.root);
  const ranges = consistencyRanges(before.size, after.size);
  if (ranges.length !== path.length || ![before.root, ...path].every(isHash)) return false;
  const [first] = ranges;
  const startsWithOld = !first || first.from >= before.size;
  const nodes = startsWithOld ? [Buffer.from(before.root), ...path] : path;
  const places = startsWithOld ? [{ from: 0, to: before.size }, ...ranges] : ranges;
  let old: Buffer = Buffer.from(nodes[0] as Uint8Array);
  let whole = old;
  for (const [step, { from }] of places.entries()) {
    if (step === 0) continue;
    const node = nodes[step] as Uint8Array;
    const isNew = from >= before.size;
    old = isNew ? old : nodeHash(node, old);
    whole = isNew ? nodeHash(whole, node) : nodeHash(node, whole);
  }
  return old.equals(before.root) && whole.equals(after.root);
}
