import { describe, expect, it } from 'vitest';
import { usedProblem } from '../../../src/commands/payment/claim.ts';
import { payment } from '../../../src/commands/payment/payment.ts';
import { problem } from '../../../src/errors.ts';
import { toolError } from '../../../src/http/mcp/refusal.ts';
import { service } from '../serving.ts';

const told = (refused: ReturnType<typeof problem>, argument?: string) =>
  toolError(service, { tool: 'service_case_query', requestId: 'r', ...(argument ? { argument } : {}) }, refused)
    .next_step;

it('an error for a damaged answer says what is free, and what costs again', () => {
  const step = told(problem('result_damaged', { transaction: 'abc' }));
  expect(step).toMatch(/^Nothing was charged\. Sending the same call again charges nothing/);
  expect(step).toMatch(/For an answer now: .*new payment/);
});

describe('a used payment', () => {
  it('is never to be replaced while its own call may still be charged', () => {
    const underWay = usedProblem(payment.initialState);
    for (const argument of [undefined, 'payment_tx_keys', 'payment_tx_deliveries']) {
      const step = told(underWay, argument);
      expect(step).toMatch(/Do not pay again/);
      expect(step).toMatch(/Wait 1 second, then send the same call/);
      expect(step).not.toMatch(/has bought an answer|new payment/);
      expect(step.match(/not pay/g), 'said once').toHaveLength(1);
    }
  });

  it('is to be replaced once it has bought', () => {
    const step = told(problem('payment_already_used', { transaction: 'abc', retry_after: 1 }));
    expect(step).toMatch(/has bought an answer already/);
    expect(step).toMatch(/instructions for a new payment/);
  });
});
