/**
 * Connections kept for the next attempt to the same origin. Keeping one can never lead past the guard: it stays with the
 * address that was judged when it was opened, and a new one is judged anew. How long it is kept bounds how long a change
 * of DNS goes unseen.
 */
const LONGEST_LIFE_MS = 30_000;
const MOST_IDLE = 256;
const MOST_IDLE_OF_ORIGIN = 8;
/** How many origins are remembered for closing connections that they had promised to keep. */
const MOST_REMEMBERED = 1_000;

/** What is kept: a connection. */
export interface Keepable {
  readonly open: boolean;
  /** By the monotonic clock, milliseconds. */
  readonly openedAt: number;
  close(): void;
}

export class IdleConnections<Connection extends Keepable> {
  readonly #idle = new Map<string, Connection[]>();
  #count = 0;
  readonly #unreliable = new Set<string>();

  /** A connection to use now, the one used last; null if a new one is needed. */
  take(origin: string): Connection | null {
    const connections = this.#idle.get(origin) ?? [];
    for (let connection = connections.at(-1); connection; connection = connections.at(-1)) {
      this.#remove(origin, connection);
      if (this.#mayServe(connection)) return connection;
      connection.close();
    }
    return null;
  }

  /** Keeps a connection whose last response came to its end, or closes it. */
  give(origin: string, connection: Connection): void {
    const connections = this.#idle.get(origin) ?? [];
    const full = this.#count >= MOST_IDLE || connections.length >= MOST_IDLE_OF_ORIGIN;
    if (full || this.#unreliable.has(origin) || !this.#mayServe(connection)) {
      connection.close();
      return;
    }
    this.#idle.set(origin, connections);
    connections.push(connection);
    this.#count++;
  }

  /** Forgets a connection that has closed. */
  closed(origin: string, connection: Connection): void {
    this.#remove(origin, connection);
  }

  /** Whether a connection to the origin should be used once only. */
  isUnreliable(origin: string): boolean {
    return this.#unreliable.has(origin);
  }

  /** The origin closed a kept connection as it was used again: that cost an attempt, and shall not cost another. */
  distrust(origin: string): void {
    this.#unreliable.delete(origin);
    this.#unreliable.add(origin);
    if (this.#unreliable.size > MOST_REMEMBERED) {
      for (const oldest of this.#unreliable) {
        this.#unreliable.delete(oldest);
        break;
      }
    }
  }

  closeAll(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.close();
    this.#idle.clear();
    this.#count = 0;
  }

  #mayServe(connection: Connection): boolean {
    return connection.open && performance.now() - connection.openedAt < LONGEST_LIFE_MS;
  }

  #remove(origin: string, connection: Connection): void {
    const connections = this.#idle.get(origin);
    const index = connections?.indexOf(connection) ?? -1;
    if (!connections || index === -1) return;
    connections.splice(index, 1);
    this.#count--;
    if (connections.length === 0) this.#idle.delete(origin);
  }
}
