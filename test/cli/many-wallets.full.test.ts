/**
 * Given more wallets than a call may have arguments, `docket revenue --by wallet` and `docket wallets list` show what is
 * asked for, in order, and lose none of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { createRevenueCommand } from '../../src/cli/revenue.ts';
import { createWalletsCommand } from '../../src/cli/wallets/wallets.ts';
import { ALL_DAYS, REVENUE_BY_WALLET, revenue, type WalletRevenueRecord } from '../../src/projections/revenue.ts';
import { type MoneyWorld, openMoneyWorld } from './money-world.ts';

const WALLETS = 130_000;
/** So many paid the same. */
const EQUAL = 40_000;
const AT_ONCE = 10_000;

/** Wallet number n paid n base units, and the first of them one each. */
const record = (n: number): WalletRevenueRecord => ({
  day: ALL_DAYS,
  key: walletNamed(n),
  payments: 1,
  late: 0,
  answers: 1,
  usdc: String(paidBy(n)),
  fees: '0',
  rolledBack: 0,
  rolledBackUsdc: '0',
  failed: 0,
  failedFees: '0',
  failedQueries: 0,
  rank: String(paidBy(n)).padStart(24, '0'),
  refusals: [],
});
const toPosition = (n: number): string => String(n).padStart(20, '0');
const paidBy = (n: number): number => (n <= EQUAL ? 1 : n);
const walletNamed = (n: number): string => `wallet${String(n).padStart(38, '0')}`;

describe('very many wallets', () => {
  let world: MoneyWorld;

  beforeAll(async () => {
    world = await openMoneyWorld();
    await world.caughtUp();
    const { readStore } = world.storage;
    await readStore.prepare(revenue.name, 1, revenue.collections);
    for (let first = 1; first <= WALLETS; first += AT_ONCE) {
      const writes = Array.from({ length: AT_ONCE }, (_, index) => first + index).map((n) => ({
        ...{ collection: REVENUE_BY_WALLET, id: `${ALL_DAYS} ${walletNamed(n)}`, position: toPosition(n) },
        document: { ...record(n), refusals: [] },
      }));
      await readStore.commit({ projection: revenue.name, generation: 1, writes, position: toPosition(first) });
    }
  });
  afterAll(() => world.close());

  it('shows the first as text, and says how many more there are', async () => {
    const { code, out } = await world.run(createRevenueCommand, 'revenue', '--by', 'wallet');
    expect(code).toBe(EXIT.ok);
    const lines = out.split('\n');
    expect(lines[3]).toMatch(new RegExp(`^${walletNamed(WALLETS)} +1 +0 +1 +0\\.13 +0$`));
    expect(lines).toContain('… and 129000 more rows, which the total contains: --limit 0 shows all');
    expect(out).toMatch(/\ntotal +130000 +0 +130000 +7650\.085 +0\n/);
  });

  it.each([
    ['text', ['revenue', '--by', 'wallet', '--limit', '0']],
    ['CSV', ['revenue', '--by', 'wallet', '--csv']],
    ['JSON', ['revenue', '--by', 'wallet', '--json']],
    ['the list', ['wallets', 'list', '--limit', '0']],
    ['the list for programs', ['wallets', 'list', '--limit', '0', '--json']],
  ])('writes every wallet as %s', async (_, argv) => {
    const command = argv[0] === 'revenue' ? createRevenueCommand : createWalletsCommand;
    const { code, out } = await world.run(command, ...argv);
    expect(code).toBe(EXIT.ok);
    const written = [...out.matchAll(/wallet0+(\d+)/g)].map(([, n]) => Number(n));
    const all = Array.from({ length: WALLETS }, (_, index) => index + 1);
    expect(written).toEqual([...all.slice(EQUAL).toReversed(), ...all.slice(0, EQUAL)]);
  });
});
