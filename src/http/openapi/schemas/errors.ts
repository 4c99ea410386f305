/**
 * Errors: one envelope, and for each code of the catalogue the schema of its details (docs/design/interface.md#2.9 and
 * #7).
 */
import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../errors.ts';
import { PAYMENT_REJECTIONS, type PaymentRejection } from '../../../events/payment-rejections.ts';
import { ErrorMeta } from './meta.ts';
import { PaymentRequirements, PaymentRequirementsV1 } from './payment.ts';

export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as [ErrorCode, ...ErrorCode[]];

const Seconds = z.int().min(0);

export const Issue = z.object({
  parameter: z.string().nullable().describe('Null if the issue concerns the whole request.'),
  code: z.enum(ERROR_CODES),
  received: z.string().nullable().describe('At most the first 200 characters; null if nothing was sent.'),
  rule: z.string(),
  example: z.string().nullable(),
  pattern: z.string().optional(),
  suggestion: z.string().optional(),
  coverage: z.enum(['planned', 'unknown']).optional(),
  suggestions: z.array(z.string()).optional(),
  unknown: z.array(z.string()).optional(),
  allowed: z.array(z.string()).optional(),
});

/** What is known of a case before it is paid for. */
const STANDING = {
  known: z.boolean().nullable(),
  cache_age_seconds: Seconds.nullable(),
  source: z.string().nullable(),
};

/** By name: a name means the same under every code. */
const DETAILS: Readonly<Record<string, z.ZodType>> = {
  parameters: z.array(z.string()),
  issues: z.array(Issue),
  received: z.string(),
  pattern: z.string(),
  example: z.string().nullable(),
  suggestion: z.string().nullable(),
  reason: z.string(),
  refused: z.object({ code: z.string(), reason: z.string().nullable() }),
  amount_usdc: z.string().regex(/^\d+\.\d{2,6}$/),
  accepts: z.array(PaymentRequirements),
  shortfall: z.string().regex(/^\d+$/),
  shortfall_usd: z.string(),
  chain_error: z.string(),
  transaction: z.string().nullable(),
  enqueued: z.boolean(),
  retry_after: Seconds.nullable(),
  candidates: z.array(z.string()),
  allow: z.array(z.string()),
  allowed_courts: z.array(z.string()),
  result_hint: z.string().nullable(),
  successor: z.string(),
  limit: z.int().min(0),
  coverage: z.enum(['planned', 'unknown']),
  suggestions: z.array(z.string()),
  window: z.enum([
    'minute',
    'day',
    'payment',
    'settlement_failures',
    'payments_under_way',
    'first_payments',
    'unknown_blockhashes',
    'address',
    'result',
    'push_requests',
    'push_bytes',
    'push_uploads',
  ]),
  component: z.string(),
  sponsorship_paused_for: z.enum(['new', 'all']),
  sponsorship_retry_after: Seconds,
  ...STANDING,
  cases: z.array(z.object({ case_id: z.string(), court_code: z.string(), ...STANDING })),
  charging: z.string(),
};

/** An enumeration that may grow: today's values, or any other text. */
const RejectionReason = z.union([
  z.enum(Object.keys(PAYMENT_REJECTIONS) as [PaymentRejection, ...PaymentRejection[]]),
  z.string(),
]);

function errorObjectOf(code: ErrorCode) {
  const { message, details } = ERROR_CATALOGUE[code];
  const own = Object.entries(details).map(([name, meaning]): [string, z.ZodType] => {
    const schema = DETAILS[name];
    if (!schema) throw new Error(`the details of ${code} have no schema for ${name}`);
    const own = code === 'payment_rejected' && name === 'reason' ? RejectionReason : schema;
    return [name, own.optional().describe(meaning)];
  });
  return z
    .object({
      code: z.literal(code),
      message: z.string(),
      documentation_url: z.url(),
      details: z.object({
        charged: z.literal(false).describe('Errors are never charged.'),
        hint: z.string().describe('What to do.'),
        ...Object.fromEntries(own),
      }),
    })
    .describe(message);
}

const inPascalCase = (code: string): string =>
  code
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

export const errorName = (code: ErrorCode): string => `${inPascalCase(code)}Error`;

const byCode = <Value>(value: (code: ErrorCode) => Value): Readonly<Record<ErrorCode, Value>> =>
  Object.fromEntries(ERROR_CODES.map((code) => [code, value(code)])) as Record<ErrorCode, Value>;

/** The object under `error`, for each code. */
export const ERROR_OBJECTS = byCode(errorObjectOf);

/** The whole error answer, for each code. */
export const ERROR_ENVELOPES = byCode((code) => z.object({ meta: ErrorMeta, error: ERROR_OBJECTS[code] }));

/** The same in version 1, which has no `meta`. */
export const V1_ERROR_ENVELOPES = byCode((code) => z.object({ error: ERROR_OBJECTS[code] }));

export const ErrorObject = z
  .union(ERROR_CODES.map((code) => ERROR_OBJECTS[code]))
  .describe('The error object of any code.');

const TERMS_OF_V1 = {
  x402Version: z.literal(1),
  accepts: z.array(PaymentRequirementsV1).min(1).max(1).describe('The terms in the form of x402 v1.'),
};

/** Named components: clients distinguish them by their `code`. */
const asksForPayment = z.union([
  ERROR_OBJECTS.payment_required,
  ERROR_OBJECTS.payment_rejected,
  ERROR_OBJECTS.settlement_failed,
]);

/** A 402 with terms, which is also the body that clients of x402 v1 read. */
export const PaymentRequiredAnswer = z.object({ ...TERMS_OF_V1, meta: ErrorMeta, error: asksForPayment });
export const V1PaymentRequiredAnswer = z.object({ ...TERMS_OF_V1, error: asksForPayment });
