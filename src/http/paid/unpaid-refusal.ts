/** What an unpaid refusal may reveal. */
import type { Problem } from '../../errors.ts';

/**
 * The refusal without the numbers of known cases. They are part of charged answers only: a refusal is free, so whoever
 * sent numbers without their office would get the inventory of a court for nothing.
 */
export function unpaidRefusal(refusal: Problem): Problem {
  if (!('candidates' in refusal.details)) return refusal;
  const { candidates: _, ...details } = refusal.details;
  return { ...refusal, details };
}
