/** Which error codes endpoints share. */
import type { ErrorCode } from '../../../errors.ts';
import type { ResponseHeaderName } from '../headers.ts';

/** Any request: it is not valid HTTP, the node is stopping, or the service fails. */
export const ANYWHERE: readonly ErrorCode[] = [
  'invalid_parameter',
  'payload_too_large',
  'header_too_large',
  'internal_error',
  'service_unavailable',
];

/** Every paid endpoint. */
export const PAID: readonly ErrorCode[] = [
  ...ANYWHERE,
  'invalid_payment',
  'payment_required',
  'payment_rejected',
  'settlement_failed',
  'wallet_banned',
  'payment_already_used',
  'idempotency_conflict',
  // The identifier of a payment whose answer is no longer stored, or is damaged.
  'result_gone',
  'result_damaged',
  'rate_limit_exceeded',
  'query_timeout',
];

/** Parameter errors of a query on one case, found before it is paid for. */
export const CASE_PARAMETERS: readonly ErrorCode[] = [
  'missing_required_parameter',
  'invalid_case_id',
  'invalid_timestamp',
  'last_checked_in_future',
  'court_not_covered',
];

/** Errors of a valid query on one case. */
export const CASE_QUERY: readonly ErrorCode[] = [
  ...CASE_PARAMETERS,
  'case_not_found',
  'ambiguous_case_id',
  'court_unavailable',
];

/** Every version 1 endpoint, from the day on which it ends. */
export const V1_ONLY: readonly ErrorCode[] = ['version_retired'];

export const PAID_HEADERS: readonly ResponseHeaderName[] = [
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'Content-Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Server-Timing',
];
export const V1_HEADERS: readonly ResponseHeaderName[] = ['Deprecation', 'Sunset', 'Link'];
