/**
 * Request lines at level info. Every request that bought something gets a line. Of all others, the first of each route
 * and status gets one, and a summary counts the rest. Query and body are never logged: they show who is interested in
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
  /** The route pattern, e.g. `/v2/results/:resultId`; never the actual values. */
  readonly route: string;
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  readonly ms: number;
}

export interface RequestLog {
  answered(request: LoggedRequest, response: ServerResponse): void;
  /** Writes the counts that have not been reported yet. */
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

/** Whether this request itself pays. A repeat of an earlier payment and a failed payment cost the caller nothing. */
export const isPaying = (requestId: string, outcome: PurchaseOutcome): boolean =>
  (outcome.outcome === 'settled' || outcome.outcome === 'pending') && outcome.boughtBy === requestId;

/** Records that a request bought something: it gets a line, and its answer is dropped later than free ones. */
export function notePurchase(response: ServerResponse): void {
  purchases.add(response);
}

export const isPurchase = (response: ServerResponse): boolean => purchases.has(response);

const codes = new WeakMap<ServerResponse, ErrorCode>();

/** Records the error code of a request, for its line. */
export function noteCode(response: ServerResponse, code: ErrorCode): void {
  codes.set(response, code);
}

export const codeOf = (response: ServerResponse): ErrorCode | undefined => codes.get(response);
