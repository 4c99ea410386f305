/** Runs the query of a payment, within its deadline and only while the process runs. */
import type { BaseLogger } from 'pino';
import { type ErrorCode, type Problem, problem } from '../../errors.ts';
import type { KeyCall } from '../../events/payment.ts';
import { problemOf } from '../../failure-problem.ts';
import { onAbort } from '../../runtime/on-abort.ts';

/** The time limit of a query. */
export const QUERY_DEADLINE_MS = 20_000;

/** A query's answer. */
export interface ComposedAnswer {
  /** The complete body including `meta`, serialised once: stored, served and pushed unchanged. */
  readonly body: Buffer;
  /** How many cases were answered, for the wallet's daily limit. */
  readonly answeredCases: number;
  /** The court's code of each answered case, in any order; none for answers that are about no case. */
  readonly courts?: readonly string[];
  /** The stream of each answered case, in any order: these cases are watched. */
  readonly cases?: readonly string[];
  /** What is also pushed after the payment has settled. */
  readonly callbacks?: readonly RequestedCallback[];
}

export interface RequestedCallback {
  /** As the caller sent it, not validated. */
  readonly url: string;
  /** Which result of a batch is pushed, from 0; null for the whole answer. */
  readonly result: number | null;
}

/** A call on the wallet's signing keys. It has no effect and no answer before its payment has settled. */
export interface KeyCallAnswer {
  readonly keyCall: KeyCall['does'];
  /** Whether the rotation requires a proof of the wallet from then on. */
  readonly requireSignIn?: boolean;
  readonly answeredCases: number;
}

/** No part of the request could be answered, and the body explains each part. It is not charged. */
export interface UnchargedAnswer {
  readonly uncharged: Buffer;
  /** The first reason, for the record. */
  readonly code: ErrorCode;
}

export type QueryAnswer = ComposedAnswer | KeyCallAnswer;

export interface QueryRun {
  readonly requestId: string;
  readonly deadlineMs: number;
  /** Aborted when this process must stop. */
  readonly draining: AbortSignal;
  readonly logger: Pick<BaseLogger, 'error'>;
  /** Whether the caller no longer waits for the answer. */
  isAbandoned(): boolean;
  query(signal: AbortSignal): Promise<QueryAnswer | UnchargedAnswer | Problem>;
}

/** Reaches no caller. The request ends, and its payment may be presented again. */
export const nobodyWaits = (): Problem =>
  problem('service_unavailable', { component: 'http', retry_after: 1 }, 'The caller closed the connection.');

/** How often a query checks whether its caller has disconnected, milliseconds. */
const LOOK_FOR_CALLER_MS = 25;

/** The problem for a request that this process can no longer start. */
export const stopping = (): Problem =>
  problem('service_unavailable', { component: 'http', retry_after: 5 }, 'This node is stopping.');

/** The query's answer, or why there is none. Never throws. A query that continues after its deadline is ignored. */
export async function runQuery({
  requestId,
  deadlineMs,
  draining,
  logger,
  isAbandoned,
  query,
}: QueryRun): Promise<QueryAnswer | UnchargedAnswer | Problem> {
  if (draining.aborted) return stopping();
  const controller = new AbortController();
  const { signal } = controller;
  const stop = () => controller.abort(stopping());
  const timer = setTimeout(() => controller.abort(problem('query_timeout', { retry_after: 1 })), deadlineMs);
  const leave = onAbort(draining, stop);
  const looking = setInterval(() => {
    if (isAbandoned()) controller.abort(nobodyWaits());
  }, LOOK_FOR_CALLER_MS);
  try {
    const ended = new Promise<Problem>((resolve) => {
      signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
    });
    return await Promise.race([query(signal), ended]);
  } catch (error) {
    // The query was cancelled; that is not a failure of its own.
    if (signal.aborted) return signal.reason;
    logger.error({ err: error, requestId }, 'a paid query failed');
    return problemOf(error);
  } finally {
    clearTimeout(timer);
    clearInterval(looking);
    leave();
  }
}
