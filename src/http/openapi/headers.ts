/** Response headers by name, with their descriptions and schemas. */
import type { JsonObject } from '../../events/event.ts';

/** A header as OpenAPI describes it. */
export type DescribedHeader = { readonly description: string; readonly schema: JsonObject };

const text = { type: 'string' };
const number = { type: 'integer', minimum: 0 };
const header = (description: string, schema: JsonObject = text): DescribedHeader => ({ description, schema });

export const RESPONSE_HEADERS = {
  'X-Request-Id': header('Id of this request, also in our logs.', { type: 'string', format: 'uuid' }),
  'PAYMENT-REQUIRED': header('Terms of x402 v2: base64 of JSON.'),
  'X-Payment-Requirements': header('Terms for a self-paid transfer, whose network fee the wallet pays: JSON.'),
  'PAYMENT-RESPONSE': header('Receipt of an x402 v2 payment or a self-paid transfer: base64 of JSON.'),
  'X-PAYMENT-RESPONSE': header('Receipt of an x402 v1 payment or a self-paid transfer: base64 of JSON.'),
  'Content-Location': header('Where to fetch this answer again for free, for 30 days.'),
  'X-Service-Delivery': header(
    'For an answer that is also sent to a callback: id, first_attempt_by and gives_up_at of the delivery (RFC 8941 dictionary). In a batch, id-N is the delivery of the result at index N, counted from 0.',
  ),
  'RateLimit-Limit': header('Requests allowed in the tighter of the two windows.', number),
  'RateLimit-Remaining': header('Requests left in that window.', number),
  'RateLimit-Reset': header('Seconds until that window resets.', number),
  'Server-Timing': header('Milliseconds spent to verify, query and settle.'),
  'Retry-After': header('Seconds to wait.', number),
  Allow: header('Methods that this path accepts.'),
  ETag: header('Validator of exactly these bytes.'),
  Location: header('Address of the page.'),
  Deprecation: header('Since when version 1 is deprecated (RFC 9745).'),
  Sunset: header('When version 1 ends (RFC 8594).'),
  Link: header('The version 2 endpoint that replaces it: rel="successor-version".'),
} as const satisfies Readonly<Record<string, DescribedHeader>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;

export const headerRef = (name: ResponseHeaderName): JsonObject => ({ $ref: `#/components/headers/${name}` });
