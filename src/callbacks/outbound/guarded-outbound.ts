/**
 * The outbound guard. A caller names the URL, so the connection is hostile by assumption: every attempt passes the same
 * steps (the URL, the addresses behind it, the connection, TLS, the exchange) under one deadline, and whatever goes wrong
 * in one of them is an outcome with a class. No redirect is followed, no proxy used, no cookie kept, nothing decompressed.
 */
import { networkInterfaces } from 'node:os';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { FailureClass } from '../failure-class.ts';
import { AttemptFailure } from './attempt-failure.ts';
import { Connection, type ExchangeResponse } from './connection.ts';
import { dial, secured } from './dial.ts';
import { IdleConnections } from './idle-connections.ts';
import type { Outbound, PostOutcome, PostRequest } from './outbound.ts';
import type { AddressRange } from './public-address.ts';
import { resolvePublic } from './resolve.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { checkTarget, type Target, type TargetRules } from './target.ts';

export interface OutboundOptions {
  /** Host names under which this service is reached: never called. */
  readonly ownHosts?: readonly string[];
  /** Ports on which this service listens: never called. */
  readonly ownPorts?: readonly number[];
  /** `host:port` pairs that may be called whatever they are, as `readTrustedPair` gives them. */
  readonly trustedPairs?: readonly string[];
  /** Ranges that lead into the network of this machine, for example its NAT64 prefix: never called. */
  readonly refusedRanges?: readonly AddressRange[];
  /** Over everything, from the call to the last byte read. */
  readonly deadlineMs?: number;
  /** For tests: DNS servers (`address:port`) to ask instead of the system's. */
  readonly dnsServers?: readonly string[];
  /** For tests: certificates (PEM) of authorities to trust beside the public ones. */
  readonly extraAuthorities?: readonly string[];
}

export const DEADLINE_MS = 10_000;

/** How long this machine's own addresses are remembered: they change with its interfaces. */
const OWN_ADDRESSES_MS = 10_000;

type Phase = 'resolve' | 'connect' | 'secure' | 'exchange';

/** What the deadline says of the phase that it ended. */
const LATE: Readonly<Record<Phase, FailureClass>> = {
  resolve: 'dns_timeout',
  connect: 'connect_timeout',
  secure: 'timeout',
  exchange: 'timeout',
};

export function createOutbound(options: OutboundOptions = {}): Outbound {
  return new GuardedOutbound(options);
}

class GuardedOutbound implements Outbound {
  readonly #options: OutboundOptions;
  readonly #trustedPairs: ReadonlySet<string>;
  readonly #ownAddresses = rememberedOwnAddresses();
  readonly #secureContext: SecureContext;
  readonly #idle = new IdleConnections();
  readonly #underWay = new Set<Attempt>();
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#trustedPairs = new Set(options.trustedPairs);
    const { extraAuthorities } = options;
    this.#secureContext = createSecureContext({
      minVersion: 'TLSv1.2',
      ...(extraAuthorities ? { ca: [...rootCertificates, ...extraAuthorities] } : {}),
    });
  }

  async post(request: PostRequest): Promise<PostOutcome> {
    const attempt = new Attempt(this.#options.deadlineMs ?? DEADLINE_MS);
    this.#underWay.add(attempt);
    const interrupt = () => attempt.interrupt();
    request.signal?.addEventListener('abort', interrupt, { once: true });
    if (this.#closed || request.signal?.aborted) interrupt();
    try {
      return answered(await this.#attempt(attempt, request), attempt);
    } catch (error) {
      return failed(error, attempt);
    } finally {
      attempt.end();
      this.#underWay.delete(attempt);
      request.signal?.removeEventListener('abort', interrupt);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const attempt of this.#underWay) attempt.interrupt();
    this.#idle.closeAll();
  }

  async #attempt(attempt: Attempt, { url, headers, body }: PostRequest): Promise<ExchangeResponse> {
    const rules = this.#rules();
    const checked = checkTarget(url, rules);
    if ('refused' in checked) throw new AttemptFailure(checked.refused.failureClass, checked.refused.reason);
    const { target } = checked;
    attempt.signal.throwIfAborted();
    const connection = this.#idle.take(target.origin) ?? (await this.#open(attempt, target, rules));
    attempt.phase = 'exchange';
    const last = this.#closed || this.#idle.isUnreliable(target.origin);
    try {
      const response = await connection.exchange({ path: target.path, headers, body, last, signal: attempt.signal });
      if (response.complete && !last && !this.#closed) this.#idle.give(target.origin, connection);
      else connection.close();
      return response;
    } catch (error) {
      connection.close();
      const reset = error instanceof AttemptFailure && error.failureClass === 'reset';
      if (reset && connection.exchanges > 1) this.#idle.distrust(target.origin);
      throw error;
    }
  }

  async #open(attempt: Attempt, target: Target, { addresses }: TargetRules): Promise<Connection> {
    const { host, port, literal, secure } = target;
    const { signal } = attempt;
    const dnsServers = this.#options.dnsServers ?? null;
    // A literal address has been judged with the URL.
    const checked = literal ? [host] : await resolvePublic(host, { addresses, dnsServers, signal });
    signal.throwIfAborted();
    attempt.phase = 'connect';
    const plain = await dial(checked, port, signal);
    attempt.phase = 'secure';
    const socket = secure ? await secured(plain, host, literal, this.#secureContext, signal) : plain;
    const connection = new Connection(target.origin, socket);
    connection.onClose(() => this.#idle.closed(target.origin, connection));
    return connection;
  }

  #rules(): TargetRules {
    const { ownHosts = [], ownPorts = [], refusedRanges = [] } = this.#options;
    const addresses = { ownAddresses: this.#ownAddresses(), refusedRanges };
    return { ownHosts, ownPorts, trustedPairs: this.#trustedPairs, addresses };
  }
}

/** One attempt's time: what it began at, which phase it is in, and what ends it early. */
class Attempt {
  phase: Phase = 'resolve';
  readonly #startedAt = performance.now();
  readonly #controller = new AbortController();
  readonly #deadline: NodeJS.Timeout;

  constructor(deadlineMs: number) {
    this.#deadline = setTimeout(() => this.#abort(LATE[this.phase], `nothing came in ${deadlineMs} ms`), deadlineMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get durationMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  interrupt(): void {
    this.#abort('interrupted', 'the attempt was ended by the service');
  }

  end(): void {
    clearTimeout(this.#deadline);
  }

  #abort(failureClass: FailureClass, message: string): void {
    this.#controller.abort(new AttemptFailure(failureClass, message));
  }
}

function answered({ status, retryAfter, excerpt, truncated }: ExchangeResponse, { durationMs }: Attempt): PostOutcome {
  return {
    responseCode: status,
    failureClass: statusFailure(status),
    retryAfterSeconds: retryAfterSeconds(retryAfter, Date.now()),
    durationMs,
    responseExcerpt: textOf(excerpt),
    truncated,
  };
}

function failed(error: unknown, { signal, durationMs }: Attempt): PostOutcome {
  // What ended the attempt counts, not the error with which some step noticed.
  const cause = signal.aborted ? signal.reason : error;
  const failureClass = cause instanceof AttemptFailure ? cause.failureClass : 'protocol_error';
  return {
    responseCode: null,
    failureClass,
    retryAfterSeconds: null,
    durationMs,
    responseExcerpt: null,
    truncated: false,
  };
}

function statusFailure(status: number): FailureClass | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'http_3xx';
  if (status >= 400 && status < 500) return 'http_4xx';
  return status >= 500 && status < 600 ? 'http_5xx' : 'protocol_error';
}

/** The excerpt as text; a character that the cut went through is left out. */
const textOf = (excerpt: Buffer): string => new TextDecoder('utf-8').decode(excerpt, { stream: true });

function rememberedOwnAddresses(): () => readonly string[] {
  let addresses: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - readAt > OWN_ADDRESSES_MS) {
      addresses = Object.values(networkInterfaces()).flatMap((entries) =>
        (entries ?? []).map(({ address }) => address),
      );
      readAt = performance.now();
    }
    return addresses;
  };
}
