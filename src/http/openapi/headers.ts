/** Headers of answers, by name: what they say, and how each is written. */
import type { JsonObject } from '../../events/event.ts';

/** As OpenAPI writes a header. */
export type DescribedHeader = { readonly description: string; readonly schema: JsonObject };

const text = { type: 'string' };
const number = { type: 'integer', minimum: 0 };
const header = (description: string, schema: JsonObject = text): DescribedHeader => ({ description, schema });

export const RESPONSE_HEADERS = {
  'X-Request-Id': header('Id of this request; it is in our log.', { type: 'string', format: 'uuid' }),
  'PAYMENT-REQUIRED': header('Terms of x402 v2: base64 of JSON.'),
  'X-Payment-Requirements': header('Terms for a transfer that the wallet signs and pays the fee of itself: JSON.'),
  'PAYMENT-RESPONSE': header('Receipt of a payment by x402 v2 or by a self-paid transfer: base64 of JSON.'),
  'X-PAYMENT-RESPONSE': header('Receipt of a payment by x402 v1 or by a self-paid transfer: base64 of JSON.'),
  'Content-Location': header('Where this answer can be fetched again, free, for 30 days.'),
  'X-Service-Delivery': header(
    'Of an answer that is also pushed: id, first_attempt_by and gives_up_at of the delivery (RFC 8941 dictionary). In a batch id-N is the delivery of the result at index N, from 0.',
  ),
  'RateLimit-Limit': header('Requests that the tighter of the two windows allows.', number),
  'RateLimit-Remaining': header('Requests that are left in it.', number),
  'RateLimit-Reset': header('Seconds until it resets.', number),
  'Server-Timing': header('Milliseconds: verify, query, settle.'),
  'Retry-After': header('Seconds to wait.', number),
  Allow: header('Methods that this address takes.'),
  ETag: header('Validator of exactly these bytes.'),
  Location: header('Where the page is.'),
  Deprecation: header('Since when version 1 is deprecated (RFC 9745).'),
  Sunset: header('When version 1 ends (RFC 8594).'),
  Link: header('What takes its place: rel="successor-version".'),
} as const satisfies Readonly<Record<string, DescribedHeader>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;

export const headerRef = (name: ResponseHeaderName): JsonObject => ({ $ref: `#/components/headers/${name}` });
