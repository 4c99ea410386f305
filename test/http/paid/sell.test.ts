/** The order of checks: given what a request brings, these steps are made, in this order, and no other. */
import { describe, expect, it } from 'vitest';
import { type Problem, problem } from '../../../src/errors.ts';
import type { Bought, Buying, VerifiedPayment } from '../../../src/http/paid/buy.ts';
import type { PaidRoute } from '../../../src/http/paid/paid-call.ts';
import { type PaidRequest, requested, sell } from '../../../src/http/paid/sell.ts';
import type { PresentedPayment } from '../../../src/http/x402/payment-header.ts';

const invalid = problem('invalid_parameter');
const unsound = problem('payment_rejected', { reason: 'amount_mismatch' });

interface Brought {
  readonly name: string;
  readonly parameters?: 'sound' | Problem;
  readonly sandbox?: boolean;
  readonly payment?: 'sound' | 'unsound' | 'none';
  /** Whether the request has nothing in it. */
  readonly bare?: boolean;
}

/** What is done for a request that asks for these answers. */
async function salesOf(brought: readonly Brought[], faults: Partial<PaidRequest> = {}) {
  const steps: string[] = [];
  const buying: Buying = {
    async verify(payment, { purpose }) {
      steps.push(`verify ${purpose.call}`);
      return (payment as { readonly sound?: boolean }).sound ? ({ for: purpose.call } as never) : unsound;
    },
    async buy({ payment }) {
      steps.push(`buy ${(payment as unknown as { readonly for: string }).for}`);
      return { outcome: { outcome: 'settled' } } as unknown as Bought;
    },
  };
  const answers = brought.map(({ name, parameters = 'sound', sandbox = false, payment = 'sound', bare = false }) => {
    const route = {
      sandbox: () => (sandbox ? () => `${name} from fixtures` : null),
      async beforePayment() {
        steps.push(`tell what is known of ${name}`);
        return { known: true };
      },
    } as unknown as PaidRoute<object>;
    return requested<object, string>(buying, {
      route,
      requestId: name,
      read() {
        steps.push(`read ${name}`);
        return parameters === 'sound' ? {} : parameters;
      },
      terms() {
        steps.push(`make the terms of ${name}`);
        return name;
      },
      bareTerms: () => (bare ? `${name} of nobody` : null),
      asked: () => ({
        amount: 1n,
        purpose: { word: 'case', call: name, publicUrl: 'https://dockets.example', request: null },
      }),
      payment() {
        steps.push(`read the payment for ${name}`);
        return payment === 'none' ? null : ({ sound: payment === 'sound' } as unknown as PresentedPayment);
      },
    });
  });
  const request: PaidRequest = {
    tag: null,
    startedAt: 0,
    address: () => null,
    isAbandoned: () => false,
    ...faults,
  };
  return { sale: await sell(buying, request, answers), steps };
}

describe('a request for one answer', () => {
  it('is sold: parameters, payment, soundness, purchase', async () => {
    const { sale, steps } = await salesOf([{ name: 'a' }]);
    expect(sale).toMatchObject({ sale: 'bought', bought: [{ terms: 'a' }] });
    expect(steps).toEqual(['read a', 'read the payment for a', 'make the terms of a', 'verify a', 'buy a']);
  });

  it('with invalid parameters has no payment read', async () => {
    const { sale, steps } = await salesOf([{ name: 'a', parameters: invalid }]);
    expect([sale, steps]).toEqual([{ sale: 'invalid', problem: invalid }, ['read a']]);
  });

  it('without any parameter gets the terms instead of its errors', async () => {
    const { sale, steps } = await salesOf([{ name: 'a', parameters: invalid, bare: true }]);
    expect([sale, steps]).toEqual([{ sale: 'unpaid', missing: ['a of nobody'], known: undefined }, ['read a']]);
  });

  it('in the sandbox has no payment read and no terms made', async () => {
    const { sale, steps } = await salesOf([{ name: 'a', sandbox: true, payment: 'unsound' }]);
    expect(sale).toMatchObject({ sale: 'rehearsed', callbacks: [] });
    expect(steps).toEqual(['read a']);
  });

  it('without a payment gets what is known before it pays', async () => {
    const { sale, steps } = await salesOf([{ name: 'a', payment: 'none' }]);
    expect(sale).toEqual({ sale: 'unpaid', missing: ['a'], known: { known: true } });
    expect(steps).toEqual(['read a', 'read the payment for a', 'tell what is known of a', 'make the terms of a']);
  });

  it('with an invalid payment buys nothing', async () => {
    const { sale, steps } = await salesOf([{ name: 'a', payment: 'unsound' }]);
    expect(sale).toEqual({ sale: 'refused', problem: unsound, terms: 'a' });
    expect(steps.at(-1)).toBe('verify a');
  });
});

describe('a request that is in the sandbox in part', () => {
  it('is a defect and never sold', async () => {
    await expect(salesOf([{ name: 'a', sandbox: true }, { name: 'b' }])).rejects.toThrow('in part');
  });
});

describe('a request for two answers', () => {
  it('is sold step by step: both pass steps 2 to 5 before either is bought', async () => {
    const { sale, steps } = await salesOf([{ name: 'a' }, { name: 'b' }]);
    expect(sale).toMatchObject({ sale: 'bought', bought: [{ terms: 'a' }, { terms: 'b' }] });
    const each = (step: string) => [`${step} a`, `${step} b`];
    expect(steps.filter((step) => !step.startsWith('make'))).toEqual(
      ['read', 'read the payment for', 'verify', 'buy'].flatMap(each),
    );
  });

  it.each<[string, Partial<Brought>, object]>([
    ['invalid', { parameters: invalid }, { sale: 'invalid' }],
    ['not paid', { payment: 'none' }, { sale: 'unpaid', missing: ['b'] }],
    ['paid with an invalid payment', { payment: 'unsound' }, { sale: 'refused', terms: 'b' }],
  ])('buys neither where the second is %s', async (_title, second, expected) => {
    const { sale, steps } = await salesOf([{ name: 'a' }, { name: 'b', ...second }]);
    expect(sale).toMatchObject(expected);
    expect(steps.filter((step) => step.startsWith('buy'))).toEqual([]);
  });

  it('buys neither where their payments cannot be used, or cannot go together', async () => {
    const both = [{ name: 'a' }, { name: 'b' }];
    const fault = await salesOf(both, { paymentFault: () => invalid });
    expect([fault.sale, fault.steps]).toEqual([
      { sale: 'refused', problem: invalid, terms: null },
      ['read a', 'read b'],
    ]);
    const pairFault = (payments: readonly VerifiedPayment[]) => (payments.length === 2 ? invalid : null);
    const pair = await salesOf(both, { pairFault });
    expect(pair.sale).toEqual({ sale: 'refused', problem: invalid, terms: null });
    expect(pair.steps.at(-1)).toBe('verify b');
  });
});
