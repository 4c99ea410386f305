/** Headers that every answer carries. */
import type { FastifyReply } from 'fastify';
import { isV1, v1Headers } from './v1/sunset.ts';

/** What a script in a browser may read of an answer (docs/design/interface.md#documentation). */
const EXPOSED = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'X-Payment-Requirements',
  'Content-Location',
  'X-Service-Delivery',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
  'ETag',
  'Server-Timing',
  'Deprecation',
  'Sunset',
  'Link',
].join(', ');

/** An answer is data and never a document: a browser shown one runs nothing from it. */
export const JSON_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Who is answered: any page of the web, or operators alone. */
export type Audience = 'everybody' | 'operators';

const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy': JSON_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Any page may call the service: a caller is known by the payment it signs and by nothing that a browser would add
 * by itself, so there is no session that another site could ride on.
 */
const CROSS_ORIGIN: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'cross-origin-resource-policy': 'cross-origin',
};

/** Two years: browsers that met the service over https never fall back to http. */
const OVER_HTTPS = { 'strict-transport-security': 'max-age=63072000' };

const EVERYBODY_OVER_HTTP = { ...SECURITY, ...CROSS_ORIGIN };
const EVERYBODY_OVER_HTTPS = { ...EVERYBODY_OVER_HTTP, ...OVER_HTTPS };

/** The same object for the same circumstances: it must not be changed. */
export function commonHeaders(audience: Audience, publicUrl: string): Readonly<Record<string, string>> {
  if (audience === 'operators') return SECURITY;
  return publicUrl.startsWith('https:') ? EVERYBODY_OVER_HTTPS : EVERYBODY_OVER_HTTP;
}

/** Completes an answer with them; what the answer says itself stays. */
export function setCommonHeaders(reply: FastifyReply, audience: Audience): void {
  const { publicUrl } = reply.server.answering;
  const common = commonHeaders(audience, publicUrl);
  for (const name in common) if (!reply.hasHeader(name)) reply.header(name, common[name]);
  if (audience === 'everybody' && isV1(reply.request.url)) reply.headers(v1Headers(reply.request.url, publicUrl));
  reply.header('x-request-id', reply.request.id);
}

/** A list of header names as a browser sends it; anything else is not reflected. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~,\- ]{1,2000}$/;

/** The parts of an answer to a preflight that depend on its request. */
export function setPreflightHeaders(reply: FastifyReply, methods: readonly string[]): void {
  const asked = reply.request.headers['access-control-request-headers'];
  reply.header('access-control-allow-methods', methods.join(', '));
  reply.header('access-control-max-age', '86400');
  reply.header('vary', 'Access-Control-Request-Headers');
  if (asked !== undefined && HEADER_NAMES.test(asked)) reply.header('access-control-allow-headers', asked);
}
