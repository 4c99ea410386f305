/** Which web pages may call: a page that a browser was tricked into loading must not reach a service on its own machine. */

export interface OriginRules {
  /** Origins as browsers send them, e.g. `https://app.example`; `*` allows every page. */
  readonly allowed: readonly string[];
  /** Whether pages of this very machine may call, on any port. */
  readonly loopback: boolean;
}

/** What no browser sent has no origin, and is let in. */
export function isAllowedOrigin(origin: string | undefined, { allowed, loopback }: OriginRules): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  return loopback && LOOPBACK.test(origin);
}

const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** An origin in the form that browsers send it in, or `*`; null for any other text. */
export function readOrigin(text: string): string | null {
  if (text === '*') return text;
  if (!URL.canParse(text)) return null;
  const { origin, protocol, href } = new URL(text);
  // With a path or a user it is more than an origin.
  return /^https?:$/.test(protocol) && href === `${origin}/` ? origin : null;
}
