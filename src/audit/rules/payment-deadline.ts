/** Whether a payment has its outcome in time, and a settled one its finality (docs/design/audit.md#time-limits). */
import type { Payment } from '../../commands/payment/payment.ts';
import type { Instant, Micros } from '../../runtime/instant.ts';
import type { Findings } from '../judging.ts';
import type { RuleName } from './catalogue.ts';
import { OUTCOME_WITHIN } from './limits.ts';

const OUTCOMES: ReadonlySet<string> = new Set([
  'PaymentSettled',
  'PaymentSettledLate',
  'PaymentFailed',
  'PaymentFinalized',
  'PaymentRolledBack',
]);

/** The rule that limits how long the next outcome may take; null if none is awaited. */
export function awaited(known: Payment): RuleName | null {
  if (known.status === 'submitted') return 'outcome_in_time';
  return known.status === 'settled' && !known.finalized ? 'finality_in_time' : null;
}

/** An outcome that came does not hide that it came late. */
export function judgeOutcomeInTime(
  known: Payment,
  before: { readonly since: Instant; readonly passed: Micros | null },
  { type, recordedAt, passed }: { readonly type: string; readonly recordedAt: Instant; readonly passed: Micros | null },
  findings: Findings,
): void {
  const rule = OUTCOMES.has(type) ? awaited(known) : null;
  if (rule === null || passed === null || before.passed === null || passed - before.passed <= OUTCOME_WITHIN) return;
  findings.breach(rule, `an outcome within 24 hours of ${before.since}`, `one at ${recordedAt}`);
}
