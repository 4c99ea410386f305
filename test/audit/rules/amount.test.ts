/** Given a payment for a number of queries, when it is judged, then only a batch may have several, as many as are sold. */
import { expect, it } from 'vitest';
import type { JudgedEvent } from '../../../src/audit/judging.ts';
import { judgeAmount, MOST_QUERIES } from '../../../src/audit/rules/payment-amount.ts';
import { priceOf } from '../../../src/commands/purchase/price.ts';
import { MAX_BATCH_SIZE } from '../../../src/http/parameters/batch-request.ts';

/** What is found in a payment of the right price. */
function found(endpoint: string, queries: number): readonly string[] {
  const breaches: string[] = [];
  const findings = { breach: (rule: string) => breaches.push(rule), state: () => {}, unprovable: () => {} };
  const event = { metadata: { commandId: 'one', schemaVersion: 2 } } as unknown as JudgedEvent;
  const data = { amount: String(priceOf(queries)), queries, endpoint };
  judgeAmount(data as Parameters<typeof judgeAmount>[0], event, findings);
  return breaches;
}

it('is one query, or a batch of as many as the service accepts', () => {
  expect(MOST_QUERIES).toBe(MAX_BATCH_SIZE);
  expect(found('GET /v2/case', 1)).toEqual([]);
  expect(found('POST /v2/cases/batch', 1)).toEqual([]);
  expect(found('POST /v2/cases/batch', MOST_QUERIES)).toEqual([]);
});

it.each([
  ['POST /v2/cases/batch', MAX_BATCH_SIZE + 1],
  ['GET /v2/case', 3],
  ['POST /v2/wallet/keys', 2],
  ['an endpoint that does not exist', 2],
])('is in breach for %s with %i queries', (endpoint, queries) => {
  expect(found(endpoint, queries)).toEqual(['amount_exact']);
});
