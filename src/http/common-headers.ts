/** Headers that every answer carries. */
import type { FastifyReply } from 'fastify';
import { isV1, v1Headers } from './v1/sunset.ts';

/** Headers that a script in a browser may read (docs/design/interface.md#documentation). */
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

/** Answers are data, not documents: a browser that displays one runs nothing from it. */
const JSON_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Who may read the answers: any web page, or only operators. */
export type Audience = 'everybody' | 'operators';

const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy': JSON_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Any web page may call the service: callers are known only by the payment that they sign. A browser adds no
 * credentials by itself, so there is no session that another site could abuse.
 */
const CROSS_ORIGIN: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'cross-origin-resource-policy': 'cross-origin',
};

/** Two years: browsers that have used https once never fall back to http. */
const OVER_HTTPS = { 'strict-transport-security': 'max-age=63072000' };

const EVERYBODY_OVER_HTTP = { ...SECURITY, ...CROSS_ORIGIN };
const EVERYBODY_OVER_HTTPS = { ...EVERYBODY_OVER_HTTP, ...OVER_HTTPS };

/** Returns a shared object that must not be changed. */
export function commonHeaders(audience: Audience, publicUrl: string): Readonly<Record<string, string>> {
  if (audience === 'operators') return SECURITY;
  return publicUrl.startsWith('https:') ? EVERYBODY_OVER_HTTPS : EVERYBODY_OVER_HTTP;
}

/** Adds them to an answer; headers that the answer already has are kept. */
export function setCommonHeaders(reply: FastifyReply, audience: Audience): void {
  const { publicUrl } = reply.server.answering;
  const common = commonHeaders(audience, publicUrl);
  for (const name in common) if (!reply.hasHeader(name)) reply.header(name, common[name]);
  if (audience === 'everybody' && isV1(reply.request.url)) reply.headers(v1Headers(reply.request.url, publicUrl));
  reply.header('x-request-id', reply.request.id);
}

/** A list of header names as browsers send it; anything else is not reflected. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~,\- ]{1,2000}$/;

/** The headers of a preflight answer that depend on the request. */
export function setPreflightHeaders(reply: FastifyReply, methods: readonly string[]): void {
  const asked = reply.request.headers['access-control-request-headers'];
  reply.header('access-control-allow-methods', methods.join(', '));
  reply.header('access-control-max-age', '86400');
  reply.header('vary', 'Access-Control-Request-Headers');
  if (asked !== undefined && HEADER_NAMES.test(asked)) reply.header('access-control-allow-headers', asked);
}
