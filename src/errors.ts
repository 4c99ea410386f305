/**
 * The error catalogue: for each code its status, its meaning and what to do next. Deciders, queries and transports use
 * it, and `/docs/errors` is generated from it (docs/design/interface.md#2.9 and #7).
 */
import type { JsonObject } from './events/event.ts';

interface CatalogueEntry {
  readonly status: number;
  /** What happened, for a person. Used unless the code that raises the error has a more specific message. */
  readonly message: string;
  /** What the caller can do about it. */
  readonly hint: string;
  /** The members of `details` other than `charged` and `hint`, by key. */
  readonly details: Readonly<Record<string, string>>;
}

const entry = (
  status: number,
  message: string,
  hint: string,
  details: CatalogueEntry['details'] = {},
): CatalogueEntry => ({ status, message, hint, details });

const issues = 'Every issue of the request: parameter, code, received, rule, example.';
const retry_after = 'Seconds to wait before a retry; also in the header Retry-After.';
const amount_usdc = 'The price, a decimal string of US dollars.';
const accepts = 'The payment terms in the form of x402.';

/** Ordered by precedence: if a request has several issues, the first code wins. */
export const ERROR_CATALOGUE = {
  missing_required_parameter: entry(
    400,
    'A required parameter is missing.',
    'Send every parameter that details.parameters names.',
    { parameters: 'Names of the missing parameters.', issues },
  ),
  invalid_parameter: entry(
    400,
    'A parameter has an invalid value.',
    'Correct each entry of details.issues: it states the rule and gives an example.',
    { issues },
  ),
  invalid_case_id: entry(
    400,
    'This court has no case numbers of this form.',
    'Use the form of details.example; GET /v2/status lists the pattern of every court.',
    {
      received: 'The value sent, at most its first 200 characters.',
      pattern: 'Regular expression of this court’s case numbers, also in GET /v2/status.',
      example: 'A case number in the form of this court; null if it publishes no format.',
      suggestion: 'The case number that was probably meant, if there is one.',
      issues,
    },
  ),
  invalid_timestamp: entry(
    400,
    'The timestamp is not ISO-8601 with an offset.',
    'Send meta.queried_at of your previous answer, unchanged, or a time such as 2026-03-01T12:00:00Z.',
    { received: 'The value sent.', example: 'The timestamp that was probably meant, or any valid one.', issues },
  ),
  last_checked_in_future: entry(
    400,
    'last_checked is in the future.',
    'Send meta.queried_at of your previous answer, unchanged.',
    { received: 'The value sent.', example: 'The current time by our clock.', issues },
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
    'Send the payment as your x402 client encodes it: base64 or base64url, padded or not; a self-paid transfer may also be base58. Send one payment per request.',
    { reason: 'The part that cannot be decoded.' },
  ),
  source_token_required: entry(
    401,
    'Dockets are accepted only from sources with a valid token.',
    'Send Authorization: Bearer and the token that the operator has issued; a revoked or replaced token is not valid.',
  ),
  payment_required: entry(
    402,
    'This call costs USDC on Solana, paid through x402 in the same call.',
    'Pay using the terms in the PAYMENT-REQUIRED header with an x402 client and repeat the request; no account is needed.',
    {
      known:
        'For a query on a case: whether the case is known here. If false and source is null, the paid call returns 404 without a charge; if a source is named, it is asked first. Null while unknown.',
      cache_age_seconds:
        'For a known case: seconds since a source last showed its whole docket; if none has, since one last showed a part.',
      source:
        'For a known case: the source that showed its docket then; imported: from files. For an unknown case: the source that the paid call asks; null if none covers the court.',
      cases: 'For a batch: these three members for each query, in order.',
      charging: 'For a batch: what it costs if queries fail.',
      sponsorship_paused_for:
        'Set while the service does not pay network fees: new (for wallets that have not paid before) or all. Transfers that pay their own fee are accepted.',
      sponsorship_retry_after: 'Set in the same case: seconds until the service may pay them again.',
      amount_usdc,
      accepts,
    },
  ),
  payment_rejected: entry(
    402,
    'The payment was not accepted; we moved no money.',
    'details.reason names the rule that the payment breaks. Build a new payment from the terms in this answer.',
    {
      reason:
        'The rule that the payment breaks, under its x402 name if there is one; /docs/errors explains each value. More values may be added.',
      shortfall: 'For insufficient funds: the missing amount, in base units of USDC.',
      shortfall_usd: 'The same in US dollars.',
      chain_error: 'If the chain would reject the transfer: its error.',
      transaction: 'If the transfer is already on chain: its signature.',
      amount_usdc,
      accepts,
    },
  ),
  settlement_failed: entry(
    402,
    'The payment did not settle; no money moved and no answer was returned.',
    'Repeat the request with a new payment.',
    { reason: 'Why the transfer did not happen.', transaction: 'Its signature.', amount_usdc, accepts },
  ),
  wallet_banned: entry(
    403,
    'This wallet is banned.',
    'Do not pay again with this wallet: it is refused until we lift the ban. What it has bought stays free at its Content-Location, and its callbacks are still delivered.',
  ),
  court_not_allowed: entry(
    403,
    'This token may not push dockets of this court.',
    'Push dockets of the courts in details.allowed_courts, or ask the operator for another token.',
    { received: 'The court of the request.', allowed_courts: 'The courts whose dockets the token may push.' },
  ),
  case_not_found: entry(
    404,
    'No such case is known.',
    'Check the number and the court; if details.enqueued is true, retry after details.retry_after seconds.',
    {
      enqueued: 'Whether a source will be queried for the case.',
      retry_after,
      candidates: 'Similar case numbers of this court; only in a charged batch.',
    },
  ),
  endpoint_not_found: entry(404, 'No such endpoint.', 'See /docs for every endpoint.', {
    suggestion: 'The path that was probably meant, or the documentation.',
  }),
  result_not_found: entry(
    404,
    'No result has this id.',
    'Use the path in the Content-Location header of the paid answer.',
    { suggestion: 'Where to look instead.' },
  ),
  method_not_allowed: entry(405, 'This path does not accept this method.', 'Use a method listed in details.allow.', {
    allow: 'Methods that this path accepts; also in the header Allow.',
  }),
  payment_already_used: entry(
    409,
    'This payment has already bought an answer.',
    'To buy another answer, which is charged separately, sign again with a newer blockhash or a unique memo. The answer that this payment bought stays free at its Content-Location for 30 days.',
    {
      transaction: 'The signature of the transfer; null while another request is still processing the payment.',
      result_hint: 'Where its owner can fetch the answer that it bought.',
      retry_after,
    },
  ),
  idempotency_conflict: entry(
    409,
    'This payment identifier was used for another request.',
    'Use a new payment identifier for each request; reuse one only for exactly the same request.',
  ),
  ambiguous_case_id: entry(
    409,
    'Several cases of this court match this number.',
    'Send the complete case number, including its office; see details.pattern and details.example.',
    {
      pattern: 'Regular expression of complete case numbers of this court.',
      example: 'A complete case number of this court; null if it publishes no format.',
      candidates: 'The complete case numbers that match; only in a charged batch, because errors are free.',
    },
  ),
  version_retired: entry(410, 'This version of the API has ended.', 'Use details.successor instead.', {
    successor: 'The path that replaced it.',
  }),
  result_gone: entry(410, 'This result is no longer stored.', 'Send a new query; results are stored for 30 days.', {
    successor: 'What to call instead.',
  }),
  batch_too_large: entry(413, 'Too many queries in one batch.', 'Split the batch: at most details.limit queries.', {
    limit: 'The most queries in one batch.',
  }),
  payload_too_large: entry(413, 'The body is too large.', 'Send at most details.limit bytes.', {
    limit: 'The most bytes of a body.',
  }),
  unsupported_media_type: entry(415, 'The body must be JSON.', 'Send Content-Type: application/json.'),
  court_not_covered: entry(
    422,
    'This court is not covered.',
    'Use one of details.suggestions, the nearest covered courts, or find the court in GET /v2/status.',
    {
      received: 'The value sent.',
      coverage: 'planned: listed, but not open to queries yet. unknown: no court has this code.',
      suggestions: 'The nearest codes of courts that can be queried.',
      issues,
    },
  ),
  rate_limit_exceeded: entry(
    429,
    'Too many requests from this wallet.',
    'Wait details.retry_after seconds. Nothing was charged.',
    {
      retry_after,
      limit: 'How many requests the window allows.',
      window:
        'Which limit was exceeded: minute, day, payment, settlement_failures, payments_under_way, first_payments, unknown_blockhashes, address or result; for sources that push dockets: push_requests, push_bytes, push_uploads or address.',
      refused:
        'For the limit by address: what is wrong with the payment of this request, as code and reason. Valid payments are never limited by address.',
    },
  ),
  header_too_large: entry(431, 'The request headers are too large.', 'Send at most 32 KiB of headers.', {
    limit: 'The most bytes of request line and headers together.',
  }),
  result_damaged: entry(
    500,
    'The answer was paid for and settled, but its stored copy is damaged.',
    'Do not pay again for this answer: repeating this request charges nothing and returns it as soon as the operator has restored it. The operator has been alerted; report meta.request_id and details.transaction. If you need an answer now, send a new query with a new payment.',
    { transaction: 'The signature of the transfer that bought it.' },
  ),
  internal_error: entry(
    500,
    'An internal error occurred.',
    'Retry. If the error persists, report meta.request_id, which is in our logs.',
  ),
  court_unavailable: entry(
    503,
    'The court’s docket is not available now.',
    'Retry after details.retry_after seconds; you can send the same payment again.',
    { retry_after },
  ),
  service_unavailable: entry(
    503,
    'A component of this service is not available now.',
    'Retry after details.retry_after seconds; you can send the same payment again.',
    {
      component:
        'The unavailable component. read_store: the read model is behind the log, so absence cannot be confirmed yet.',
      retry_after,
    },
  ),
  query_timeout: entry(504, 'The query took too long.', 'Retry; you can send the same payment again.', {
    retry_after,
  }),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** An error as a value: a code of the catalogue and the specifics of this case. */
export interface Problem {
  readonly problem: ErrorCode;
  /** Replaces the catalogue's message. */
  readonly message?: string;
  /** In addition to `charged` and `hint`, which every error has. A `hint` here replaces the catalogue's. */
  readonly details: JsonObject;
}

/** Creates an error. */
export function problem(code: ErrorCode, details: JsonObject = {}, message?: string): Problem {
  return message === undefined ? { problem: code, details } : { problem: code, details, message };
}

export const isProblem = (value: object): value is Problem => 'problem' in value;

/** HTTP status of an error (docs/design/interface.md#7). */
export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code].status;
