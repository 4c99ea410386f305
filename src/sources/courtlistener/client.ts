/**
 * Requests to CourtListener's REST API v4 (docs/design/sources.md#courtlistener). Each takes one from the budget first. Whatever
 * comes back is an answer, a refusal or a fault; nothing else is thrown than what storage throws.
 */

import { isJsonObject, type JsonObject } from '../../events/event.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { SourceBudget } from '../budget.ts';
import type { SourceHttp, SourceResponse } from '../http/source-http.ts';
import type { Asking, Fault, SourceFault } from '../source.ts';

export interface CourtListenerClientOptions {
  readonly http: SourceHttp;
  readonly budget: SourceBudget;
  readonly clock: Clock;
  /** Base address, with a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly logger: { error(fields: object, message: string): void };
}

export type Reply =
  | { readonly ok: unknown }
  /** 404, with what the source says. */
  | { readonly notFound: string }
  /** 400 for what was sent, with what the source says; never for a question, which would be a fault of this service. */
  | { readonly refused: string }
  | Fault;

export interface CourtListenerRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base address, with a slash at its end. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** If less than a request may usually take, milliseconds. */
  readonly totalMs?: number;
}

export type RequestAsking = Pick<Asking, 'priority' | 'signal'>;

export interface CourtListenerClient {
  /** @throws StorageFailure */
  send(request: CourtListenerRequest, asking: RequestAsking): Promise<Reply>;
  /** The cursor of a link to the next page of a list. Null if the link leaves this API or that list. */
  cursorOf(link: string, path: string): string | null;
}

/** Twenty entries with their longest texts; the texts of documents are left out. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_CURSOR = 1_000;
const LONGEST_HOLD: Micros = 2 * 86_400 * MICROS_PER_SECOND;

export const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' && value !== null && 'fault' in value;

export function createCourtListenerClient(options: CourtListenerClientOptions): CourtListenerClient {
  const { http, budget, clock, url, token, logger } = options;
  const base = new URL(url);

  async function send(request: CourtListenerRequest, { priority, signal }: RequestAsking): Promise<Reply> {
    if (signal.aborted) return fault('interrupted', 'the look was ended before this request');
    const taken = await budget.take(priority);
    if (!taken.taken) return fault('budget', `no request is left for work of priority ${priority}`, taken.retryAt);
    const { method = 'GET', path, query = {}, body, totalMs } = request;
    const address = new URL(path, base);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const response = await http.send({
      method,
      url: address.href,
      headers: {
        accept: 'application/json',
        authorization: `Token ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      maxBytes: MAX_BYTES,
      ...(totalMs === undefined ? {} : { totalMs }),
      signal,
    });
    return isFault(response) ? response : read(request, response);
  }

  async function read(request: CourtListenerRequest, response: SourceResponse): Promise<Reply> {
    const { status } = response;
    const value = jsonIn(response.body);
    const said = shown(detailOf(value));
    if (status >= 200 && status < 300) {
      if (status === 204 || response.body.length === 0) return { ok: null };
      return value === undefined ? fault('unreadable', 'no JSON') : { ok: value };
    }
    switch (status) {
      case 400:
        if (request.method !== undefined && request.method !== 'GET' && isJsonObject(value)) {
          return { refused: shown(JSON.stringify(value)) };
        }
        logger.error(
          { path: request.path, status, said, alarm: 'source_bad_request' },
          'CourtListener does not understand a request of this service',
        );
        return fault('bad_request', said);
      case 401:
        return fault('unauthorised', said);
      case 403:
        return fault('forbidden', said);
      case 404:
        return value === undefined ? fault('unreadable', 'a page for people') : { notFound: said };
      case 429:
        return throttled(response, said);
      default:
        return status >= 500 ? fault('unavailable', `${status} ${said}`) : fault('unreadable', `status ${status}`);
    }
  }

  /**
   * What a source says, for logs and terminals. A source that repeats the token must not bring it there; it is removed
   * before the text is cut, which could leave a part of it.
   */
  const shown = (text: string): string =>
    printable(
      [token, JSON.stringify(token).slice(1, -1)].reduce((rest, secret) => rest.replaceAll(secret, '...'), text),
    );

  /** Without a time to retry, the account is blocked, and waiting does not help. */
  async function throttled({ headers }: SourceResponse, said: string): Promise<Fault> {
    const now = clock.now();
    const until = readRetryAfter(headers['retry-after'], now);
    if (until === null) return fault('blocked', said);
    const retryAt = Math.min(until, now + LONGEST_HOLD);
    await budget.hold(retryAt);
    return fault('throttled', said, retryAt);
  }

  function cursorOf(link: string, path: string): string | null {
    const address = link.length > MAX_CURSOR * 4 ? null : parseUrl(link);
    if (address === null) return null;
    const own = new URL(path, base);
    const isOwn = address.origin === own.origin && address.pathname === own.pathname && address.username === '';
    const cursor = isOwn ? address.searchParams.get('cursor') : null;
    return cursor !== null && cursor !== '' && cursor.length <= MAX_CURSOR ? cursor : null;
  }

  return { send, cursorOf };
}

export function fault(kind: SourceFault, reason: string, retryAt: Micros | null = null): Fault {
  return { fault: kind, reason: printable(reason), retryAt };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function detailOf(value: unknown): string {
  if (!isJsonObject(value)) return 'no detail';
  const { detail, unknown_params: unknown } = value;
  const names = Array.isArray(unknown) ? ` ${unknown.filter((name) => typeof name === 'string').join(', ')}` : '';
  if (typeof detail === 'string') return `${detail}${names}`;
  return Object.keys(value).slice(0, 5).join(', ');
}

/** Seconds, or a date of HTTP. */
function readRetryAfter(text: string | undefined, now: Micros): Micros | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return now + Math.max(1, Number(text)) * MICROS_PER_SECOND;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(date * 1_000, now + MICROS_PER_SECOND);
}
