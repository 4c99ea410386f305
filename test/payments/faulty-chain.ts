/** Whatever the chain's endpoints do: an answer is paid for once, or nothing moved, and its caller is told the truth. */
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { honest, MOODS, type Mood, type MoodName } from '../solana/chain-moods.ts';
import { until } from './steering.ts';
import { answerFor, openWorld, USDC, type World } from './world.ts';

export const EVERY_MOOD = Object.keys(MOODS) as MoodName[];

/** In these an endpoint is good for nothing before a payment is submitted. */
export const USELESS_MOODS = EVERY_MOOD.filter(
  (name) => !['slow', 'careless', 'denying', 'dropping', 'unconfirming'].includes(name),
);

/** Any signature: asked of all endpoints, it tells when each of them answers again. */
const NOBODYS = bs58.encode(Buffer.alloc(64, 7));

/**
 * The suite, with its slow parts for these moods.
 * @param before while a payment is checked
 * @param after once it is submitted
 */
export function describeFaultyChain(before: readonly MoodName[], after: readonly MoodName[]): void {
  let world: World;
  let wallet: Keypair;
  /** What the endpoints become while a query is answered: after the checks, before the claim and the broadcast. */
  let turnTo: Mood | null = null;
  /** The second one, where it is to be another than the first. */
  let turnSecondTo: Mood | null = null;
  beforeAll(async () => {
    world = await openWorld({
      paidBefore: true,
      // A payment lives for 150 of them: longer than endpoints are ever unwell here, on a slow machine too.
      slotMs: 60,
      endpoints: 2,
      patience: { settlementMs: 400, rebroadcastMs: 100 },
      answer: (question, call) => {
        if (turnTo) become(turnTo, turnSecondTo ?? turnTo);
        turnTo = null;
        turnSecondTo = null;
        return answerFor(question, call);
      },
    });
  });
  beforeEach(async () => {
    wallet = await world.wallet(10n * USDC);
  });
  afterAll(() => world.close());
  afterEach(async () => {
    become(honest, honest);
    // An endpoint that failed is left alone for a moment, unless it is known to answer again.
    await until(
      () =>
        world.chain.signatureStatus(NOBODYS, { unanimous: true }).then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    // What was handed out while they were unwell is old, and the next payment must live its whole life.
    await world.blockhashes.refresh();
  });

  const become = (...moods: readonly Mood[]) => {
    moods.forEach((mood, index) => {
      world.endpoints[index]!.fault = mood;
    });
  };
  const buy = (node?: string) => world.moved(wallet, () => world.get('/v2/case?q=moody', world.pay(wallet), node));

  describe('one endpoint of two', () => {
    it.each(EVERY_MOOD)('that is %s costs no caller anything: the other is asked', async (name) => {
      // On a machine that pauses, a settlement may take longer than this suite waits for one that never comes.
      const patience = { settlementMs: 20_000, rebroadcastMs: 100 };
      const node = await world.serve(createPurchasing({ ...world.ports, patience }));
      become(MOODS[name]);
      const { result, spent } = await buy(node);
      expect([result.status, spent]).toEqual([200, 990_000n]);
    });
  });

  describe('all endpoints before the payment is submitted', () => {
    it.each(before)('%s: 503, no query, uncharged', async (name) => {
      become(MOODS[name], MOODS[name]);
      const asked = world.asked.length;
      const { result, spent } = await buy();
      expect([result.status, result.json.error.code, result.json.error.details.component, spent]).toEqual([
        503,
        'service_unavailable',
        'chain',
        0n,
      ]);
      expect(world.asked.length).toBe(asked);
    });
  });

  describe('all endpoints once the payment is submitted', () => {
    it.each(after)(
      '%s: never a refusal; the answer is there once they have recovered, for one charge',
      async (name) => {
        turnTo = MOODS[name];
        const { result, spent } = await world.moved(wallet, async () => {
          const told = await world.get('/v2/case?q=moody', world.pay(wallet));
          expect([200, 202], told.text).toContain(told.status);
          become(honest, honest);
          await until(
            () => world.recoverLater().round(),
            ({ pending }) => pending === 0,
          );
          return told;
        });
        const answer = await world.get(world.resultPath(result.json.meta.request_id));
        expect([answer.status, answer.json.question, spent]).toEqual([200, 'moody', 990_000n]);
      },
    );
  });

  describe('one endpoint of two that is on another chain, far ahead', () => {
    it('has no payment given up that has not landed yet', async () => {
      const ahead: Mood = ({ method }) =>
        method === 'getEpochInfo'
          ? { type: 'result', result: { absoluteSlot: 1, blockHeight: 400_000_000 } }
          : { type: 'pass' };
      const withholding: Mood = (call) => (call.method === 'sendTransaction' ? MOODS.dropping(call) : { type: 'pass' });
      turnTo = (call) => (call.method === 'sendTransaction' ? MOODS.dropping(call) : ahead(call));
      turnSecondTo = withholding;
      const { result, spent } = await world.moved(wallet, async () => {
        const told = await world.get('/v2/case?q=moody', world.pay(wallet));
        expect(told.status, told.text).toBe(202);
        become(honest, honest);
        await until(
          () => world.recoverLater().round(),
          ({ pending }) => pending === 0,
        );
        return told;
      });
      expect((await world.get(world.resultPath(result.json.meta.request_id))).status).toBe(200);
      expect(spent).toBe(990_000n);
    });
  });

  describe('a transaction that fails on the chain', () => {
    it('is a 402 with the answer withheld, since careless endpoints let it through', async () => {
      const poor = await world.wallet(500_000n);
      become(MOODS.careless, MOODS.careless);
      const { result, spent } = await world.moved(poor, () => world.get('/v2/case?q=secret', world.pay(poor)));
      expect([result.status, result.json.error.code, result.json.error.details.reason, spent]).toEqual([
        402,
        'settlement_failed',
        'on_chain_error',
        0n,
      ]);
      expect(result.text).not.toContain('secret');
    });
  });
}
