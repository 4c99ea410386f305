/** The EventStoreDB client, changed where it would end the process or hang forever. */
import { finished, type Readable, type Writable } from 'node:stream';
import {
  type ChannelCredentialOptions,
  type Credentials,
  type DNSClusterOptions,
  EventStoreDBClient,
  type GossipClusterOptions,
  type SingleNodeOptions,
} from '@eventstore/db-client';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { type EventStoreSettings, readCertificates } from './connection-string.ts';
import { isDisconnection } from './failures.ts';
import { guardedCall } from './guarded-calls.ts';
import './guarded-gossip.ts';

/** Changes how the client appends, fails, throws and closes (docs/design/event-log.md#eventstoredb). */
export class GuardedClient extends EventStoreDBClient {
  #used = false;
  readonly #calls = new Set<Readable | Writable>();

  constructor(
    connection: DNSClusterOptions | GossipClusterOptions | SingleNodeOptions,
    security: ChannelCredentialOptions,
    user: Credentials | undefined,
  ) {
    // The client declares one constructor for each kind of connection; the same code accepts all of them.
    super(connection as SingleNodeOptions, security, user);
    this.supports = async () => false;
    const reconnect = this.handleError;
    this.handleError = (client, error) => reconnect(client, error).catch(() => undefined);
    const callArguments = this.callArguments;
    this.callArguments = (base, callOptions) => {
      const [metadata, options] = callArguments(base, callOptions);
      return [metadata, { ...options, interceptors: [guardedCall] }];
    };
    const create = this.GRPCStreamCreator;
    this.GRPCStreamCreator = (service, name, creator, cache) =>
      create(service, name, async (client) => this.#kept(await creator(client)), cache);
    const dispose = this.dispose;
    this.dispose = async () => {
      const disposed = dispose();
      for (const call of this.#calls) call.destroy();
      await disposed;
    };
    const connect = this.getChannel;
    this.getChannel = () => {
      this.#used = true;
      return connect();
    };
  }

  /** Tracks a call until it has ended. */
  #kept<Call extends Readable | Writable>(call: Call): Call {
    this.#calls.add(call);
    finished(call, () => this.#calls.delete(call));
    return call;
  }

  /** Accepts no new calls; running calls may end. */
  async retire(): Promise<void> {
    if (!this.#used) return;
    try {
      (await this.getChannel()).close();
    } catch {
      // Never connected, or already closed.
    }
  }
}

/** A connection carries a hundred calls; the next one would wait without an error. */
const MOST_CALLS = 80;
/** A connection is replaced at most this often. */
const RENEW_EVERY_MS = 1000;
const KEEP_ALIVE_MS = 10_000;
/**
 * How long a member may take to name the leader. The client asks one member after the other, and the first may be
 * frozen.
 */
const GOSSIP_TIMEOUT_SECONDS = 2;

/**
 * Number of connections in this process. Clients with equal options share a connection; a different interval forces a
 * new one.
 */
let connections = 0;

/**
 * One connection to the event store, replaced when it fails. gRPC redials with growing delays of up to two minutes
 * after a failed dial, and it notices a silent peer only after twenty seconds.
 */
export class Lane {
  readonly #settings: EventStoreSettings;
  #client: GuardedClient;
  #losses = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #free = MOST_CALLS;
  readonly #waiting: (() => void)[] = [];

  constructor(settings: EventStoreSettings) {
    this.#settings = settings;
    this.#client = makeClient(settings);
  }

  get client(): EventStoreDBClient {
    return this.#client;
  }

  /** How many calls have failed. After each failure a different server may answer. */
  get losses(): number {
    return this.#losses;
  }

  /** Runs a short call as soon as the connection has room for it. */
  async run<Result>(call: (client: EventStoreDBClient) => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await call(this.#client);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** If this error of this client means that the event store was not reached, the next call dials again. */
  failed(client: EventStoreDBClient, error: unknown): void {
    // The event store did answer; the fault is in the stored event.
    if (error instanceof UnreadableEvent) return;
    this.#losses++;
    const now = performance.now();
    if (!isDisconnection(error) || client !== this.#client || now - this.#renewedAt < RENEW_EVERY_MS) return;
    this.#renewedAt = now;
    void this.#client.retire();
    this.#client = makeClient(this.#settings);
  }

  async close(): Promise<void> {
    const client = this.#client;
    await client.dispose();
    await client.retire();
  }
}

function makeClient(settings: EventStoreSettings): GuardedClient {
  const { hosts, discover, tls, credentials, certificates, keepAliveInterval = KEEP_ALIVE_MS, ...rest } = settings;
  const options = {
    gossipTimeout: GOSSIP_TIMEOUT_SECONDS,
    ...rest,
    keepAliveInterval: keepAliveInterval + (connections++ % 1000),
  };
  const security = tls ? readCertificates(certificates) : { insecure: true };
  const user = credentials ?? undefined;
  const [first] = hosts;
  if (!first) throw new RangeError('a connection to the event store needs a host');
  if (discover) return new GuardedClient({ ...options, discover: first }, security, user);
  if (hosts.length > 1) return new GuardedClient({ ...options, endpoints: [...hosts] }, security, user);
  return new GuardedClient({ ...options, endpoint: first }, security, user);
}
