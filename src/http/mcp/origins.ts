import { parseUrl } from '../../runtime/parse-url.ts';
/**
 * Which web pages may call. A malicious page must not use a visitor's browser to reach a service on the visitor's
 * machine.
 */

export interface OriginRules {
  /** Origins as browsers send them, e.g. `https://app.example`; `*` allows every page. */
  readonly allowed: readonly string[];
  /** Whether pages served from this machine may call, on any port. */
  readonly loopback: boolean;
}

/** A request without an origin does not come from a browser and is allowed. */
export function isAllowedOrigin(origin: string | undefined, { allowed, loopback }: OriginRules): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  return loopback && LOOPBACK.test(origin);
}

const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** An origin in the form in which browsers send it, or `*`; null for any other text. */
export function readOrigin(text: string): string | null {
  if (text === '*') return text;
  const url = parseUrl(text);
  if (url === null) return null;
  const { origin, protocol, href } = url;
  // A text with a path or a user is not an origin.
  return /^https?:$/.test(protocol) && href === `${origin}/` ? origin : null;
}
