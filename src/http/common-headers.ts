/** Headers that every answer of the public port carries. */
import type { FastifyReply } from 'fastify';

/** What a script in a browser may read of an answer (`http-api.md`, Beyond the specification). */
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
].join(', ');

/** An answer is data and never a document: a browser shown one runs nothing from it. */
export const JSON_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";

/**
 * Any page may call the service: a caller is known by the payment it signs and by nothing that a browser would add
 * by itself, so there is no session that another site could ride on.
 */
const ALWAYS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': JSON_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Two years: browsers that met the service over https never fall back to http. */
const OVER_HTTPS = { ...ALWAYS, 'strict-transport-security': 'max-age=63072000' };

/** The same object for the same kind of address: it must not be changed. */
export const commonHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith('https:') ? OVER_HTTPS : ALWAYS;

/** Completes an answer with them; what the answer says itself stays. */
export function setCommonHeaders(reply: FastifyReply): void {
  const common = commonHeaders(reply.server.answering.publicUrl);
  for (const name in common) if (!reply.hasHeader(name)) reply.header(name, common[name]);
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
