/** After a long outage an endpoint may have forgotten what became of a payment: then "unknown" does not mean "never". */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { dyingAt, until } from './steering.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  // A blockhash ends after 150 slots: soon, but not before its payment is sent on a machine that pauses.
  world = await openWorld({ paidBefore: true, slotMs: 30, endpoints: 2 });
});
afterAll(() => world.close());

describe('a payment that landed unseen, unknown to one endpoint and beyond the history of the other', () => {
  it('stays pending with an alarm, and is answered once an endpoint knows the outcome', async () => {
    const wallet = await world.wallet();
    const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, 'after the broadcast') }));
    world.get('/v2/case?q=a', world.pay(wallet), node).catch(() => undefined);
    const submitted = await until(world.events, (events) => events.at(-1)?.type === 'PaymentSubmitted');
    const { lastValidBlockHeight } = submitted.at(-1)!.data as { lastValidBlockHeight: number };
    await until(
      () => world.tokens(wallet.publicKey),
      (held) => held === 20_000_000n - 990_000n,
    );
    await until(
      () => world.chain.blockHeight('finalized'),
      (height) => height > lastValidBlockHeight,
    );
    for (const endpoint of world.endpoints) {
      endpoint.fault = ({ method }) => {
        if (method === 'getFirstAvailableBlock') return { type: 'result', result: lastValidBlockHeight - 10 };
        if (method !== 'getSignatureStatuses') return { type: 'pass' };
        return { type: 'alter', change: (result) => ({ ...(result as object), value: [null] }) };
      };
    }
    const recovery = world.recoverLater();
    for (let round = 0; round < 2; round++) expect(await recovery.round()).toMatchObject({ pending: 1, failed: 0 });
    expect(world.alarms.filter(({ alarm }) => alarm === 'payment_history_pruned')).toHaveLength(1);
    for (const endpoint of world.endpoints) endpoint.fault = () => ({ type: 'pass' });
    expect(await recovery.round()).toMatchObject({ settled: 1 });
  });
});
