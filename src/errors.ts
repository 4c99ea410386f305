/**
 * The catalogue of errors: one entry for each code, with its status, what it means and what to do next. Deciders,
 * queries and transports all speak it; `/docs/errors` is made from it (docs/design/interface.md#2.9 and #7).
 */
import type { JsonObject } from './events/event.ts';

interface CatalogueEntry {
  readonly status: number;
  /** What happened, for a person. Used where the place that knows more says nothing better. */
  readonly message: string;
  /** What the caller can do about it. */
  readonly hint: string;
  /** What `details` holds beside `charged` and `hint`, by key. */
  readonly details: Readonly<Record<string, string>>;
}

const entry = (
  status: number,
  message: string,
  hint: string,
  details: CatalogueEntry['details'] = {},
): CatalogueEntry => ({ status, message, hint, details });

const issues = 'Every fault of the request: parameter, code, received, rule, example.';
const retry_after = 'Seconds to wait before asking again; the header Retry-After says the same.';
const amount_usdc = 'The price, a decimal string of US dollars.';
const accepts = 'The terms of payment, as x402 has them.';

/** In the order in which they win when a request has several faults. */
export const ERROR_CATALOGUE = {
  missing_required_parameter: entry(
    400,
    'A required parameter is missing.',
    'Send every parameter that details.parameters names.',
    { parameters: 'Names of what is missing.', issues },
  ),
  invalid_parameter: entry(
    400,
    'A parameter has a value that is not allowed.',
    'Correct each entry of details.issues: it states the rule and gives an example.',
    { issues },
  ),
  invalid_case_id: entry(
    400,
    'This court does not write case numbers like this.',
    'Use the form of details.example; every court’s pattern is listed by GET /v2/status.',
    {
      received: 'What was sent, at most its first 200 characters.',
      pattern: 'Regular expression of this court’s case numbers, as GET /v2/status lists it.',
      example: 'A case number as this court writes it; null where it publishes no format.',
      suggestion: 'What was probably meant, where that can be told.',
      issues,
    },
  ),
  invalid_timestamp: entry(
    400,
    'The timestamp is not ISO-8601 with an offset.',
    'Send for example 2026-03-01T12:00:00Z; best is meta.queried_at of your previous answer, unchanged.',
    { received: 'What was sent.', example: 'What was probably meant, or any timestamp.', issues },
  ),
  last_checked_in_future: entry(
    400,
    'last_checked lies in the future.',
    'Send meta.queried_at of your previous answer, unchanged.',
    { received: 'What was sent.', example: 'The present moment by our clock.', issues },
  ),
  invalid_batch_request: entry(
    400,
    'The body is not a batch of queries.',
    'Send {"queries": [{"case_id": "…", "court_code": "…"}]} with 1 to 50 queries.',
    { issues },
  ),
  invalid_payment: entry(
    400,
    'The payment cannot be read.',
    'Send the payment as your x402 client encodes it: base64 or base64url, padded or not; a transfer of your own may be base58. One payment for each request.',
    { reason: 'What cannot be decoded.' },
  ),
  payment_required: entry(
    402,
    'This call costs USDC on Solana, paid by x402 in the same call.',
    'Pay using the terms in the PAYMENT-REQUIRED header with an x402 client and repeat the request; no account is needed.',
    {
      known:
        'Of a query on a case: whether the case is known here. If false, the paid call would be a 404, uncharged. Null where that cannot be told now.',
      cache_age_seconds: 'Of a known case: seconds since its source was last read.',
      source: 'Of a known case: how its docket is obtained. imported: from files; nothing is asked live.',
      cases: 'Of a batch: these three members for each of its queries, in order.',
      charging: 'Of a batch: what it costs where queries fail.',
      sponsorship_paused_for:
        'Only while the service pays no network fees: new, for wallets that have not paid before, or all. A transfer that pays its own fee is accepted.',
      sponsorship_retry_after: 'Only then: seconds until it may pay them again.',
      amount_usdc,
      accepts,
    },
  ),
  payment_rejected: entry(
    402,
    'The payment was not accepted; we moved no money.',
    'details.reason says which rule it breaks. Build a new payment from the terms in this answer.',
    {
      reason:
        'The rule that the payment breaks, as x402 names it where it does; each value is explained at /docs/errors. New values may come.',
      shortfall: 'Where funds lack: how much, in base units of USDC.',
      shortfall_usd: 'The same in US dollars.',
      chain_error: 'Where the chain would refuse the transfer: its own words.',
      transaction: 'Where the transfer is on chain already: its signature.',
      amount_usdc,
      accepts,
    },
  ),
  settlement_failed: entry(
    402,
    'The payment did not go through; no money moved and no answer was given.',
    'Repeat the request with a new payment.',
    { reason: 'Why the transfer did not happen.', transaction: 'Its signature.', amount_usdc, accepts },
  ),
  case_not_found: entry(
    404,
    'No such case is known.',
    'Check the number and the court; where details.enqueued is true, ask again after details.retry_after seconds.',
    {
      enqueued: 'Whether a source will be asked about it.',
      retry_after,
      candidates: 'Case numbers of this court that are near; in a charged batch only.',
    },
  ),
  endpoint_not_found: entry(404, 'There is nothing at this address.', 'See /docs for every endpoint.', {
    suggestion: 'The address that was probably meant, else the documentation.',
  }),
  result_not_found: entry(
    404,
    'No result is known under this id.',
    'Use the path in the Content-Location header of the paid answer.',
    { suggestion: 'What to look at instead.' },
  ),
  method_not_allowed: entry(405, 'This address does not take this method.', 'Use a method of details.allow.', {
    allow: 'Methods that this address takes; the header Allow says the same.',
  }),
  payment_already_used: entry(
    409,
    'This payment has already bought an answer.',
    'To buy another answer, which is charged anew, sign again with a newer blockhash or a unique memo. What this payment bought stays, free, at its Content-Location for 30 days.',
    {
      transaction: 'The signature of the transfer; null while another request is still at work with the payment.',
      result_hint: 'Where the answer that it bought can be fetched by its owner.',
      retry_after,
    },
  ),
  idempotency_conflict: entry(
    409,
    'This payment identifier was used for another request.',
    'Use a new payment identifier for each request; repeat one only with exactly the same request.',
  ),
  ambiguous_case_id: entry(
    409,
    'Several cases of this court fit this number.',
    'Send the whole case number, with its office, as details.pattern and details.example show.',
    {
      pattern: 'What whole case numbers of this court look like, a regular expression.',
      example: 'A whole case number of this court, null where none is published.',
      candidates: 'The whole case numbers that fit; in a charged batch only, since a refusal is free.',
    },
  ),
  version_retired: entry(410, 'This version of the API has ended.', 'Use details.successor instead.', {
    successor: 'The address that took its place.',
  }),
  result_gone: entry(410, 'This result is no longer kept.', 'Ask again; a result is kept for 30 days.', {
    successor: 'What to ask instead.',
  }),
  batch_too_large: entry(413, 'Too many queries in one batch.', 'Split the batch: at most details.limit queries.', {
    limit: 'Most queries in one batch.',
  }),
  payload_too_large: entry(413, 'The body is too large.', 'Send at most details.limit bytes.', {
    limit: 'Most bytes of a body.',
  }),
  unsupported_media_type: entry(415, 'The body must be JSON.', 'Send Content-Type: application/json.'),
  court_not_covered: entry(
    422,
    'This court is not covered.',
    'Use one of details.suggestions, the nearest covered courts, or find the court in GET /v2/status.',
    {
      received: 'What was sent.',
      coverage: 'planned: listed, and not yet to be queried. unknown: no court has this code.',
      suggestions: 'The nearest codes of courts that can be queried.',
      issues,
    },
  ),
  rate_limit_exceeded: entry(
    429,
    'Too many requests from this wallet.',
    'Wait details.retry_after seconds; nothing was charged.',
    {
      retry_after,
      limit: 'How many requests the window allows.',
      window:
        'Which limit was met: minute, day, payment, settlement_failures, payments_under_way, first_payments, unknown_blockhashes, address or result.',
      refused:
        'Of the limit by address: what is wrong with the payment of this request, as code and reason. A valid payment is never limited by address.',
    },
  ),
  header_too_large: entry(431, 'The request headers are too large.', 'Send at most 32 KiB of headers.', {
    limit: 'Most bytes of request line and headers together.',
  }),
  result_damaged: entry(
    500,
    'The answer was paid for and settled, and what is stored of it is damaged.',
    'Do not pay again for this answer: repeating this request charges nothing and returns it as soon as the operator has restored it. The operator has been alerted; report meta.request_id and details.transaction. If you need an answer now, send a new query with a new payment.',
    { transaction: 'The signature of the transfer that bought it.' },
  ),
  internal_error: entry(
    500,
    'Something went wrong here.',
    'Try again; if it stays, report meta.request_id: it is in our log.',
  ),
  court_unavailable: entry(
    503,
    'The court’s docket cannot be reached now.',
    'Ask again after details.retry_after seconds; the same payment can be presented again.',
    { retry_after },
  ),
  service_unavailable: entry(
    503,
    'A part of this service is not available now.',
    'Ask again after details.retry_after seconds; the same payment can be presented again.',
    {
      component:
        'The part that is not available. read_store: not everything that is recorded is shown yet, so that nobody can say what there is not.',
      retry_after,
    },
  ),
  query_timeout: entry(504, 'The query took too long.', 'Ask again; the same payment can be presented again.', {
    retry_after,
  }),
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

/** Status of a refusal (docs/design/interface.md#7). */
export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code].status;
