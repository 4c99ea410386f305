import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  admit,
  CASES_PER_DAY,
  countCases,
  countSettlementFailure,
  REPEATS_PER_MINUTE,
  REQUESTS_PER_MINUTE,
  uncount,
  type WindowEnds,
} from '../../../src/commands/purchase/wallet-limits.ts';
import { isProblem } from '../../../src/errors.ts';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';
import type { Increment } from '../../../src/storage/read-store.ts';
import { openSqlite, type SqliteStorage } from '../../../src/storage/sqlite/open.ts';

let directory: string;
let storage: SqliteStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'limits-'));
  storage = openSqlite({ directory });
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const NEVER: WindowEnds = { first: null, day: Number.POSITIVE_INFINITY };
const START = 1_780_000_000_000_000;
let count = 0;
const newPayment = () => `payment-${count++}`;

/** A new wallet, and a clock that the test moves. */
function wallet() {
  let now = START;
  const name = `wallet-${count++}`;
  const ports = { readStore: storage.readStore, clock: { now: () => now } };
  return {
    pass: (seconds: number) => {
      now += seconds * MICROS_PER_SECOND;
    },
    /** Presents a new payment, or this one. */
    ask: (along: readonly Increment[] = [], payment = newPayment()) => admit(ports, { wallet: name, payment }, along),
    present: (payment: string) => admit(ports, { wallet: name, payment }),
    answered: (cases: number, ends = NEVER) => countCases(ports, name, cases, ends),
    uncounted: (ends: WindowEnds, payment = '') => uncount(ports, { wallet: name, payment }, ends),
    failed: () => countSettlementFailure(ports, name),
    async askFor(times: number) {
      const outcomes = await Promise.all(
        Array.from({ length: times }, () => admit(ports, { wallet: name, payment: newPayment() })),
      );
      return outcomes.filter((outcome) => !isProblem(outcome)).length;
    },
  };
}

const state = (outcome: Awaited<ReturnType<typeof admit>>) => (isProblem(outcome) ? outcome : outcome.state);

describe('a counter that is incremented along with a request', () => {
  const along = (id: string) => ({ id, amount: 7, limit: 100, now: START, windowMicros: 60 * MICROS_PER_SECOND });

  it('counts if the request is admitted, and not if it is rejected', async () => {
    const mine = wallet();
    const id = `along-${count}`;
    expect(await mine.ask([along(id)])).toMatchObject({ failures: 0, along: [{ count: 7, allowed: true }] });
    await mine.askFor(REQUESTS_PER_MINUTE);
    expect(await mine.ask([along(id)])).toMatchObject({ problem: 'rate_limit_exceeded' });
    mine.pass(60);
    expect(await mine.ask([along(id)])).toMatchObject({ along: [{ count: 14 }] });
    await mine.answered(CASES_PER_DAY);
    expect(await mine.ask([along(id)])).toMatchObject({ problem: 'rate_limit_exceeded', details: { window: 'day' } });
    mine.pass(60);
    expect((await storage.readStore.increment(id, 0, 100, START, 60 * MICROS_PER_SECOND)).count).toBe(14);
  });
});

describe('the minute', () => {
  it('starts with the first counted request and admits exactly 60, also concurrently', async () => {
    const mine = wallet();
    mine.pass(30);
    expect(state(await mine.ask())).toEqual({ limit: 60, remaining: 59, resetSeconds: 60 });
    mine.pass(10);
    expect(await mine.askFor(80)).toBe(REQUESTS_PER_MINUTE - 1);
    expect(await mine.ask()).toMatchObject({
      problem: 'rate_limit_exceeded',
      message: 'At most 60 requests a minute are taken from one wallet; wait 50 seconds.',
      details: { retry_after: 50, limit: 60, window: 'minute' },
    });
    mine.pass(50);
    expect(state(await mine.ask())).toMatchObject({ remaining: 59 });
  });
});

describe('a payment that is presented again', () => {
  const window = (outcome: Awaited<ReturnType<typeof admit>>) => (isProblem(outcome) ? outcome.details.window : null);

  it('counts once in the minute, also concurrently, and repeats have their own limit', async () => {
    const mine = wallet();
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => mine.present('captured')));
    const admitted = outcomes.filter((outcome) => !isProblem(outcome));
    expect(admitted.map(state)).toEqual(admitted.map(() => ({ limit: 60, remaining: 59, resetSeconds: 60 })));
    expect(admitted).toHaveLength(1 + REPEATS_PER_MINUTE);
    expect(outcomes.find(isProblem)).toMatchObject({
      problem: 'rate_limit_exceeded',
      message: 'At most 20 times a minute one payment may be presented again; wait 60 seconds.',
      details: { window: 'payment', limit: REPEATS_PER_MINUTE, retry_after: 60 },
    });
    mine.pass(59);
    expect(window(await mine.present('captured'))).toBe('payment');
    mine.pass(1);
    expect(state(await mine.present('captured'))).toMatchObject({ remaining: REQUESTS_PER_MINUTE });
    expect(await mine.askFor(80)).toBe(REQUESTS_PER_MINUTE);
  });

  it('does not pass a full minute in which it already counted; nor do two concurrent copies', async () => {
    const mine = wallet();
    await mine.present('early');
    expect(await mine.askFor(80)).toBe(REQUESTS_PER_MINUTE - 1);
    expect(window(await mine.present('early'))).toBe('minute');
    const copies = await Promise.all(Array.from({ length: 10 }, () => mine.present('late')));
    expect(copies.map(window)).toEqual(copies.map(() => 'minute'));
  });

  it('is counted by the next minute if every minute so far rejected it', async () => {
    const mine = wallet();
    await mine.askFor(REQUESTS_PER_MINUTE);
    for (let times = 0; times < 3; times++) expect(window(await mine.present('late'))).toBe('minute');
    mine.pass(60);
    expect(await mine.askFor(REQUESTS_PER_MINUTE - 1)).toBe(REQUESTS_PER_MINUTE - 1);
    expect(state(await mine.present('late'))).toMatchObject({ remaining: 0 });
  });

  it('was counted by no day that rejected it', async () => {
    const mine = wallet();
    await mine.ask();
    await mine.answered(CASES_PER_DAY);
    for (let times = 0; times < 3; times++) expect(window(await mine.present('late'))).toBe('day');
    mine.pass(86_400);
    expect(state(await mine.present('late'))).toMatchObject({ remaining: REQUESTS_PER_MINUTE - 1 });
  });

  it('counts again after it was released, and a repeat gives back nothing of the minute', async () => {
    const mine = wallet();
    const first = await mine.present('foreign');
    if (isProblem(first)) throw new Error(first.problem);
    await mine.uncounted(first.ends, 'foreign');
    const second = await mine.present('foreign');
    expect(state(second)).toMatchObject({ remaining: REQUESTS_PER_MINUTE - 1 });
    const third = await mine.present('foreign');
    if (isProblem(third)) throw new Error(third.problem);
    await mine.uncounted(third.ends, 'foreign');
    expect(state(await mine.ask())).toMatchObject({ remaining: REQUESTS_PER_MINUTE - 2 });
  });

  it('uses as much of the day as a new one', async () => {
    const mine = wallet();
    await mine.present('captured');
    await mine.answered(CASES_PER_DAY - 1);
    expect(state(await mine.present('captured'))).toMatchObject({ limit: CASES_PER_DAY, remaining: 0 });
    expect(window(await mine.present('captured'))).toBe('day');
  });

  it('needs one write for its first presentation', async () => {
    const calls: string[] = [];
    const { readStore } = storage;
    const counting: Parameters<typeof admit>[0]['readStore'] = {
      increment: (id, amount, ...more) => {
        calls.push(amount === 0 ? 'look' : 'increment');
        return readStore.increment(id, amount, ...more);
      },
      incrementInTurn: (increments) => {
        calls.push('incrementInTurn');
        return readStore.incrementInTurn(increments);
      },
    };
    const presented = { wallet: `wallet-${count++}`, payment: newPayment() };
    await admit({ readStore: counting, clock: { now: () => START } }, presented);
    expect(calls).toEqual(['look', 'incrementInTurn']);
  });
});

describe('what is released', () => {
  const ends = (outcome: Awaited<ReturnType<typeof admit>>): WindowEnds => (isProblem(outcome) ? NEVER : outcome.ends);

  it('is what was taken, in the windows it was taken from', async () => {
    const mine = wallet();
    const first = ends(await mine.ask([], 'given-back'));
    mine.pass(59);
    await mine.uncounted(first, 'given-back');
    expect(state(await mine.ask())).toMatchObject({ remaining: REQUESTS_PER_MINUTE - 1 });
  });

  it('admits no request to a minute that has begun since', async () => {
    const mine = wallet();
    const taken = ends(await mine.ask());
    mine.pass(60);
    expect(await mine.askFor(80)).toBe(REQUESTS_PER_MINUTE);
    for (let times = 0; times < 10; times++) await mine.uncounted(taken);
    expect(await mine.askFor(10)).toBe(0);
  });

  it('admits no request to a day that has begun since', async () => {
    const mine = wallet();
    const taken = ends(await mine.ask());
    mine.pass(86_400);
    await mine.ask();
    await mine.answered(CASES_PER_DAY);
    await mine.uncounted(taken);
    await mine.answered(0, taken);
    expect(await mine.ask()).toMatchObject({ details: { window: 'day' } });
  });
});

describe('the day', () => {
  it('counts answered cases: a failed query counts nothing, a batch all its cases', async () => {
    const mine = wallet();
    await mine.ask();
    await mine.answered(CASES_PER_DAY - 1);
    mine.pass(61);
    // One case of the day is left, so the day is the tighter limit from here on.
    expect(state(await mine.ask())).toEqual({ limit: 10_000, remaining: 0, resetSeconds: 86_400 - 61 });
    await mine.answered(0);
    expect(state(await mine.ask())).toMatchObject({ remaining: 0 });
    await mine.answered(1);
    expect(await mine.ask()).toMatchObject({ details: { window: 'day', limit: 10_000, retry_after: 86_400 - 61 } });
    mine.pass(86_400 - 61);
    expect(state(await mine.ask())).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('lets a batch that started below the limit end above it', async () => {
    const mine = wallet();
    await mine.ask();
    await mine.answered(CASES_PER_DAY - 1);
    await mine.ask();
    await mine.answered(50);
    expect(await mine.ask()).toMatchObject({ details: { window: 'day' } });
  });

  it('rejects without counting against the minute', async () => {
    const mine = wallet();
    await mine.ask();
    await mine.answered(CASES_PER_DAY);
    for (let i = 0; i < 70; i++) expect(await mine.ask()).toMatchObject({ details: { window: 'day' } });
  });

  it('admits exactly 10,000 single calls, however many run at once', async () => {
    const mine = wallet();
    await mine.ask();
    await mine.answered(CASES_PER_DAY - 5);
    expect(await mine.askFor(20)).toBe(5);
  });
});

describe('payments that fail on chain at our cost', () => {
  it('pause their wallet at the third within an hour, for the rest of it', async () => {
    const mine = wallet();
    await mine.failed();
    await mine.failed();
    mine.pass(600);
    expect(isProblem(await mine.ask())).toBe(false);
    await mine.failed();
    expect(await mine.ask()).toMatchObject({
      problem: 'rate_limit_exceeded',
      details: { window: 'settlement_failures', retry_after: 3_000 },
    });
    mine.pass(3_000);
    expect(isProblem(await mine.ask())).toBe(false);
  });
});
