/** Limits what failed payments may cost the fee payer: one budget for all nodes, per hour and per day. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  pausedProblem,
  pauseOf,
  SponsorBudget,
  type SponsorStanding,
} from '../../../src/commands/purchase/sponsor-budget.ts';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';
import { openTestStorage } from '../../support/storage.ts';

let directory: string;
let storage: Awaited<ReturnType<typeof openTestStorage>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sponsor-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const NOW = 1_780_000_000_000_000;
const hour = (lost: number, limit = 100, resetsAt = NOW + 1): SponsorStanding => ({
  window: 'hour',
  lost,
  limit,
  resetsAt,
});
const day = (lost: number, limit = 1_000): SponsorStanding => ({ window: 'day', lost, limit, resetsAt: NOW + 9 });

describe('whether sponsored payments pause', () => {
  it.each([
    ['nothing was lost', [hour(0), day(0)], null],
    ['less than the budget was lost', [hour(99), day(999)], null],
    ['the hour is spent', [hour(100), day(999)], ['new', 'hour']],
    ['the day is spent', [hour(0), day(1_000)], ['new', 'day']],
    ['both are spent: the longer one counts', [hour(100), day(1_000)], ['new', 'day']],
    ['twice the hour is spent', [hour(200), day(0)], ['all', 'hour']],
    ['the window has ended', [hour(500, 100, NOW), day(0)], null],
    ['nothing was checked yet', [], null],
  ])('%s', (_title, standings, expected) => {
    const pause = pauseOf(standings, NOW);
    expect(pause && [pause.wallets, pause.standing.window]).toEqual(expected);
  });

  it('pauses for all only if it pauses for new wallets, and for longer if more was lost', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_000), fc.nat(500), (lost, lostInDay, more) => {
        const rank = (pause: ReturnType<typeof pauseOf>) => ['new', 'all'].indexOf(pause?.wallets ?? '');
        const before = pauseOf([hour(lost), day(lostInDay)], NOW);
        const after = pauseOf([hour(lost + more), day(lostInDay + more)], NOW);
        expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
      }),
    );
  });
});

describe('the budget', () => {
  it('is shared by all nodes, logs once when it is spent and once when it recovers, and offers the self-paid transfer', async () => {
    let now = NOW;
    const told: unknown[] = [];
    const logger = pino(
      { level: 'info' },
      {
        write(line: string) {
          const { alarm, msg } = JSON.parse(line) as { alarm?: string; msg: string };
          told.push(alarm ?? msg);
        },
      },
    );
    const ports = {
      readStore: storage.readStore,
      clock: { now: () => now },
      limits: { lamportsPerHour: 30_000, lamportsPerDay: 1_000_000 },
    };
    const here = new SponsorBudget({ ...ports, logger });
    const there = new SponsorBudget({ ...ports, logger: pino({ level: 'silent' }) });
    await there.lost(15_000n);
    await here.look();
    expect([here.pause(), told]).toEqual([null, []]);
    await there.lost(15_000n);
    await Promise.all([here.look(), here.look()]);
    await here.look();
    expect(here.pause()).toMatchObject({ wallets: 'new', standing: { window: 'hour', lost: 30_000 } });
    expect(told).toEqual(['sponsored_payments_paused']);
    const pause = here.pause();
    expect(pause && pausedProblem(pause, now)).toMatchObject({
      problem: 'service_unavailable',
      details: { component: 'sponsored_payments', retry_after: 3_600, hint: expect.stringContaining('X402-Payment') },
    });
    now += 3_601 * MICROS_PER_SECOND;
    await here.look();
    expect(here.pause()).toBeNull();
    expect(told).toEqual(['sponsored_payments_paused', 'sponsored payments are accepted again']);
  });
});
