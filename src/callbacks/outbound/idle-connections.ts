/**
 * Connections kept for the next attempt to the same origin. Reuse cannot bypass the guard: a connection stays with the
 * address that was checked when it was opened, and every new one is checked. Its lifetime limits how long a DNS change
 * goes unnoticed.
 */
const LONGEST_LIFE_MS = 30_000;
const MOST_IDLE = 256;
const MOST_IDLE_OF_ORIGIN = 8;
/**
 * Some receivers close a connection right after a response that promised to keep it, and a request sent at that moment
 * is lost. So the first connections of an origin must have been idle this long before one is reused.
 */
const SETTLING_MS = 20;
/** How many origins are remembered as reliable, and how many as unreliable. */
const MOST_REMEMBERED = 1_000;

/** A connection that can be kept. */
export interface Keepable {
  readonly open: boolean;
  /** By the monotonic clock, milliseconds. */
  readonly openedAt: number;
  close(): void;
}

interface Idle<Connection> {
  readonly connection: Connection;
  settled: boolean;
}

export class IdleConnections<Connection extends Keepable> {
  readonly #idle = new Map<string, Idle<Connection>[]>();
  #count = 0;
  readonly #reliable = new RecentOrigins();
  readonly #unreliable = new RecentOrigins();

  /** A connection to use now; null if a new one is needed. */
  take(origin: string): Connection | null {
    for (;;) {
      const idle = this.#idle.get(origin) ?? [];
      // The most recently used one is the most likely to be alive; for an unknown origin, the one that has been idle
      // longest.
      const next = this.#reliable.has(origin) ? idle.at(-1) : idle[0];
      if (!next || (!this.#reliable.has(origin) && !next.settled)) return null;
      this.closed(origin, next.connection);
      if (mayServe(next.connection)) return next.connection;
      next.connection.close();
    }
  }

  /** Keeps a connection whose last response was read to its end, or closes it. */
  give(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin) ?? [];
    const full = this.#count >= MOST_IDLE || idle.length >= MOST_IDLE_OF_ORIGIN;
    if (full || this.isUnreliable(origin) || !mayServe(connection)) {
      connection.close();
      return;
    }
    this.#idle.set(origin, idle);
    const entry = { connection, settled: false };
    idle.push(entry);
    this.#count++;
    if (!this.#reliable.has(origin)) settle(entry);
  }

  /** Removes a connection that has closed. */
  closed(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin);
    const index = idle?.findIndex((entry) => entry.connection === connection) ?? -1;
    if (!idle || index === -1) return;
    idle.splice(index, 1);
    this.#count--;
    if (idle.length === 0) this.#idle.delete(origin);
  }

  /** A kept connection was reused successfully, so the origin keeps its promise. */
  trust(origin: string): void {
    if (!this.#reliable.has(origin)) this.#reliable.add(origin);
  }

  /** The origin closed a kept connection as it was reused: that cost one attempt, and must not cost another. */
  distrust(origin: string): void {
    this.#reliable.delete(origin);
    this.#unreliable.add(origin);
  }

  /** Whether a connection to the origin should be used only once. */
  isUnreliable(origin: string): boolean {
    return this.#unreliable.has(origin);
  }

  closeAll(): void {
    for (const { connection } of [...this.#idle.values()].flat()) connection.close();
    this.#idle.clear();
    this.#count = 0;
  }
}

/** Runs after the delay and after pending input was read: a busy process may not have seen an end yet. */
const settle = (entry: { settled: boolean }): void => {
  const settled = () => {
    entry.settled = true;
  };
  setTimeout(() => setImmediate(settled), SETTLING_MS).unref();
};

const mayServe = ({ open, openedAt }: Keepable): boolean => open && performance.now() - openedAt < LONGEST_LIFE_MS;

/** A bounded set that drops its oldest entry first. */
class RecentOrigins extends Set<string> {
  override add(origin: string): this {
    super.add(origin);
    const [oldest] = this;
    if (this.size > MOST_REMEMBERED && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
