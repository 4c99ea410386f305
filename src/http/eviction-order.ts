/** Which unread answers are dropped first when too many bytes wait in memory. */

/** One connection with bytes that its client has not accepted. */
export interface HeldAnswer<Connection> {
  readonly connection: Connection;
  /** Whose it is; null where only a proxy's address is known: all of those are one client. */
  readonly client: string | null;
  /** Whether this answer was charged for. */
  readonly paid: boolean;
  /** Bytes. */
  readonly pending: number;
  /** Whether it is too new to have been read. */
  readonly young: boolean;
  /** Bytes accepted in each millisecond. */
  readonly rate: number;
}

/**
 * Unpaid answers go before paid ones, and the client that holds most goes first: fresh connections protect nobody from
 * the client that opens them, and many slow ones cannot push out a client that holds one answer. Of one client's
 * connections the young go last, the slowest first. One connection is always left.
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
  /** The first to go is the last. */
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
