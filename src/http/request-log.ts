/**
 * One line at level info for each request. A request that bought something always has one; of all others the first of each
 * route and status have one, and a summary counts the rest. The query and the body stay out of it: they say who asks about
 * whom.
 */
import type { ServerResponse } from 'node:http';
import type { BaseLogger } from 'pino';
import type { PurchaseOutcome } from '../commands/purchase/contract.ts';
import type { ErrorCode } from '../errors.ts';
import { sampledLines } from '../runtime/sampled-lines.ts';

export interface LoggedRequest {
  readonly requestId: string | undefined;
  readonly method: string;
  /** The pattern, e.g. `/v2/results/:resultId`; never what stands in its place. */
  readonly route: string;
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  readonly ms: number;
}

export interface RequestLog {
  answered(request: LoggedRequest, response: ServerResponse): void;
  /** Writes what is counted and not reported yet. */
  flush(): void;
}

export function requestLog(logger: Pick<BaseLogger, 'info'>): RequestLog {
  const free = sampledLines(logger, 'request');
  return {
    flush: free.flush,
    answered(request, response) {
      const { method, route, status } = request;
      if (isPurchase(response)) logger.info(request, 'request');
      else free.write({ method, route, status }, request);
    },
  };
}

const purchases = new WeakSet<ServerResponse>();

/** Whether this request itself pays: one that repeats an earlier payment, or whose payment fails, costs its caller nothing. */
export const isPaying = (requestId: string, outcome: PurchaseOutcome): boolean =>
  (outcome.outcome === 'settled' || outcome.outcome === 'pending') && outcome.boughtBy === requestId;

/** Records that a request bought something: for its line, and so that its answer is dropped after those that were free. */
export function notePurchase(response: ServerResponse): void {
  purchases.add(response);
}

export const isPurchase = (response: ServerResponse): boolean => purchases.has(response);

const codes = new WeakMap<ServerResponse, ErrorCode>();

/** Records with what code a request is refused, for its line. */
export function noteCode(response: ServerResponse, code: ErrorCode): void {
  codes.set(response, code);
}

export const codeOf = (response: ServerResponse): ErrorCode | undefined => codes.get(response);
