/** A map of bounded size that forgets what was not used for longest, in two generations: cheap for millions of keys. */
export class Generations<Value> {
  readonly #most: number;
  readonly #forget: (old: ReadonlyMap<string, Value>) => void;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /**
   * @param most values in one generation
   * @param forget is given all values that are dropped together
   */
  constructor(most: number, forget: (old: ReadonlyMap<string, Value>) => void = () => undefined) {
    this.#most = most;
    this.#forget = forget;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#most) return;
    const dropped = this.#old;
    for (const kept of this.#young.keys()) dropped.delete(kept);
    this.#old = this.#young;
    this.#young = new Map();
    this.#forget(dropped);
  }

  /** Gives everything to `forget`, and is empty then. */
  clear(): void {
    const [young, old] = [this.#young, this.#old];
    this.#young = new Map();
    this.#old = new Map();
    for (const key of young.keys()) old.delete(key);
    this.#forget(old);
    this.#forget(young);
  }
}
