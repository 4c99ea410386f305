import { describe, expect, it } from 'vitest';
import type { Loaded } from '../../../src/commands/handle.ts';
import {
  CLAIM_LIFE,
  type IdentifierClaim,
  paymentIdentifier,
  standingOf,
} from '../../../src/commands/payment/identifier.ts';
import { type Payment, payment } from '../../../src/commands/payment/payment.ts';
import {
  PaymentAuthorized,
  type PaymentEvent,
  PaymentIdClaimed,
  type PaymentIdentifierEvent,
} from '../../../src/events/payment.ts';
import { given } from '../../given-when-then.ts';
import {
  answered,
  authorization,
  claimed,
  expired,
  failedOnChain,
  givenBack,
  REQUEST,
  rolledBack,
  settled,
  settledLate,
  submitted,
  takenOver,
} from './payment.fixtures.ts';

const HASH = 'd'.repeat(64);
const first: IdentifierClaim = {
  payment: '1'.repeat(64),
  requestId: REQUEST,
  requestHash: 'a'.repeat(64),
  expected: -1,
};
const second: IdentifierClaim = { ...first, payment: '2'.repeat(64) };
const when = (...history: readonly PaymentIdentifierEvent[]) => given(paymentIdentifier, ...history);
const claim = (of: IdentifierClaim, formerEnded = false) => ({ type: 'Claim', claim: of, formerEnded }) as const;

describe('a payment identifier', () => {
  it('that was never used belongs to the first payment that claims it', () => {
    when().when(claim(first)).then(PaymentIdClaimed.of(first));
  });
  it('belongs to one payment while that one may still be charged', () => {
    when(PaymentIdClaimed.of(first)).when(claim(second)).thenRejected('claimed');
  });
  it('may belong to another once the previous payment has ended', () => {
    when(PaymentIdClaimed.of(first)).when(claim(second, true)).then(PaymentIdClaimed.of(second));
  });
  it('belongs to one request, regardless of its outcome', () => {
    const other = { ...second, requestHash: 'b'.repeat(64) };
    for (const ended of [true, false])
      when(PaymentIdClaimed.of(first)).when(claim(other, ended)).thenRejected('other_request');
  });
  it('is not claimed again by a repeat of the same attempt', () => {
    when(PaymentIdClaimed.of(first)).when(claim(first)).then();
  });
  it('is claimed again for the same payment after that was released', () => {
    const again = { ...first, expected: 2 };
    when(PaymentIdClaimed.of(first)).when(claim(again)).thenRejected('claimed');
    when(PaymentIdClaimed.of(first)).when(claim(again, true)).then(PaymentIdClaimed.of(again));
  });
});

describe('what a claim means', () => {
  const mine = PaymentAuthorized.of({ ...authorization, identifierHash: HASH });
  const bought = [mine, answered, submitted] as const;
  const standing = (history: readonly PaymentEvent[], { expected = -1, age = 0 } = {}) => {
    const state = history.reduce<Payment>(payment.evolve, payment.initialState);
    const at: Loaded<Payment> = { state, head: { revision: history.length - 1, hash: 'x' } };
    return standingOf(HASH, { ...first, expected }, 1_000, at, 1_000 + age);
  };

  it.each<readonly [string, readonly PaymentEvent[], string]>([
    ['nothing yet', [], 'under_way'],
    ['submitted', bought, 'submitted'],
    ['settled', [...bought, settled], 'submitted'],
    ['expired', [...bought, expired], 'ended'],
    ['failed on chain', [...bought, failedOnChain], 'ended'],
    ['settled in the end', [...bought, expired, settledLate], 'submitted'],
    ['rolled back', [...bought, settled, rolledBack], 'ended'],
    ['taken over', [takenOver], 'ended'],
    ['released by a copy whose query failed', givenBack, 'ended'],
    ['submitted without this identifier', claimed, 'ended'],
  ])('%s', (_title, history, expected) => expect(standing(history)).toBe(expected));

  it('a payment that was released before the claim counts as never presented', () => {
    expect(standing(givenBack, { expected: givenBack.length - 1 })).toBe('under_way');
    expect(standing([...givenBack, takenOver], { expected: givenBack.length - 1 })).toBe('ended');
  });
  it('after a minute without a submission it is abandoned', () => {
    expect(standing([], { age: CLAIM_LIFE - 1 })).toBe('under_way');
    expect(standing([], { age: CLAIM_LIFE })).toBe('abandoned');
    expect(standing([...bought], { age: CLAIM_LIFE })).toBe('submitted');
  });
  it('if a clock that has since been set back by more than a minute claimed it, it is abandoned too', () => {
    expect(standing([], { age: 1 - CLAIM_LIFE })).toBe('under_way');
    expect(standing([], { age: -CLAIM_LIFE })).toBe('abandoned');
  });
});
