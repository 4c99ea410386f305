/** What is remembered for as long as a blockhash lives, by key. */
export class SlotMemory<Value> {
  /** In the order of their slots. */
  readonly #entries = new Map<string, { readonly slot: number; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Notes a value with the present slot, which no earlier note is ahead of. */
  note(key: string, slot: number, value: Value): void {
    // A key that is noted again keeps its place in a map, and whatever stands behind it would be kept with it.
    this.#entries.delete(key);
    this.#entries.set(key, { slot, value });
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** @returns whether it was there */
  forget(key: string): boolean {
    return this.#entries.delete(key);
  }

  forgetBefore(oldest: number): void {
    for (const [key, { slot }] of this.#entries) {
      if (slot >= oldest) return;
      this.#entries.delete(key);
    }
  }
}
