/** Forks: what the cluster says of a transaction may change until it is final, and a payment ends as the last word says. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { load } from '../../src/commands/handle.ts';
import { isSubmitted, payment } from '../../src/commands/payment/payment.ts';
import { PaymentSubmitted } from '../../src/events/payment.ts';
import { MICROS_PER_SECOND } from '../../src/runtime/instant.ts';
import type { SignatureStatus } from '../../src/solana/chain.ts';
import { openWorld, USDC, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ paidBefore: true, slotMs: 100, patience: { settlementMs: 300, rebroadcastMs: 60 } });
});
afterAll(() => world.close());

const ERROR = '{"InstructionError":[2,{"Custom":1}]}';
/** What one fork says of a transaction; null where it is not in it. */
const said = fc.constantFrom<SignatureStatus | null>(
  null,
  { slot: 5, commitment: 'processed', error: null },
  { slot: 5, commitment: 'processed', error: ERROR },
  { slot: 5, commitment: 'confirmed', error: null },
  { slot: 5, commitment: 'confirmed', error: ERROR },
);
const lastWord = fc.constantFrom<SignatureStatus | null>(
  null,
  { slot: 6, commitment: 'finalized', error: null },
  { slot: 6, commitment: 'finalized', error: ERROR },
);
const FORKS = 8;
const PAYMENTS = 30;
const histories = fc.array(
  fc.record({ forks: fc.array(said, { minLength: FORKS, maxLength: FORKS }), last: lastWord }),
  { minLength: PAYMENTS, maxLength: PAYMENTS },
);

it('whatever forks say before, a payment ends as what is final says, and is answered if it landed', async () => {
  const [plan = []] = fc.sample(histories, 1);
  const byTransaction = new Map<string, (typeof plan)[number]>();
  const historyOf = (transaction: string) => {
    const known = byTransaction.get(transaction) ?? plan[byTransaction.size];
    if (!known) throw new Error('more transactions than payments');
    byTransaction.set(transaction, known);
    return known;
  };
  let fork = 0;
  const isFinal = () => fork >= FORKS;
  world.disturb({
    send: async () => ({ sent: true }),
    signatureStatus: async (transaction) => {
      const { forks, last } = historyOf(transaction);
      return isFinal() ? last : (forks[fork] ?? null);
    },
    blockHeight: async () => (isFinal() ? Number.MAX_SAFE_INTEGER : 1),
    historyFrom: async () => 0,
  });
  // By a clock of its own, so that nothing has to be waited for.
  let laterSeconds = 60;
  const round = async () => {
    await world.runner.waitFor('payments', (await world.storage.log.head()) ?? '', 30_000);
    laterSeconds += 60;
    return world.recoverLater(laterSeconds * MICROS_PER_SECOND).round();
  };

  const wallets = await Promise.all(plan.map(() => world.wallet(USDC)));
  const calls = wallets.map(async (wallet, index) => {
    await sleep(index * 20);
    return world.get('/v2/case?q=a', world.pay(wallet));
  });
  for (; fork < FORKS; fork++) {
    await sleep(100);
    if (byTransaction.size > 0) await round();
  }
  expect((await Promise.all(calls)).every(({ status }) => [200, 202, 402].includes(status))).toBe(true);
  // The last of what is seen late is looked at for finality two rounds later.
  for (let rounds = 0; rounds < 5; rounds++) await round();

  const submitted = (await world.events()).filter(({ type }) => type === PaymentSubmitted.type);
  expect(submitted).toHaveLength(PAYMENTS);
  for (const { stream } of submitted) {
    const { state } = await load(world.storage.log, payment, stream);
    if (!isSubmitted(state)) throw new Error(`${stream} is ${state.status}`);
    const history = historyOf(state.submission.transaction);
    const hasLanded = history.last !== null && history.last.error === null;
    const result = await world.get(world.resultPath(state.authorization.requestId));
    expect([result.status, state.status], JSON.stringify(history)).toEqual(
      hasLanded ? [200, 'settled'] : [402, expect.stringMatching(/^(failed|rolled_back)$/)],
    );
    if (state.status === 'settled') expect(state.finalized).toBe(true);
  }
}, 60_000);
