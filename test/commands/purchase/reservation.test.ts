import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { RESERVATION_WINDOW, reservation, reservedBy } from '../../../src/commands/purchase/reservation.ts';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';
import { Counters } from '../../../src/storage/sqlite/counters.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';

const USDC = 1_000_000n;
const WALLET = 'wallet';

let counters: Counters;
beforeEach(() => {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE counters (id TEXT PRIMARY KEY, count INTEGER NOT NULL, resets_at INTEGER NOT NULL)');
  counters = new Counters(database);
});

const at = (seconds: number) => seconds * MICROS_PER_SECOND;

function reserve(amount: bigint, seconds: number) {
  const { id, limit, now, windowMicros, ...increment } = reservation(WALLET, amount, at(seconds));
  return reservedBy(0, counters.add(id, increment.amount, limit, now, windowMicros));
}

function giveBack(amount: bigint, seconds: number): void {
  const { id, limit, now, windowMicros, ...increment } = reservation(WALLET, amount, at(seconds));
  counters.add(id, -increment.amount, limit, now, windowMicros);
}

describe('the reservations of a wallet', () => {
  it('are its payments and their amounts', () => {
    reserve(50n * USDC, 0);
    expect(reserve(USDC, 1)).toMatchObject({ underWay: 2, reserved: 51n * USDC });
    giveBack(50n * USDC, 2);
    expect(reserve(USDC, 3)).toMatchObject({ underWay: 2, reserved: 2n * USDC });
  });

  it('do not go negative when a batch ends that was reserved in an earlier window', () => {
    reserve(USDC, 0);
    reserve(50n * USDC, 100);
    reserve(USDC, 121);
    reserve(USDC, 122);
    giveBack(50n * USDC, 123);
    const { reserved, underWay } = reserve(USDC, 124);
    expect(reserved).toBeLessThanOrEqual(3n * USDC);
    expect(underWay).toBeLessThanOrEqual(3);
  });

  it('are never more than what was reserved and not released, at any time (property)', () => {
    const windowSeconds = RESERVATION_WINDOW / MICROS_PER_SECOND;
    const payment = fc.record({
      cases: fc.bigInt({ min: 1n, max: 50n }),
      from: fc.integer({ min: 0, max: 3 * windowSeconds }),
      for: fc.integer({ min: 1, max: 2 * windowSeconds }),
    });
    fc.assert(
      fc.property(fc.array(payment, { minLength: 1, maxLength: 20 }), (payments) => {
        const database = new Database(':memory:');
        database.exec('CREATE TABLE counters (id TEXT PRIMARY KEY, count INTEGER, resets_at INTEGER NOT NULL)');
        counters = new Counters(database);
        const steps = payments
          .flatMap(({ cases, from, for: seconds }) => [
            { second: from, cases, begins: true },
            { second: from + seconds, cases, begins: false },
          ])
          .sort((a, b) => a.second - b.second || Number(a.begins) - Number(b.begins));
        let [open, amount] = [0, 0n];
        for (const { second, cases, begins } of steps) {
          open += begins ? 1 : -1;
          amount += begins ? cases * USDC : -cases * USDC;
          if (!begins) giveBack(cases * USDC, second);
          else {
            const { reserved, underWay } = reserve(cases * USDC, second);
            expect(reserved).toBeLessThanOrEqual(amount);
            expect(underWay).toBeLessThanOrEqual(open);
          }
        }
        database.close();
      }),
    );
  });
});
