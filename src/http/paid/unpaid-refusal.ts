/** What an unpaid error may reveal. */
import type { Problem } from '../../errors.ts';

/**
 * The error without the numbers of known cases, which only charged answers contain. Errors are free, so callers could
 * otherwise list a court's cases by sending numbers without their office.
 */
export function unpaidRefusal(refusal: Problem): Problem {
  if (!('candidates' in refusal.details)) return refusal;
  const { candidates: _, ...details } = refusal.details;
  return { ...refusal, details };
}
