/**
 * What a query makes of a look. Given the real ingest, and a source that shows a docket as a test says, when a query asks
 * about a case, then a part is answered as a part, a baseline that was cut off is finished, a forgotten docket is not
 * asked for, and a look that nobody waits for goes on.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { noteGap } from '../../../src/commands/docket/note-gap.ts';
import { carryOut, giveOrder } from '../../../src/commands/forget/forget.ts';
import { isProblem, type Problem } from '../../../src/errors.ts';
import { docketStream } from '../../../src/events/docket.ts';
import { CaseWanted } from '../../../src/events/source.ts';
import { createRefresh, type Refresh, type RefreshCall, refreshed } from '../../../src/processes/sources/refresh.ts';
import { refreshedBatch } from '../../../src/processes/sources/refresh-batch.ts';
import { createUnpaidLooks } from '../../../src/processes/sources/unpaid-looks.ts';
import type { CaseAnswer, OfDocket } from '../../../src/queries/case-answer.ts';
import { standingOf } from '../../../src/queries/case-standing.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { readSupremeCourtFile } from '../../../src/sources/scotus/docket.ts';
import type { Look, Priority } from '../../../src/sources/source.ts';
import { contextOf, court, openWorld, overriding, type World } from '../../dockets/world.ts';
import { petition, proceeding } from '../../sources/supreme-court/files.ts';
import type { CourtFile } from '../../sources/supreme-court/supreme-court.ts';

const CASE = '25-447';
const silent = { warn: () => {}, error: () => {} };

let world: World;
let refresh: Refresh;
/** What the source shows; each look takes the first that is left. */
let looks: (() => Promise<Look>)[];
let looked: number;
let priorities: Priority[];
beforeEach(async () => {
  world = await openWorld();
  looks = [];
  looked = 0;
  priorities = [];
  refresh = refreshWith();
});
afterEach(async () => {
  refresh.stop();
  await world.close();
});

const refreshWith = (lookMs = 15_000): Refresh =>
  createRefresh({
    ...world.storage,
    desk: {
      sourcesFor: ({ code }) => (code === 'scotus' ? ['scotus'] : []),
      look: async (_asked, { signal, priority }) => {
        looked++;
        priorities.push(priority);
        const next = looks.shift();
        if (next === undefined) throw new Error('no look was expected');
        const look = await next();
        return signal.aborted ? { look: 'failed', because: INTERRUPTED } : look;
      },
    },
    freshness: world.freshness,
    unpaid: createUnpaidLooks(world.storage.readStore, world.clock),
    clock: world.clock,
    logger: silent,
    lookMs,
  });
const INTERRUPTED = { fault: 'interrupted', reason: 'ended', retryAt: null } as const;

const call = (wallet = 'wallet'): RefreshCall => ({
  wallet,
  site: '192.0.2.1',
  requestId: 'request',
  signal: new AbortController().signal,
});
type Outcome = (CaseAnswer & OfDocket) | Problem;
const read = (caseId: string): Promise<Outcome> =>
  world.queries.answerCase({
    court: court('scotus'),
    courtCode: 'scotus',
    caseId,
    lastChecked: null,
    since: null,
    context: 'basic',
    language: null,
    filingTypes: null,
  });
const ask = (caseId = CASE, by = call()): Promise<Outcome> =>
  refreshed(refresh, { court: court('scotus'), caseId }, by, () => read(caseId));

/** Records a file, or a part of it. */
async function show(
  file: CourtFile,
  { complete = true, entries = Number.POSITIVE_INFINITY, source = 'scotus' } = {},
  ports = world.ports,
) {
  const askedAt = toInstant(world.clock.now());
  const found = readSupremeCourtFile(file, { court: court('scotus'), caseNumber: CASE, askedAt });
  if ('refused' in found) throw new Error(found.refused);
  const snapshot = { ...found.snapshot, source, complete, entries: found.snapshot.entries.slice(0, entries) };
  return ingestDocket(ports, snapshot, contextOf());
}
const stream = docketStream('scotus', CASE);
const wanted = async (): Promise<number> => {
  let count = 0;
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: [CaseWanted.type] })) {
    count += events.length;
  }
  return count;
};

describe('a first look', () => {
  it('that shows a part is answered as far as it is known', async () => {
    looks.push(async () => {
      await show(petition(), { complete: false, entries: 3 });
      return { look: 'partial', stream, because: { fault: 'budget', reason: 'spent', retryAt: null } };
    });
    expect(await ask()).toMatchObject({ coverageStatus: 'partial', body: { case: { filing_count: 3 } } });
    // Its requests are of the share of unknown cases, found or not.
    expect(priorities).toEqual(['unknown_case']);
  });
  it('continues while the next query is answered with the part, and completes it', async () => {
    await show(petition(), { complete: false, entries: 3 });
    looks.push(async () => {
      await show(petition());
      return { look: 'complete', stream };
    });
    expect(await ask()).toMatchObject({ coverageStatus: 'full', body: { case: { filing_count: 8 } } });
    expect(priorities).toEqual(['paid']);
    expect(await ask()).toMatchObject({ coverageStatus: 'full' });
    expect(looked).toBe(1);
  });
  it('whose process was killed in the middle of the baseline is repeated, and finishes it', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => proceeding('Mar 02 2026', `Letter ${index} filed.`));
    const file = { ...petition(), ProceedingsandOrder: many };
    let appends = 0;
    const killed = overriding(world.storage.log, {
      append: (...asked: Parameters<typeof world.storage.log.append>) => {
        if (asked[0].stream === stream && ++appends >= 2) throw new Error('killed');
        return world.storage.log.append(...asked);
      },
    });
    await expect(show(file, {}, { ...world.ports, log: killed, sleep: async () => {} })).rejects.toThrow();
    await world.freshness.showsEverything();
    expect(await read(CASE)).toMatchObject({ problem: 'court_unavailable' });
    looks.push(async () => {
      await show(file);
      return { look: 'complete', stream };
    });
    expect(await ask()).toMatchObject({ coverageStatus: 'full', body: { case: { filing_count: 5_000 } } });
  });
  it('that cannot be recorded is 503, not a failure of the query', async () => {
    looks.push(() => Promise.reject(new Error('others keep writing')));
    expect(await ask()).toMatchObject({ problem: 'court_unavailable', details: { retry_after: expect.any(Number) } });
  });
  it('of a docket of which the source has only the head is 503 with its own hint, and counts as unpaid', async () => {
    const because = { fault: 'no_entries', reason: 'the head alone', retryAt: null } as const;
    for (let index = 0; index < 20; index++) {
      looks.push(async () => ({ look: 'failed', because }));
      expect(await ask()).toMatchObject({
        problem: 'court_unavailable',
        message: expect.stringContaining('none of its filings'),
        details: { retry_after: 3_600, hint: expect.stringContaining('filings appear') },
      });
    }
    await ask();
    expect(looked).toBe(20);
  });
  it('says when to ask again, if the source did', async () => {
    const retryAt = world.clock.now() + 90_000_000;
    looks.push(async () => ({ look: 'failed', because: { fault: 'throttled', reason: '429', retryAt } }));
    expect(await ask()).toMatchObject({ problem: 'court_unavailable', details: { retry_after: 90 } });
  });
});

async function forget(): Promise<void> {
  const ports = { ...world.storage, clock: world.clock, untilQueriesEnded: async () => {} };
  const subject = { kind: 'docket', docket: stream } as const;
  const order = { forgetId: randomUUID(), subject, by: 'J. Muster', reason: 'order of 2 March' };
  await giveOrder(ports, order);
  await carryOut(ports, order);
  await world.freshness.showsEverything();
}

describe('a case that was shown whole', () => {
  const HOUR_MS = 3_600_000;
  const all = async (): Promise<Look> => {
    await show(petition());
    return { look: 'complete', stream };
  };
  beforeEach(() => show(petition()));

  it('is not fresh because of one entry that came since, and is as old as the whole docket', async () => {
    world.clock.advance(2 * HOUR_MS);
    await show(petition(), { complete: false, entries: 1 });
    await world.freshness.showsEverything();
    expect(await read(CASE)).toMatchObject({ coverageStatus: 'full', cacheAgeSeconds: expect.closeTo(7_200, -1) });
    looks.push(all);
    expect(await ask()).toMatchObject({ cacheAgeSeconds: 0 });
    expect([await ask(), looked]).toMatchObject([{ cacheAgeSeconds: 0 }, 1]);
  });
  it('says before the payment how old it is, and who showed it', async () => {
    world.clock.advance(2 * HOUR_MS);
    await show(petition(), { complete: false, entries: 1, source: 'rss' });
    await world.freshness.showsEverything();
    const ports = { ...world.storage, freshness: world.freshness, clock: world.clock };
    const told = await standingOf(ports, court('scotus'), CASE);
    expect(told).toEqual({ known: true, cache_age_seconds: expect.closeTo(7_200, -1), source: 'scotus' });
  });
  it('is looked at if a feed may have missed an entry since', async () => {
    const now = toInstant(world.clock.now());
    await noteGap(world.ports, { stream, source: 'rss', askedAt: now, gap: { from: now, to: now } }, contextOf());
    await world.freshness.showsEverything();
    looks.push(all);
    expect(await ask()).toMatchObject({ coverageStatus: 'full' });
    expect([await ask(), looked]).toMatchObject([{ coverageStatus: 'full' }, 1]);
  });
  it('is looked at if an earlier version has not noted when that was', async () => {
    const known = await read(CASE);
    if (isProblem(known)) throw new Error(known.problem);
    const asked = { court: court('scotus'), caseId: CASE };
    expect(refresh.needsLook(asked, known)).toBe(false);
    expect(refresh.needsLook(asked, { ...known, wholeAsOf: null })).toBe(true);
  });
});

it('a docket that is forgotten during a look is not sold as it was before', async () => {
  await show(petition(), { complete: false, entries: 3 });
  looks.push(async () => {
    await forget();
    return { look: 'failed', because: INTERRUPTED };
  });
  expect(await ask()).toMatchObject({ problem: 'case_not_found' });
});

it('a forgotten docket is not asked for, and its number does not return to the log', async () => {
  await show(petition());
  await forget();
  const head = await world.storage.log.head();
  expect(await ask()).toMatchObject({ problem: 'case_not_found', details: { enqueued: false } });
  expect([looked, await wanted(), await world.storage.log.head()]).toEqual([0, 0, head]);
});

it('a look without a waiting caller continues, and ends with the service', async () => {
  refresh.stop();
  refresh = refreshWith(20);
  let show2: (look: Look) => void = () => {};
  looks.push(
    () =>
      new Promise((resolve) => {
        show2 = resolve;
      }),
  );
  expect(await ask()).toMatchObject({ problem: 'court_unavailable' });
  // Joined, and not counted as another one.
  const next = ask();
  await show(petition());
  show2({ look: 'complete', stream });
  await next;
  expect(await ask()).toMatchObject({ coverageStatus: 'full' });
  expect(looked).toBe(1);
});

it('a wallet that asks from many networks, and a network with many wallets, are limited alike', async () => {
  const none = async (): Promise<Look> => ({ look: 'not_found' });
  for (let index = 0; index < 60; index++) {
    looks.push(none);
    const { details } = (await ask(`25-${1000 + index}`, call(`wallet ${index}`))) as Problem;
    expect(details.enqueued).toBe(true);
  }
  expect(looked).toBe(40);
  for (let index = 0; index < 30; index++) {
    looks.push(none);
    await ask(`25-${2000 + index}`, { ...call('one wallet'), site: `192.0.2.${index + 2}` });
  }
  expect(looked).toBe(60);
});

it('a look that finds its case after the query was answered counts, because nobody paid for it', async () => {
  refresh.stop();
  refresh = refreshWith(0);
  const show: ((look: Look) => void)[] = [];
  for (let index = 0; index < 20; index++) {
    looks.push(() => new Promise((resolve) => show.push(resolve)));
    expect(await ask(`25-${1000 + index}`, { ...call(), site: null })).toMatchObject({ problem: 'court_unavailable' });
  }
  for (const one of show) one({ look: 'complete', stream });
  // What is counted and given back is written in turn, and this comes last.
  for (let index = 0; index < 20; index++) await ask(`25-${1000 + index}`, { ...call('another'), site: null });
  looked = 0;
  expect(await ask('25-1999', { ...call(), site: null })).toMatchObject({
    problem: 'case_not_found',
    details: { enqueued: true },
  });
  expect(looked).toBe(0);
});

describe('callers who break off', () => {
  /** A query whose caller is gone when the look ends. */
  async function abandoned(caseId: string, look: () => Promise<Look>): Promise<void> {
    const ending = new AbortController();
    looks.push(async () => {
      const outcome = await look();
      ending.abort(new Error('gone'));
      return outcome;
    });
    await expect(ask(caseId, { ...call(), site: null, signal: ending.signal })).rejects.toThrow('gone');
  }
  const asker = () => ({ ...call(), site: null });

  it('have a limit for what they make the source look for, found or not', async () => {
    for (let index = 0; index < 20; index++) {
      await abandoned(`25-${1000 + index}`, async () =>
        index % 2 === 0 ? { look: 'not_found' } : { look: 'complete', stream: 'docket-scotus-25-1' },
      );
    }
    expect(await ask('25-1999', asker())).toMatchObject({ problem: 'case_not_found', details: { enqueued: true } });
    expect(looked).toBe(20);
  });
  it('also for known cases; beyond it these are answered as they are', async () => {
    await show(petition(), { complete: false, entries: 3 });
    const failed: Look = { look: 'failed', because: { fault: 'unavailable', reason: '503', retryAt: null } };
    for (let index = 0; index < 20; index++) await abandoned(CASE, async () => failed);
    expect(await ask(CASE, asker())).toMatchObject({ body: { case: { filing_count: 3 } } });
    expect(looked).toBe(20);
    // Those who wait and pay are not limited by it.
    for (let index = 0; index < 25; index++) {
      looks.push(async () => failed);
      await ask(CASE, { ...asker(), wallet: 'one that pays' });
    }
    expect(looked).toBe(45);
  });
});

describe('a batch', () => {
  it('answers the cases whose turn did not come with what is known', async () => {
    await show(petition());
    world.clock.advance(3 * 86_400_000);
    refresh.stop();
    refresh = refreshWith(0);
    const asked = [CASE, '25-999'].map((caseId) => ({ court: court('scotus'), caseId }));
    const answers = await refreshedBatch(refresh, asked, call(), async () =>
      Promise.all(
        asked.map(async ({ caseId }) => {
          const outcome = await read(caseId);
          return isProblem(outcome) ? outcome : { of: outcome };
        }),
      ),
    );
    expect(answers).toMatchObject([{ of: { caseNumber: CASE } }, { problem: 'court_unavailable' }]);
    expect(looked).toBe(0);
  });
});
