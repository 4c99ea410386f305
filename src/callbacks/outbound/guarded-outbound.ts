/**
 * The outbound guard. A caller names the URL, so the connection is treated as hostile. Every attempt passes the same
 * steps (URL, addresses, connection, TLS, exchange) under one deadline, and a fault in any step is an outcome with a
 * class. No redirect is followed, no proxy used, no cookie kept, nothing decompressed.
 */
import type { SecureContext } from 'node:tls';
import type { FailureClass } from '../../events/failure-class.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { Attempt } from './attempt.ts';
import { AttemptFailure, NothingSent } from './attempt-failure.ts';
import { Connection, type ExchangeResponse } from './connection.ts';
import { dial, secured } from './dial.ts';
import { IdleConnections } from './idle-connections.ts';
import { guardedTls, judgeOf } from './judge.ts';
import type { Outbound, PostOutcome, PostRequest } from './outbound.ts';
import { resolvePublic } from './resolve.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { checkTarget, plainHost, type Target, type TargetRules } from './target.ts';

export interface OutboundOptions {
  /** Host names of this service, in the form of `URL.hostname`; never called. */
  readonly ownHosts?: readonly string[];
  /** Ports that this service listens on; never called. */
  readonly ownPorts?: readonly number[];
  /** `host:port` pairs that may be called in any case, in the form of `readTrustedPair`. */
  readonly trustedPairs?: readonly string[];
  /** Ranges (`2001:db8:64::/96`) that lead into this machine's network, such as its NAT64 prefix; never called. */
  readonly refusedRanges?: readonly string[];
  /** For the whole attempt, from the call to the last byte read. */
  readonly deadlineMs?: number;
  /** For tests, whose receivers run on this machine: which addresses count as public. */
  readonly isPublic?: (address: string) => boolean;
  /** For tests: DNS servers (`address:port`) to use instead of the system's. */
  readonly dnsServers?: readonly string[];
  /** For tests: certificates (PEM) of authorities to trust in addition to the public ones. */
  readonly extraAuthorities?: readonly string[];
}

export const DEADLINE_MS = 10_000;

export function createOutbound(options: OutboundOptions = {}): Outbound {
  return new GuardedOutbound(options);
}

class GuardedOutbound implements Outbound {
  readonly #options: OutboundOptions;
  readonly #trustedPairs: ReadonlySet<string>;
  readonly #ownHosts: readonly string[];
  readonly #isPublic: (address: string) => boolean;
  readonly #secureContext: SecureContext;
  readonly #idle = new IdleConnections<Connection>();
  readonly #underWay = new Set<Attempt>();
  #closed = false;

  /** @throws RangeError for an invalid refused range */
  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#trustedPairs = new Set(options.trustedPairs);
    const { ownHosts = [], extraAuthorities, refusedRanges = [] } = options;
    this.#ownHosts = ownHosts.map(plainHost);
    this.#isPublic = options.isPublic ?? judgeOf(refusedRanges);
    this.#secureContext = guardedTls(extraAuthorities);
  }

  async post(request: PostRequest): Promise<PostOutcome> {
    const attempt = new Attempt(this.#options.deadlineMs ?? DEADLINE_MS);
    this.#underWay.add(attempt);
    const interrupt = () => attempt.interrupt();
    const leave = request.signal && onAbort(request.signal, interrupt);
    if (this.#closed || request.signal?.aborted) interrupt();
    try {
      return answered(await this.#attempt(attempt, request), attempt);
    } catch (error) {
      return failed(error, attempt);
    } finally {
      attempt.end();
      this.#underWay.delete(attempt);
      leave?.();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const attempt of this.#underWay) attempt.interrupt();
    this.#idle.closeAll();
  }

  async #attempt(attempt: Attempt, request: PostRequest): Promise<ExchangeResponse> {
    const checked = checkTarget(request.url, this.#rules());
    if ('refused' in checked) throw new AttemptFailure(checked.refused.failureClass, checked.refused.reason);
    const { target } = checked;
    attempt.signal.throwIfAborted();
    const kept = this.#idle.take(target.origin);
    if (kept) {
      const address = kept.wire.remoteAddress ?? '';
      try {
        await admitted(request, address);
      } catch (error) {
        this.#idle.give(target.origin, kept);
        throw error;
      }
      try {
        return await this.#exchange(attempt, target, request, kept);
      } catch (error) {
        // One attempt is one POST: a request is sent again only if none of it was written.
        if (!(error instanceof NothingSent)) throw error;
      }
    }
    return this.#exchange(attempt, target, request, await this.#open(attempt, target, request));
  }

  async #exchange(
    attempt: Attempt,
    { origin, path, secure }: Target,
    { headers, body }: PostRequest,
    connection: Connection,
  ): Promise<ExchangeResponse> {
    attempt.phase = 'exchange';
    if (secure) attempt.watch(connection.wire);
    const last = this.#closed || this.#idle.isUnreliable(origin);
    try {
      const response = await connection.exchange({ path, headers, body, last, signal: attempt.signal });
      if (connection.exchanges > 1) this.#idle.trust(origin);
      if (response.complete && !last && !this.#closed) this.#idle.give(origin, connection);
      else connection.close();
      return response;
    } catch (error) {
      connection.close();
      const reset = error instanceof AttemptFailure && error.failureClass === 'reset';
      if (reset && !(error instanceof NothingSent) && connection.exchanges > 1) this.#idle.distrust(origin);
      throw error;
    }
  }

  async #open(attempt: Attempt, target: Target, request: PostRequest): Promise<Connection> {
    attempt.phase = 'resolve';
    const { host, port, literal, secure } = target;
    const { signal } = attempt;
    const lookup = { isPublic: this.#isPublic, dnsServers: this.#options.dnsServers ?? null, signal };
    // A literal address was checked with the URL.
    const resolved = literal ? [host] : await resolvePublic(host, lookup);
    const checked = request.admit ? resolved.slice(0, 1) : resolved;
    await admitted(request, checked[0] ?? '');
    signal.throwIfAborted();
    attempt.phase = 'connect';
    const plain = await dial(checked, port, signal);
    attempt.phase = 'secure';
    if (secure) attempt.watch(plain);
    const socket = secure ? await secured(plain, host, literal, this.#secureContext, signal) : plain;
    const connection = new Connection(target.origin, socket, plain);
    connection.onClose(() => this.#idle.closed(target.origin, connection));
    return connection;
  }

  #rules(): TargetRules {
    const { ownPorts = [] } = this.#options;
    const ownHosts = this.#ownHosts;
    return { ownHosts, ownPorts, trustedPairs: this.#trustedPairs, isPublic: this.#isPublic };
  }
}

/** @throws AttemptFailure: interrupted, if the request must not go to the address */
async function admitted({ admit }: PostRequest, address: string): Promise<void> {
  if (admit === undefined || (await admit(address))) return;
  throw new AttemptFailure('interrupted', 'the address must not be called now');
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
  // What ended the attempt counts, not the error by which some step noticed it.
  const cause = signal.aborted ? signal.reason : error;
  // Anything else is our own fault, so the receiver is not blamed: the attempt is inconclusive and repeated.
  const failureClass = cause instanceof AttemptFailure ? cause.failureClass : 'interrupted';
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

/** The excerpt as text; a character that was cut in half is dropped. */
const textOf = (excerpt: Buffer): string => new TextDecoder('utf-8').decode(excerpt, { stream: true });
