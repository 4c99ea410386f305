/**
 * The catalogue of errors: one entry for each code, with its status, what it means and what to do next. Deciders,
 * queries and transports all speak it; `/docs/errors` is made from it (specification 2.9 and 7).
 */
import type { JsonObject } from './events/event.ts';

interface CatalogueEntry {
  readonly status: number;
  /** What happened, for a person. Used where the place that knows more says nothing better. */
  readonly message: string;
  /** What the caller can do about it. */
  readonly hint: string;
}

const entry = (status: number, message: string, hint: string): CatalogueEntry => ({ status, message, hint });

/** In the order in which they win when a request has several faults. */
export const ERROR_CATALOGUE = {
  missing_required_parameter: entry(
    400,
    'A required parameter is missing.',
    'Send every parameter that details.parameters names.',
  ),
  invalid_parameter: entry(
    400,
    'A parameter has a value that is not allowed.',
    'Correct each entry of details.issues: it states the rule and gives an example.',
  ),
  invalid_case_id: entry(
    400,
    'This court does not write case numbers like this.',
    'Use the form of details.example; every court’s pattern is listed by GET /v2/status.',
  ),
  invalid_timestamp: entry(
    400,
    'The timestamp is not ISO-8601 with an offset.',
    'Send for example 2026-03-01T12:00:00Z; best is meta.queried_at of your previous answer, unchanged.',
  ),
  last_checked_in_future: entry(
    400,
    'last_checked lies in the future.',
    'Send meta.queried_at of your previous answer, unchanged.',
  ),
  invalid_batch_request: entry(
    400,
    'The body is not a batch of queries.',
    'Send {"queries": [{"case_id": "…", "court_code": "…"}]} with 1 to 50 queries.',
  ),
  invalid_payment: entry(
    400,
    'The payment cannot be read.',
    'Send the payment as your x402 client encodes it: standard base64, one payment for each request.',
  ),
  payment_required: entry(
    402,
    'This call costs USDC on Solana, paid by x402 in the same call.',
    'Pay by the PAYMENT-REQUIRED header with an x402 client and repeat the request; no account is needed.',
  ),
  payment_rejected: entry(
    402,
    'The payment was not accepted; no money moved.',
    'details.reason says which rule it breaks. Build a new payment from the terms in this answer.',
  ),
  settlement_failed: entry(
    402,
    'The payment did not go through; no money moved and no answer was given.',
    'Repeat the request with a new payment.',
  ),
  case_not_found: entry(
    404,
    'No such case is known.',
    'Check the number and the court; where details.enqueued is true, ask again after details.retry_after seconds.',
  ),
  endpoint_not_found: entry(404, 'There is nothing at this address.', 'See /docs for every endpoint.'),
  result_not_found: entry(
    404,
    'No result is known under this id.',
    'Use the path in the Content-Location header of the paid answer.',
  ),
  method_not_allowed: entry(405, 'This address does not take this method.', 'Use a method of details.allow.'),
  payment_already_used: entry(
    409,
    'This payment has already bought an answer.',
    'Sign again with a newer blockhash or a unique memo. A paid answer stays at its Content-Location for 30 days.',
  ),
  idempotency_conflict: entry(
    409,
    'This payment identifier was used for another request.',
    'Use a new payment identifier for each request; repeat one only with exactly the same request.',
  ),
  ambiguous_case_id: entry(
    409,
    'Several cases of this court fit this number.',
    'Repeat the request with one of details.candidates.',
  ),
  version_retired: entry(410, 'This version of the API has ended.', 'Use details.successor instead.'),
  result_gone: entry(410, 'This result is no longer kept.', 'Ask again; a result is kept for 30 days.'),
  batch_too_large: entry(413, 'Too many queries in one batch.', 'Split the batch: at most details.limit queries.'),
  payload_too_large: entry(413, 'The body is too large.', 'Send at most details.limit bytes.'),
  unsupported_media_type: entry(415, 'The body must be JSON.', 'Send Content-Type: application/json.'),
  court_not_covered: entry(
    422,
    'This court is not covered.',
    'details.suggestions names the nearest covered courts; GET /v2/status lists all of them.',
  ),
  rate_limit_exceeded: entry(
    429,
    'Too many requests from this wallet.',
    'Wait details.retry_after seconds; nothing was charged.',
  ),
  header_too_large: entry(431, 'The request headers are too large.', 'Send at most 32 KiB of headers.'),
  internal_error: entry(
    500,
    'Something went wrong here.',
    'Try again; if it stays, report meta.request_id: it is in our log.',
  ),
  court_unavailable: entry(
    503,
    'The court’s docket cannot be reached now.',
    'Ask again after details.retry_after seconds; the same payment can be presented again.',
  ),
  service_unavailable: entry(
    503,
    'A part of this service is not available now.',
    'Ask again after details.retry_after seconds; the same payment can be presented again.',
  ),
  query_timeout: entry(504, 'The query took too long.', 'Ask again; the same payment can be presented again.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** A refusal as a value: a code of the catalogue and what this one case adds to it. */
export interface Problem {
  readonly problem: ErrorCode;
  /** Replaces the catalogue's message. */
  readonly message?: string;
  /** Beside `charged` and `hint`, which every error carries. A `hint` here replaces the catalogue's. */
  readonly details: JsonObject;
}

/** Makes a refusal. */
export function problem(code: ErrorCode, details: JsonObject = {}, message?: string): Problem {
  return message === undefined ? { problem: code, details } : { problem: code, details, message };
}

export const isProblem = (value: object): value is Problem => 'problem' in value;

/** Status of a refusal (specification 7). */
export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code].status;
