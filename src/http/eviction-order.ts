/** Which unread answers are dropped first if too many bytes wait in memory. */

/** A connection with bytes that its client has not accepted. */
export interface HeldAnswer<Connection> {
  readonly connection: Connection;
  /** The client; null if only a proxy's address is known: all of those count as one client. */
  readonly client: string | null;
  /** Whether this answer was charged for. */
  readonly paid: boolean;
  /** Bytes. */
  readonly pending: number;
  /** Whether the connection is too new for its client to have read. */
  readonly young: boolean;
  /** Bytes accepted per millisecond. */
  readonly rate: number;
}

/**
 * Unpaid answers are dropped before paid ones, starting with the client that holds the most. So opening fresh
 * connections protects no client, and many slow clients cannot push out one that holds a single answer. Among one
 * client's connections, the slowest go first and new ones last. One connection is always kept.
 */
export function* inOrderOfEviction<Connection>(held: readonly HeldAnswer<Connection>[]): Generator<Connection> {
  let left = held.length;
  for (const paid of [false, true]) {
    const clients = byClient(held.filter((answer) => answer.paid === paid));
    for (let client = largest(clients); client; client = largest(clients)) {
      const answer = client.answers.pop();
      if (answer === undefined) {
        clients.delete(client);
        continue;
      }
      if (--left === 0) return;
      client.pending -= answer.pending;
      yield answer.connection;
    }
  }
}

interface Client<Connection> {
  pending: number;
  /** Sorted so that the first to drop comes last. */
  readonly answers: HeldAnswer<Connection>[];
}

function byClient<Connection>(held: readonly HeldAnswer<Connection>[]): Set<Client<Connection>> {
  const clients = new Map<string | null, Client<Connection>>();
  for (const answer of held) {
    const client = clients.get(answer.client) ?? { pending: 0, answers: [] };
    client.pending += answer.pending;
    client.answers.push(answer);
    clients.set(answer.client, client);
  }
  for (const { answers } of clients.values()) {
    answers.sort((a, b) => Number(b.young) - Number(a.young) || b.rate - a.rate);
  }
  return new Set(clients.values());
}

function largest<Connection>(clients: ReadonlySet<Client<Connection>>): Client<Connection> | undefined {
  let found: Client<Connection> | undefined;
  for (const client of clients) if (!found || client.pending > found.pending) found = client;
  return found;
}
