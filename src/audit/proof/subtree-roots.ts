/** Roots of subtrees of the log's tree, from one pass over its leaves (docs/design/audit.md#proofs). */
import { type LeafRange, LogTree } from '../../events/log-tree.ts';

/**
 * Computes the roots of ranges while the leaves come by in order. Ranges of one proof hardly overlap, so a leaf is
 * hashed about once, and each range needs under 2 KiB.
 */
export class SubtreeRoots {
  /** By first leaf; those that are not open yet. */
  readonly #waiting: LeafRange[];
  #open: { readonly range: LeafRange; readonly tree: LogTree }[] = [];
  readonly #roots = new Map<string, Buffer>();
  #size = 0;
  /** How many leaves are needed: up to the end of the last range. */
  readonly needed: number;

  constructor(ranges: readonly LeafRange[]) {
    const distinct = new Map(ranges.map((range) => [keyOf(range), range]));
    this.#waiting = [...distinct.values()].sort((a, b) => b.from - a.from);
    this.needed = Math.max(0, ...ranges.map(({ to }) => to));
  }

  get isComplete(): boolean {
    return this.#size >= this.needed;
  }

  add(leaf: Buffer): void {
    for (let next = this.#waiting.at(-1); next && next.from <= this.#size; next = this.#waiting.at(-1)) {
      this.#waiting.pop();
      this.#open.push({ range: next, tree: new LogTree() });
    }
    this.#size += 1;
    let ended = false;
    for (const { range, tree } of this.#open) {
      tree.add(leaf);
      if (range.to !== this.#size) continue;
      this.#roots.set(keyOf(range), tree.root());
      ended = true;
    }
    if (ended) this.#open = this.#open.filter(({ range }) => range.to > this.#size);
  }

  /** @throws RangeError for a range that was not asked for or is not complete */
  rootOf(range: LeafRange): Buffer {
    const root = this.#roots.get(keyOf(range));
    if (!root) throw new RangeError(`no root of the leaves ${keyOf(range)}`);
    return root;
  }
}

const keyOf = ({ from, to }: LeafRange): string => `${from}-${to}`;
