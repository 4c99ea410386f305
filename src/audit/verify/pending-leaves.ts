/** The newest leaves of the log, not yet part of the tree: a head covers a prefix that ended before the head itself. */
import { LEAF_BYTES, type LogTree } from '../../events/log-tree.ts';

export interface LeafPlace {
  readonly stream: string;
  readonly revision: number;
}

export class PendingLeaves {
  #bytes: Buffer = Buffer.alloc(LEAF_BYTES * 1024);
  #places: LeafPlace[] = [];

  get count(): number {
    return this.#places.length;
  }

  /** @param leaf in hex */
  add(leaf: string, place: LeafPlace): void {
    const at = this.#places.length * LEAF_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    this.#bytes.write(leaf, at, LEAF_BYTES, 'hex');
    this.#places.push(place);
  }

  /** Appends the first leaves to a tree. */
  appendTo(tree: LogTree, count: number): void {
    tree.addAll(this.#bytes.subarray(0, count * LEAF_BYTES));
  }

  drop(count: number): void {
    this.#bytes.copyWithin(0, count * LEAF_BYTES, this.#places.length * LEAF_BYTES);
    this.#places = this.#places.slice(count);
  }

  placeAt(index: number): LeafPlace | undefined {
    return this.#places[index];
  }

  /** The first leaf of another stream than this one; null if there is none. */
  firstOutside(stream: string): LeafPlace | null {
    return this.#places.find((place) => place.stream !== stream) ?? null;
  }

  /** Where the newest leaf of a place is; -1 if it is not among these. */
  indexOf({ stream, revision }: LeafPlace): number {
    return this.#places.findLastIndex((place) => place.revision === revision && place.stream === stream);
  }

  toJson(): readonly [bytes: string, places: readonly (readonly [string, number])[]] {
    const used = this.#bytes.toString('base64', 0, this.#places.length * LEAF_BYTES);
    return [used, this.#places.map(({ stream, revision }) => [stream, revision])];
  }

  static of([bytes, places]: ReturnType<PendingLeaves['toJson']>): PendingLeaves {
    const pending = new PendingLeaves();
    const leaves = Buffer.from(bytes, 'base64');
    for (const [index, [stream, revision]] of places.entries()) {
      pending.add(leaves.toString('hex', index * LEAF_BYTES, (index + 1) * LEAF_BYTES), { stream, revision });
    }
    return pending;
  }
}
