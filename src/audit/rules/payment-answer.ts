/** Whether what was recorded as the answer is one of the call that was paid for. */
import type { PaymentEvent } from '../../events/payment.ts';
import type { Findings, JudgedEvent } from '../judging.ts';
import { isDowngraded, isEarlier } from './earlier.ts';

/** The calls that answer with keys, which are stored nowhere. They have had these names since the first was sold. */
const KEY_CALLS: ReadonlyMap<string, 'show' | 'rotate'> = new Map([
  ['GET /v2/wallet/keys', 'show'],
  ['POST /v2/wallet/keys', 'rotate'],
]);

type Answered = Extract<PaymentEvent, { readonly type: 'QueryAnswered' }>['data'];

/**
 * A call on keys needs no stored bytes. So a failed query that is recorded as one would be charged for nothing.
 * @param endpoint what was authorized; null if that is not known
 */
export function judgeAnswer(
  { answer, keyCall }: Pick<Answered, 'answer' | 'keyCall'>,
  endpoint: string | null,
  judged: JudgedEvent,
  findings: Findings,
): void {
  if (answer === null && keyCall === null) {
    findings.breach('charge_has_answer', 'stored bytes, or a call on keys', 'neither');
    return;
  }
  if (endpoint === null) return;
  const sold = KEY_CALLS.get(endpoint) ?? null;
  const does = keyCall?.does ?? null;
  // An older schema than that of its time is a breach by itself.
  if (does === sold || (does === null && (isEarlier(judged) || isDowngraded(judged)))) return;
  findings.breach('charge_has_answer', `${named(sold)} for ${endpoint}`, named(does));
}

const named = (does: string | null): string => (does === null ? 'stored bytes' : `a call on keys (${does})`);
