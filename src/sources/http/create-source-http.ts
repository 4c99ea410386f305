/**
 * Calls sources (docs/design/sources.md#requests). The parts of the guard for callbacks are used: an address is checked,
 * and that very address is dialled. No proxy, no cookies.
 */

import type { SecureContext } from 'node:tls';
import { AttemptFailure, NothingSent } from '../../callbacks/outbound/attempt-failure.ts';
import { dial, secured } from '../../callbacks/outbound/dial.ts';
import { IdleConnections } from '../../callbacks/outbound/idle-connections.ts';
import { guardedTls, judgeOf } from '../../callbacks/outbound/judge.ts';
import { resolvePublic } from '../../callbacks/outbound/resolve.ts';
import { checkTarget, plainHost, type Target } from '../../callbacks/outbound/target.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { Fault } from '../source.ts';
import { faultOf, HttpFault } from './http-fault.ts';
import { SourceConnection } from './source-connection.ts';
import type { SourceHttp, SourceRequest, SourceResponse } from './source-http.ts';
import { ENCODINGS } from './unpack.ts';

export interface SourceHttpOptions {
  readonly userAgent: string;
  /** `host:port` pairs that may be called although they are not public, in the form of `readTrustedPair`. */
  readonly allowPrivate: readonly string[];
  /** Host names of this service; never called. */
  readonly ownHosts?: readonly string[];
  /** Ports that this service listens on; never called. */
  readonly ownPorts?: readonly number[];
  /** Ranges that lead into this machine's network, such as its NAT64 prefix; never called. */
  readonly refusedRanges?: readonly string[];
  /** For tests: which addresses count as public. */
  readonly isPublic?: (address: string) => boolean;
  /** For tests: DNS servers (`address:port`) to use instead of the system's. */
  readonly dnsServers?: readonly string[];
  /** For tests: certificates (PEM) of authorities to trust in addition to the public ones. */
  readonly extraAuthorities?: readonly string[];
}

const CONNECT_MS = 5_000;
export const TOTAL_MS = 20_000;
const MOST_REDIRECTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What may go to another origin than the one that was asked: nothing that could be a credential. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'if-none-match', 'if-modified-since']);

/** @throws RangeError for an invalid refused range */
export const createSourceHttp = (options: SourceHttpOptions): SourceHttp => new GuardedSourceHttp(options);

class GuardedSourceHttp implements SourceHttp {
  readonly #options: SourceHttpOptions;
  readonly #ownHosts: readonly string[];
  readonly #trustedPairs: ReadonlySet<string>;
  readonly #isPublic: (address: string) => boolean;
  readonly #secureContext: SecureContext;
  readonly #idle = new IdleConnections<SourceConnection>();
  readonly #closing = new AbortController();

  constructor(options: SourceHttpOptions) {
    this.#options = options;
    this.#ownHosts = (options.ownHosts ?? []).map(plainHost);
    this.#trustedPairs = new Set(options.allowPrivate);
    this.#isPublic = options.isPublic ?? judgeOf(options.refusedRanges ?? []);
    this.#secureContext = guardedTls(options.extraAuthorities);
  }

  async send(request: SourceRequest): Promise<SourceResponse | Fault> {
    const { totalMs = TOTAL_MS } = request;
    const ending = new AbortController();
    const late = setTimeout(
      () => ending.abort(new HttpFault('timeout', `no complete response within ${totalMs} ms`)),
      totalMs,
    );
    const interrupt = () => ending.abort(new HttpFault('interrupted', 'this service ended the request'));
    const leaving = [this.#closing.signal, ...(request.signal ? [request.signal] : [])].map((signal) => {
      if (signal.aborted) interrupt();
      return onAbort(signal, interrupt);
    });
    try {
      ending.signal.throwIfAborted();
      return await this.#follow(request, ending.signal);
    } catch (error) {
      // What ended the request counts, not the error by which some step noticed it.
      return faultOf(ending.signal.aborted ? ending.signal.reason : error);
    } finally {
      clearTimeout(late);
      for (const leave of leaving) leave();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#idle.closeAll();
  }

  /** Only a `GET` follows redirects; for others a redirect is an answer. */
  async #follow(request: SourceRequest, signal: AbortSignal): Promise<SourceResponse> {
    let headers = lowerCase(request.headers ?? {});
    let target = this.#check(request.url, this.#trustedPairs);
    for (let redirects = 0; ; redirects++) {
      const response = await this.#request(target, { ...request, headers }, signal);
      const { location } = response.headers;
      const isAnswer = (request.method ?? 'GET') !== 'GET' || !REDIRECTS.has(response.status) || !location;
      if (isAnswer) return response;
      if (redirects === MOST_REDIRECTS) {
        throw new HttpFault('unavailable', `more than ${MOST_REDIRECTS} redirects`);
      }
      const next = this.#redirected(target, location);
      if (next.origin !== target.origin) {
        headers = Object.fromEntries(Object.entries(headers).filter(([name]) => PLAIN_HEADERS.has(name)));
      }
      target = next;
    }
  }

  /** @throws HttpFault, AttemptFailure if the redirect must not be followed */
  #redirected(from: Target, location: string): Target {
    const base = `${from.origin}${from.path}`;
    const url = parseUrl(location, base);
    if (url === null) throw new HttpFault('unreadable', 'a redirect without a valid URL');
    // Only from a private address that an operator has listed may a redirect lead to another one.
    const next = this.#check(url.href, from.trusted ? this.#trustedPairs : new Set());
    if (from.secure && !next.secure) throw new HttpFault('refused_address', 'a redirect from https to http');
    return next;
  }

  #check(url: string, trustedPairs: ReadonlySet<string>): Target {
    const checked = checkTarget(url, {
      ownHosts: this.#ownHosts,
      ownPorts: this.#options.ownPorts ?? [],
      trustedPairs,
      isPublic: this.#isPublic,
    });
    if ('target' in checked) return checked.target;
    throw new AttemptFailure(checked.refused.failureClass, checked.refused.reason);
  }

  async #request(target: Target, request: SourceRequest, signal: AbortSignal): Promise<SourceResponse> {
    const kept = this.#idle.take(target.origin);
    if (kept) {
      try {
        return await this.#exchange(kept, target, request, signal);
      } catch (error) {
        // A request is sent again only if none of it was written: a source counts each.
        if (!(error instanceof NothingSent)) throw error;
      }
    }
    return this.#exchange(await this.#open(target, request, signal), target, request, signal);
  }

  async #exchange(
    connection: SourceConnection,
    { origin, path }: Target,
    { method = 'GET', headers = {}, body, maxBytes }: SourceRequest,
    signal: AbortSignal,
  ): Promise<SourceResponse> {
    const isReused = connection.exchanges > 0;
    try {
      const response = await connection.exchange({
        method,
        path,
        headers: { ...headers, 'user-agent': this.#options.userAgent, 'accept-encoding': ENCODINGS },
        body: body ?? null,
        maxBytes,
        signal,
      });
      if (isReused) this.#idle.trust(origin);
      if (this.#closing.signal.aborted) connection.close();
      else this.#idle.give(origin, connection);
      return response;
    } catch (error) {
      const isBroken = error instanceof HttpFault && error.fault === 'connection';
      if (isReused && isBroken) this.#idle.distrust(origin);
      throw error;
    }
  }

  async #open(
    target: Target,
    { connectMs = CONNECT_MS }: SourceRequest,
    total: AbortSignal,
  ): Promise<SourceConnection> {
    const { host, port, literal, secure, origin } = target;
    const connecting = new AbortController();
    const late = setTimeout(
      () => connecting.abort(new HttpFault('timeout', `no connection within ${connectMs} ms`)),
      connectMs,
    );
    const leave = onAbort(total, () => connecting.abort(total.reason));
    const { signal } = connecting;
    try {
      const lookup = { isPublic: this.#isPublic, dnsServers: this.#options.dnsServers ?? null, signal };
      // A literal address was checked with the URL.
      const addresses = literal ? [host] : await resolvePublic(host, lookup);
      signal.throwIfAborted();
      const plain = await dial(addresses, port, signal);
      const socket = secure ? await secured(plain, host, literal, this.#secureContext, signal) : plain;
      const connection = new SourceConnection(origin, socket, plain);
      connection.onClose(() => this.#idle.closed(origin, connection));
      return connection;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      clearTimeout(late);
      leave();
    }
  }
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
