/** What a payment pays for: one query, or a batch of queries. */
import { priceOf } from '../../commands/purchase/price.ts';
import type { PaymentEvent } from '../../events/payment.ts';
import type { Findings, JudgedEvent } from '../judging.ts';
import { counted } from './compare.ts';
import { isDowngraded, isEarlier } from './earlier.ts';

/** The only call that asks more than one query, and how many. Both have been so since the first batch was sold. */
const BATCH = 'POST /v2/cases/batch';
export const MOST_QUERIES = 50;

type Authorized = Extract<PaymentEvent, { readonly type: 'PaymentAuthorized' }>['data'];

export function judgeAmount({ amount, queries, endpoint }: Authorized, judged: JudgedEvent, findings: Findings): void {
  if (queries !== null) {
    const most = endpoint === BATCH ? MOST_QUERIES : 1;
    if (queries > most) {
      findings.breach('amount_exact', `at most ${counted(most, 'query', 'queries')} of ${endpoint}`, `${queries}`);
      return;
    }
    const expected = priceOf(queries);
    if (BigInt(amount) !== expected)
      findings.breach('amount_exact', `${expected} for ${counted(queries, 'query', 'queries')}`, amount);
    return;
  }
  if (isDowngraded(judged)) return;
  if (!isEarlier(judged)) {
    findings.breach('amount_exact', 'the number of queries that the amount pays for', 'none');
    return;
  }
  // Earlier versions did not record how many queries a batch had.
  const isPrice = BigInt(amount) > 0n && BigInt(amount) % priceOf(1) === 0n;
  if (!isPrice) findings.breach('amount_exact', `a multiple of ${priceOf(1)}`, amount);
  else if (endpoint.includes('batch')) findings.unprovable('amount_exact');
  else if (BigInt(amount) !== priceOf(1)) findings.breach('amount_exact', `${priceOf(1)} for one query`, amount);
}
