/**
 * `docket revenue`: given payments of several days, courts, endpoints and outcomes, it adds up exactly what the log
 * says, for people, spreadsheets and programs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { createRevenueCommand } from '../../src/cli/revenue.ts';
import {
  PaymentAuthorized,
  PaymentFailed,
  PaymentRolledBack,
  PaymentSettled,
  PaymentSubmitted,
  paymentStream,
  QueryAnswered,
} from '../../src/events/payment.ts';
import { PROJECTIONS } from '../../src/projections/all.ts';
import { revenue as revenueProjection } from '../../src/projections/revenue.ts';
import * as fixtures from '../commands/payment/payment.fixtures.ts';
import { SPONSORED_FEE, WALLETS, wireOf } from '../projections/payment-histories.ts';
import { type MoneyWorld, openMoneyWorld } from './money-world.ts';

const [ANN = '', BEN = ''] = WALLETS;

interface Sale {
  readonly wallet: string;
  readonly endpoint?: string;
  readonly courts?: { court: string; cases: number }[];
  readonly outcome: 'settled' | 'failed' | 'rolled_back';
  readonly sponsored?: boolean;
}

function eventsOf({ wallet, endpoint = 'GET /v2/case', courts, outcome, sponsored = true }: Sale) {
  const answeredCases = Math.max(
    1,
    (courts ?? []).reduce((sum, { cases }) => sum + cases, 0),
  );
  const amount = String(990_000 * answeredCases);
  const { requestId, transaction } = { requestId: fixtures.REQUEST, transaction: fixtures.TRANSACTION };
  const charge = { transaction, slot: 7, requestId, wallet, amount, answeredCases };
  const failure = { transaction, requestId, wallet, reason: 'on_chain_error', detail: null } as const;
  return [
    PaymentAuthorized.of({ ...fixtures.authorization, wallet, endpoint, amount, queries: answeredCases }),
    QueryAnswered.of({ ...fixtures.answer, answeredCases, ...(courts && { courts }) }),
    PaymentSubmitted.of({ ...fixtures.submission, wire: wireOf(wallet, sponsored) }),
    ...(outcome === 'failed' ? [PaymentFailed.of(failure)] : [PaymentSettled.of({ ...charge, owes: null })]),
    ...(outcome === 'rolled_back'
      ? [PaymentRolledBack.of({ ...charge, reason: 'not_on_the_finalized_chain' as const })]
      : []),
  ];
}

export const revenueCases = () =>
  describe('docket revenue', () => {
    let world: MoneyWorld;
    const revenue = (...argv: string[]) => world.run(createRevenueCommand, 'revenue', ...argv);
    const json = async (...argv: string[]) => JSON.parse((await revenue(...argv, '--json')).out);
    let sold = 0;
    const sell = (day: string, sale: Sale) =>
      world.write(paymentStream(String(++sold).padStart(64, '0')), `${day}T23:59:59.999999Z`, ...eventsOf(sale));

    beforeAll(async () => {
      world = await openMoneyWorld();
      await sell('2026-06-01', { wallet: ANN, courts: [{ court: 'cand', cases: 1 }], outcome: 'settled' });
      await sell('2026-06-01', {
        wallet: BEN,
        endpoint: 'POST /v2/cases',
        courts: [
          { court: 'cand', cases: 1 },
          { court: 'nysd', cases: 2 },
        ],
        outcome: 'settled',
      });
      await sell('2026-06-02', { wallet: ANN, outcome: 'settled', sponsored: false });
      await sell('2026-06-02', { wallet: ANN, courts: [], endpoint: 'GET /v2/wallet/keys', outcome: 'rolled_back' });
      await sell('2026-06-03', { wallet: BEN, courts: [{ court: 'cand', cases: 1 }], outcome: 'failed' });
      await world.caughtUp();
    });
    afterAll(() => world.close());

    it('adds up each day, with failed and rolled back payments apart', async () => {
      const { code, out, err } = await revenue();
      expect([code, err]).toEqual([EXIT.ok, '']);
      expect(out).toMatch(/2026-06-01 +2 +0 +4 +3\.96 +0\.000020002\n/);
      expect(out).toMatch(/2026-06-02 +1 +0 +1 +0\.99 +0\n/);
      expect(out).toMatch(/total +3 +0 +5 +4\.95 +0\.000020002\n/);
      expect(out).toMatch(/2026-06-02 +1 +0\.99 +0 +0 +0\n/);
      expect(out).toMatch(/2026-06-03 +0 +0\.00 +1 +0\.000010001 +0\n/);
      expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
    });

    it.each([
      ['endpoint', ['POST /v2/cases', 'GET /v2/case', 'GET /v2/wallet/keys']],
      ['court', ['cand', 'nysd', '(not recorded)', '(none)']],
      ['wallet', [BEN, ANN]],
      ['day', ['2026-06-01', '2026-06-02', '2026-06-03']],
    ])('has the same total by %s', async (by, keys) => {
      const report = await json('--by', by);
      expect(report.rows.map((row: Record<string, unknown>) => row[by]).toSorted()).toEqual(keys.toSorted());
      expect(report.total).toMatchObject({
        payments: 3,
        answers: 5,
        usdc: '4.95',
        usdc_base_units: '4950000',
        network_fees_lamports: String(2n * SPONSORED_FEE),
        rolled_back: 1,
        failed: 1,
        failed_fees_sol: '0.000010001',
      });
      const rows: readonly { usdc_base_units: string }[] = report.rows;
      const total = rows.reduce((sum, { usdc_base_units }) => sum + BigInt(usdc_base_units), 0n);
      expect(total).toBe(4_950_000n);
      expect((await revenue('--by', by)).out.split('\n').filter((line) => line.length > 100)).toEqual([]);
    });

    it('says that a payment for several courts counts in each', async () => {
      expect((await revenue('--by', 'court')).out).toContain('the total counts it once');
      expect((await revenue('--by', 'endpoint')).out).not.toContain('the total counts it once');
    });

    it('takes whole days, both ends included', async () => {
      const { total } = await json('--from', '2026-06-02', '--to', '2026-06-02', '--by', 'wallet');
      expect(total).toMatchObject({ payments: 1, usdc: '0.99', rolled_back_usdc: '0.99', failed: 0 });
      expect((await json('--to', '2026-06-01')).total.usdc).toBe('3.96');
      expect((await json('--from', '2026-06-03')).total).toMatchObject({ payments: 0, failed: 1 });
      expect((await revenue('--from', '2026-07-01')).out).toContain('Nothing was sold');
    });

    it('writes CSV without totals', async () => {
      const { out } = await revenue('--by', 'day', '--csv');
      const [head = '', ...rows] = out.trimEnd().split('\r\n');
      expect(head.split(',').slice(0, 6)).toEqual(['day', 'payments', 'late', 'answers', 'usdc_base_units', 'usdc']);
      expect(rows).toHaveLength(3);
      expect(rows[0]).toMatch(/^2026-06-01,2,0,4,3960000,3\.96,20002,0\.000020002,/);
    });

    it('shows as many rows as asked for, says how many more there are, and counts all of them in the total', async () => {
      const { out } = await revenue('--by', 'day', '--limit', '1');
      expect(out).toMatch(/2026-06-01 .*\n… and 2 more rows, which the total contains: --limit 0 shows all\ntotal +3 /);
      // Of two days with something that was not earned, the first is shown.
      expect(out).toMatch(/2026-06-02 +1 +0\.99 +0 +0 +0\n… and 1 more rows.*\ntotal /);
      expect((await revenue('--by', 'day', '--limit', '0')).out).toBe((await revenue('--by', 'day')).out);
      const report = await json('--by', 'day', '--limit', '2');
      expect(report).toMatchObject({ rows: [{ day: '2026-06-01' }, { day: '2026-06-02' }], rows_left: 1 });
      expect(report.total).toEqual((await json('--by', 'day')).total);
      expect((await json('--by', 'day')).rows_left).toBe(0);
      expect((await revenue('--csv', '--limit', '1')).out.trimEnd().split('\r\n')).toHaveLength(2);
    });

    it('says that figures are incomplete while the read model is behind', async () => {
      await sell('2026-06-04', { wallet: ANN, outcome: 'settled' });
      const { err, out } = await revenue('--json');
      expect(err).toContain('These figures are incomplete');
      expect(JSON.parse(out).complete).toBe(false);
      await world.caughtUp();
      expect((await revenue()).err).toBe('');
      expect((await json()).total.payments).toBe(4);
    });

    it('is built from the whole log by the version that adds it', async () => {
      const older = await openMoneyWorld();
      try {
        const sale = { wallet: ANN, outcome: 'settled' } as const;
        await older.write(paymentStream('1'.repeat(64)), '2026-06-01T00:00:00.000000Z', ...eventsOf(sale));
        await older.caughtUp(PROJECTIONS.filter(({ name }) => name !== revenueProjection.name));
        const before = await older.run(createRevenueCommand, 'revenue', '--json');
        expect(JSON.parse(before.out)).toMatchObject({ complete: false, total: { payments: 0 } });
        await older.caughtUp();
        const after = await older.run(createRevenueCommand, 'revenue', '--json');
        expect(JSON.parse(after.out)).toMatchObject({ complete: true, total: { payments: 1, usdc: '0.99' } });
      } finally {
        await older.close();
      }
    });

    it.each([
      [['--from', '2026-02-30'], /--from is not a day: "2026-02-30"/],
      [['--to', '2026-06-01T00:00:00Z'], /--to is not a day/],
      [['--from', '\u001b[2J'], /--from is not a day: "\\u001b/],
      [['--limit', 'all'], /--limit all cannot be used/],
      [['--limit', '1e9'], /--limit 1e9 cannot be used/],
      [['--from', '2026-06-02', '--to', '2026-06-01'], /--from is later than --to/],
    ])('rejects %j', async (argv, expected) => {
      const { code, out, error } = await revenue(...argv);
      expect([code, out]).toEqual([EXIT.usage, '']);
      expect(error?.message).toMatch(expected);
    });
  });
