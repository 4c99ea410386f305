/**
 * Rows in the order in which they were opened, although each is complete only later. If too many wait for one that is
 * not complete, that one is completed from its stream at once. So memory is bounded, whatever the log holds.
 */

/** How many rows may wait. */
const MOST_WAITING = 10_000;

interface Waiting<Row> {
  row: Row;
  complete: boolean;
}

export interface RowsInOrderOptions<Row> {
  /** Reads the rest of the row's events. */
  readonly completed: (row: Row) => Promise<Row>;
  readonly mostWaiting?: number;
}

export class RowsInOrder<Row> {
  readonly #queue = new Set<Waiting<Row>>();
  readonly #open = new Map<string, Waiting<Row>>();
  readonly #keys = new Map<Waiting<Row>, string>();
  readonly #completed: (row: Row) => Promise<Row>;
  readonly #mostWaiting: number;

  constructor({ completed, mostWaiting = MOST_WAITING }: RowsInOrderOptions<Row>) {
    this.#completed = completed;
    this.#mostWaiting = mostWaiting;
  }

  /** Opens a row. An earlier row of the same key changes no more. */
  open(key: string, row: Row): void {
    this.close(key);
    const waiting = { row, complete: false };
    this.#queue.add(waiting);
    this.#open.set(key, waiting);
    this.#keys.set(waiting, key);
  }

  /** The open row of a key; undefined if it is complete already. */
  get(key: string): Row | undefined {
    return this.#open.get(key)?.row;
  }

  set(key: string, row: Row): void {
    const waiting = this.#open.get(key);
    if (waiting) waiting.row = row;
  }

  /** Nothing more will happen to the row. */
  close(key: string): void {
    const waiting = this.#open.get(key);
    if (!waiting) return;
    waiting.complete = true;
    this.#forget(waiting);
  }

  /** Whether a row need not wait any longer. */
  get areReady(): boolean {
    const [first] = this.#queue;
    return first !== undefined && (first.complete || this.#queue.size > this.#mostWaiting);
  }

  /** The rows that need not wait any longer. */
  async *ready(): AsyncIterable<Row> {
    for (const waiting of this.#queue) {
      if (!waiting.complete && this.#queue.size <= this.#mostWaiting) return;
      this.#queue.delete(waiting);
      this.#forget(waiting);
      yield waiting.complete ? waiting.row : await this.#completed(waiting.row);
    }
  }

  /** All rows that are left, at the end of the log. */
  *rest(): Iterable<Row> {
    for (const { row } of this.#queue) yield row;
  }

  #forget(waiting: Waiting<Row>): void {
    const key = this.#keys.get(waiting);
    if (key === undefined) return;
    this.#keys.delete(waiting);
    this.#open.delete(key);
  }
}
