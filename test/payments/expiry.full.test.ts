/** Payments whose blockhash ends before they land: what only waiting can decide. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { freeze } from './freezing.ts';
import { until } from './steering.ts';
import { answerFor, openWorld, type World } from './world.ts';

describe('a blockhash that ends first', () => {
  let world: World;
  /** What happens while the query is answered. */
  let meanwhile: (() => Promise<void>) | null = null;
  beforeAll(async () => {
    // 150 slots of 10 ms: a blockhash lives for a second and a half, and its end is final a third of a second later.
    world = await openWorld({
      paidBefore: true,
      slotMs: 10,
      patience: { rebroadcastMs: 200 },
      answer: async (question, call) => {
        await meanwhile?.();
        meanwhile = null;
        return answerFor(question, call);
      },
    });
  });
  afterAll(() => world.close());

  it('since the transaction never reached the cluster: 402, with nothing charged and no answer given', async () => {
    const payer = await world.wallet();
    world.disturb({ send: async () => ({ sent: true }) });
    const { result, spent } = await world.moved(payer, () => world.get('/v2/case?q=lost', world.pay(payer)));
    world.disturb();
    expect([result.status, result.json.error.code, spent]).toEqual([402, 'settlement_failed', 0n]);
    expect(result.json.error.details).toMatchObject({ charged: false, reason: 'expired' });
    expect(result.text).not.toContain('for ');
    expect((await world.events()).at(-1)?.type).toBe('PaymentFailed');
  });

  it('since the account was frozen, and later than a request waits: 202, and then 402 at the result URL', async () => {
    const wallet = await world.wallet();
    meanwhile = () => freeze(world, wallet.publicKey);
    const node = await world.serve(createPurchasing({ ...world.ports, patience: { settlementMs: 100 } }));
    const { result, spent } = await world.moved(wallet, async () => {
      const told = await world.get('/v2/case?q=secret', world.pay(wallet), node);
      await until(
        () => world.recoverLater().round(),
        ({ pending }) => pending === 0,
      );
      return told;
    });
    expect([result.status, spent]).toEqual([202, 0n]);
    const later = await world.get(world.resultPath(result.json.meta.request_id));
    expect([later.status, later.json.error.code]).toEqual([402, 'settlement_failed']);
    expect(later.headers.get('payment-required')).toBeNull();
    expect(later.text).not.toContain('secret');
  });
});
