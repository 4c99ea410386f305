/** A map of bounded size that forgets what was not used for longest, in two generations: cheap for millions of keys. */
export class Generations<Value> {
  readonly #most: number;
  readonly #weightOf: (value: Value) => number;
  readonly #forget: (old: ReadonlyMap<string, Value>) => void;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  /** Of the young ones. */
  #weight = 0;

  /**
   * @param most values in one generation, or their weight
   * @param forget is given all values that are dropped together
   * @param weightOf of a value as it is now; tell `grew` of later changes
   */
  constructor(
    most: number,
    forget: (old: ReadonlyMap<string, Value>) => void = () => undefined,
    weightOf: (value: Value) => number = () => 1,
  ) {
    this.#most = most;
    this.#forget = forget;
    this.#weightOf = weightOf;
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
    this.#weight += this.#weightOf(value);
    this.#young.set(key, value);
    if (this.#weight < this.#most) return;
    const dropped = this.#old;
    for (const kept of this.#young.keys()) dropped.delete(kept);
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
    this.#forget(dropped);
  }

  /** The value that was read or set last weighs more by so much. The next `set` obeys it. */
  grew(by: number): void {
    this.#weight += by;
  }

  /** Gives everything to `forget`, and is empty then. */
  clear(): void {
    const [young, old] = [this.#young, this.#old];
    this.#young = new Map();
    this.#old = new Map();
    this.#weight = 0;
    for (const key of young.keys()) old.delete(key);
    this.#forget(old);
    this.#forget(young);
  }
}
