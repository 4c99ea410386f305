/** A map whose entries are kept for the lifetime of a blockhash. */
export class SlotMemory<Value> {
  /** In slot order. */
  readonly #entries = new Map<string, { readonly slot: number; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Stores a value with the current slot, which is never lower than that of an earlier entry. */
  note(key: string, slot: number, value: Value): void {
    // A map keeps the position of an existing key, so delete it first; otherwise later entries would outlive their
    // time.
    this.#entries.delete(key);
    this.#entries.set(key, { slot, value });
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** @returns whether the key was present */
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
