/**
 * The read model of revenue. Given any histories of payments, the sums by day, endpoint, court and wallet are the same,
 * and they are what the wallets' statements say. A rebuild, and events that come again, give the same documents.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statementLines } from '../../src/audit/receipts/statement.ts';
import { type PaymentEvent, paymentStream } from '../../src/events/payment.ts';
import { added, byCourt, type Figures, NO_FIGURES, sharesOf } from '../../src/projections/revenue-shares.ts';
import { REVENUE_GROUPS, revenueOf, revenueOfWallet, topWallets } from '../../src/queries/revenue.ts';
import { RevenueSums } from '../../src/queries/revenue-sums.ts';
import { openMoneyWorld } from '../cli/money-world.ts';
import * as fixtures from '../commands/payment/payment.fixtures.ts';
import { histories, type PaymentHistory, SPONSORED_FEE, WALLETS } from './payment-histories.ts';

const DAYS = ['2026-06-01', '2026-06-02', '2026-06-03'] as const;
const at = (day: number, second = 0) => `${DAYS[day]}T12:00:${String(second).padStart(2, '0')}.000000Z`;
const ALL = { from: null, to: null };

/** Records the histories: whole stages, one payment after the other within a day. */
async function recorded(all: readonly PaymentHistory[]) {
  const world = await openMoneyWorld();
  for (const [day] of DAYS.entries()) {
    for (const { payment, events } of all) {
      const todays = events.filter((one) => one.day === day).map(({ event }) => event);
      if (todays.length > 0) await world.write(paymentStream(payment), at(day), ...todays);
    }
  }
  await world.caughtUp();
  return world;
}

const sum = (rows: readonly Figures[]): Figures => rows.reduce((total, row) => added(total, row), NO_FIGURES);
const figures = ({ key: _, ...row }: Figures & { readonly key?: string }): Figures => row;
const amounts = ({ answers, usdc, fees, rolledBackUsdc, failedFees }: Figures) => ({
  answers,
  usdc,
  fees,
  rolledBackUsdc,
  failedFees,
});

describe('the read model of revenue', () => {
  it('has the same sums by day, endpoint, court and wallet, which are those of the statements', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (all) => {
        const world = await recorded(all);
        try {
          const { readStore, log } = world.storage;
          const reports = await Promise.all(REVENUE_GROUPS.map((by) => revenueOf(readStore, by, ALL)));
          const [byDay, byEndpoint, byCourts, byWallet] = reports;
          const { total } = byDay!;
          for (const report of reports) expect(report.total).toEqual(total);
          for (const [index, by] of REVENUE_GROUPS.entries()) {
            const sums = await RevenueSums.read(readStore, by, ALL);
            expect({ rows: [...sums.rows('all', 0)], total: sums.total }).toEqual(reports[index]);
            sums.close();
          }
          expect(sum(byEndpoint!.rows.map(figures))).toEqual(total);
          expect(sum(byWallet!.rows.map(figures))).toEqual(total);
          expect(amounts(sum(byCourts!.rows.map(figures)))).toEqual(amounts(total));

          let [charged, count, returned, returns] = [0n, 0, 0n, 0];
          for (const wallet of WALLETS) {
            let own = 0n;
            for await (const { amount, status } of statementLines(log, { wallet, ...ALL })) {
              if (status === 'rolled_back') [returned, returns] = [returned + (amount ?? 0n), returns + 1];
              else [own, count] = [own + (amount ?? 0n), count + 1];
            }
            expect((await revenueOfWallet(readStore, wallet, null)).usdc).toBe(own);
            charged += own;
          }
          expect(total).toMatchObject({
            usdc: charged,
            payments: count,
            rolledBackUsdc: returned,
            rolledBack: returns,
          });
          // Day by day, the same: also for the days of the statements.
          for (const row of byDay!.rows) {
            const period = { from: `${row.key}T00:00:00.000000Z`, to: `${row.key}T23:59:59.999999Z` };
            let own = 0n;
            for (const wallet of WALLETS) {
              for await (const { amount, status } of statementLines(log, { wallet, ...period })) {
                if (status !== 'rolled_back') own += amount ?? 0n;
              }
            }
            expect(row.usdc).toBe(own);
            for (const by of REVENUE_GROUPS) {
              expect((await revenueOf(readStore, by, { from: row.key, to: row.key })).total).toEqual(figures(row));
            }
          }
          const spend: bigint[] = [];
          for await (const page of topWallets(readStore, 10)) spend.push(...page.map(({ usdc }) => usdc));
          expect(spend).toEqual(spend.toSorted((one, other) => (one > other ? -1 : 1)));
        } finally {
          await world.close();
        }
      }),
      { numRuns: 25 },
    );
  });

  it('counts fees that our fee payer paid: of settled payments, and apart those of payments failed on the chain', () => {
    fc.assert(
      fc.property(histories, (all) => {
        for (const { events } of all) {
          const history = events.map(({ event, day }) => ({ event: event as PaymentEvent, at: at(day) }));
          const { payments, failed, rolledBack, fees, failedFees } = sum(sharesOf(history).map((one) => one.figures));
          expect(payments + failed + rolledBack).toBeLessThanOrEqual(1);
          const last = history.at(-1)?.event;
          expect([0n, payments === 1 ? SPONSORED_FEE : 0n]).toContain(fees);
          const onChain =
            (last?.type === 'PaymentFailed' && last.data.reason === 'on_chain_error') ||
            (last?.type === 'PaymentRolledBack' && last.data.reason === 'failed_on_the_finalized_chain');
          expect([0n, onChain ? SPONSORED_FEE : 0n]).toContain(failedFees);
        }
      }),
    );
  });

  it('divides an amount among courts without losing a unit', () => {
    const part = fc.record({ court: fc.constantFrom('cand', 'nysd', 'ca9'), cases: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), fc.bigInt({ min: 0n, max: 2n ** 64n }), (courts, usdc) => {
        const parts = [...byCourt({ courts, figures: { ...NO_FIGURES, payments: 1, usdc } }).values()];
        expect(parts.reduce((all, one) => all + one.usdc, 0n)).toBe(usdc);
        expect(parts.map(({ payments }) => payments)).toEqual(parts.map(() => 1));
      }),
    );
  });

  it('moves a payment that was rolled back out of the USDC of its day, and a late one into its new day', async () => {
    const world = await openMoneyWorld();
    try {
      const stream = paymentStream('1'.repeat(64));
      const byDay = async () => (await revenueOf(world.storage.readStore, 'day', ALL)).rows;
      await world.write(stream, at(0), ...fixtures.claimed, fixtures.settled);
      await world.caughtUp();
      expect(await byDay()).toMatchObject([{ key: DAYS[0], payments: 1, usdc: 990_000n, rolledBack: 0 }]);
      await world.write(stream, at(1), fixtures.rolledBack);
      await world.caughtUp();
      expect(await byDay()).toMatchObject([{ key: DAYS[0], payments: 0, usdc: 0n, rolledBackUsdc: 990_000n }]);
      await world.write(stream, at(2), fixtures.settledLate);
      await world.caughtUp();
      expect(await byDay()).toMatchObject([{ key: DAYS[2], payments: 1, late: 1, usdc: 990_000n, rolledBack: 0 }]);
      const ofDay = async (day: string) =>
        (await revenueOf(world.storage.readStore, 'endpoint', { from: day, to: day })).total;
      expect(await ofDay(DAYS[2])).toMatchObject({
        usdc: 990_000n,
        answers: 1,
        failed: 0,
      });
      expect(await ofDay(DAYS[1])).toMatchObject({ usdc: 0n, rolledBack: 0 });
    } finally {
      await world.close();
    }
  });

  it('remembers why a wallet was not served, and forgets what was made good', async () => {
    const world = await openMoneyWorld();
    try {
      await world.write(paymentStream('1'.repeat(64)), at(0), ...fixtures.givenBack, ...fixtures.claimed);
      await world.write(paymentStream('1'.repeat(64)), at(0), fixtures.expired);
      await world.write(paymentStream('2'.repeat(64)), at(0), ...fixtures.claimed, fixtures.failedOnChain);
      await world.caughtUp();
      const refusals = async () => (await revenueOfWallet(world.storage.readStore, fixtures.WALLET, null)).refusals;
      expect(await refusals()).toEqual([
        { of: 'query', reason: 'case_not_found', count: 1 },
        { of: 'payment', reason: 'expired', count: 1 },
        { of: 'payment', reason: 'on_chain_error', count: 1 },
      ]);
      await world.write(paymentStream('1'.repeat(64)), at(1), fixtures.settledLate);
      await world.caughtUp();
      expect((await refusals()).map(({ reason }) => reason)).toEqual(['case_not_found', 'on_chain_error']);
    } finally {
      await world.close();
    }
  });
});
