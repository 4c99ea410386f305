/**
 * Connections kept for the next attempt to the same origin. Keeping one can never lead past the guard: it stays with the
 * address that was judged when it was opened, and a new one is judged anew. How long it is kept bounds how long a change
 * of DNS goes unseen.
 */
const LONGEST_LIFE_MS = 30_000;
const MOST_IDLE = 256;
const MOST_IDLE_OF_ORIGIN = 8;
/**
 * Some receivers end a connection right behind a response that promised to keep it, and a request that crosses that end
 * is lost. So the first connections of an origin must have stood for this long before one is used again.
 */
const SETTLING_MS = 20;
/** How many origins are remembered for keeping their promise, and for breaking it. */
const MOST_REMEMBERED = 1_000;

/** What is kept: a connection. */
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
      // The one used last is the likeliest to stand; of an origin that is not known yet, the one that has stood longest.
      const next = this.#reliable.has(origin) ? idle.at(-1) : idle[0];
      if (!next || (!this.#reliable.has(origin) && !next.settled)) return null;
      this.closed(origin, next.connection);
      if (mayServe(next.connection)) return next.connection;
      next.connection.close();
    }
  }

  /** Keeps a connection whose last response came to its end, or closes it. */
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

  /** Forgets a connection that has closed. */
  closed(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin);
    const index = idle?.findIndex((entry) => entry.connection === connection) ?? -1;
    if (!idle || index === -1) return;
    idle.splice(index, 1);
    this.#count--;
    if (idle.length === 0) this.#idle.delete(origin);
  }

  /** A kept connection served: the origin keeps what it promises. */
  trust(origin: string): void {
    if (!this.#reliable.has(origin)) this.#reliable.add(origin);
  }

  /** The origin closed a kept connection as it was used again: that cost an attempt, and shall not cost another. */
  distrust(origin: string): void {
    this.#reliable.delete(origin);
    this.#unreliable.add(origin);
  }

  /** Whether a connection to the origin should be used once only. */
  isUnreliable(origin: string): boolean {
    return this.#unreliable.has(origin);
  }

  closeAll(): void {
    for (const { connection } of [...this.#idle.values()].flat()) connection.close();
    this.#idle.clear();
    this.#count = 0;
  }
}

/** After the time, and after what came meanwhile has been read: a process that was busy has not seen an end yet. */
const settle = (entry: { settled: boolean }): void => {
  const settled = () => {
    entry.settled = true;
  };
  setTimeout(() => setImmediate(settled), SETTLING_MS).unref();
};

const mayServe = ({ open, openedAt }: Keepable): boolean => open && performance.now() - openedAt < LONGEST_LIFE_MS;

/** A bounded set, from which the origin that was added first goes first. */
class RecentOrigins extends Set<string> {
  override add(origin: string): this {
    super.add(origin);
    const [oldest] = this;
    if (this.size > MOST_REMEMBERED && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
