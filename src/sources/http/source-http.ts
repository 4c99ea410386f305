/**
 * How sources are called (docs/design/sources.md#requests). Every request has a time limit, a size limit, this service's
 * user agent, and a check of its address and of each redirect's.
 */
import type { Fault } from '../source.ts';

export interface SourceRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The most bytes of the answer, unpacked. */
  readonly maxBytes: number;
  /** For the connection, milliseconds; default 5,000. */
  readonly connectMs?: number;
  /** From the call to the last byte, milliseconds; default 20,000. */
  readonly totalMs?: number;
  readonly signal?: AbortSignal;
}

export interface SourceResponse {
  readonly status: number;
  /** Lower-case names; the last of several. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface SourceHttp {
  /** Never rejects: a request without an answer is a fault. Any status is an answer. */
  send(request: SourceRequest): Promise<SourceResponse | Fault>;
  close(): Promise<void>;
}
