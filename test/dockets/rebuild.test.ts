import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endPending } from '../../src/commands/docket/clock.ts';
import { begin, caseClockId, isBehind, readClock, writeClock } from '../../src/dockets/case-clock.ts';
import { CASES } from '../../src/dockets/case-document.ts';
import { isProblem } from '../../src/errors.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import type { ReadStore, Stored } from '../../src/storage/read-store.ts';
import { rawDocket, rawEntry } from './raw-docket.ts';
import { bodyOf, contextOf, court, openWorld, overriding, type World } from './world.ts';

const STREAM = 'docket-cand-3:24-cv-01234';
const CASE_ID = '3:24-cv-01234';
const entries = ['COMPLAINT', 'SUMMONS issued', 'MOTION to Dismiss', 'ORDER granting 3 MOTION'].map((text, index) =>
  rawEntry(index + 1, `2024-02-0${index + 1}`, text),
);

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const caseDocument = async (): Promise<Stored> => (await world.storage.readStore.load(CASES, [STREAM])).get(STREAM)!;
const caseClock = async () => readClock((await world.storage.readStore.cell(caseClockId(STREAM))).value)!;

/** Answers while a read store is being rebuilt and has reached this document. */
function queriesOn(document: Stored) {
  const load = async (collection: string, ids: readonly string[]) =>
    collection === CASES ? new Map([[STREAM, document]]) : world.storage.readStore.load(collection, ids);
  const readStore = overriding<ReadStore>(world.storage.readStore, { load: load as ReadStore['load'] });
  return createCaseQueries({ readStore, freshness: world.freshness, clock: world.clock, patienceMs: 50 });
}

describe('a case whose read store is being rebuilt', () => {
  it('is not answered until it shows what was shown before: the caller would lose the rest', async () => {
    await world.ingest(rawDocket(entries.slice(0, 2)));
    const { queriedAt } = await world.ask('cand', CASE_ID);
    const before = await caseDocument();
    await world.ingest(rawDocket(entries));

    const query = {
      court: court('cand'),
      courtCode: 'cand',
      caseId: CASE_ID,
      lastChecked: queriedAt,
      since: queriedAt,
      context: 'basic',
      language: null,
      filingTypes: null,
    } as const;
    const early = queriesOn(before);
    for (const answer of [await early.answerCase(query), await early.answerMonitor(query)]) {
      expect(answer).toMatchObject({ problem: 'court_unavailable' });
    }
    const answer = await queriesOn(await caseDocument()).answerCase(query);
    if (isProblem(answer)) throw new Error(answer.problem);
    expect(bodyOf(answer).delta.change_count).toBe(2);
  });

  it('is answered once it is complete, whichever ingest ended last, and however', async () => {
    const isWhole = async () => !isBehind(await caseClock(), (await caseDocument()).position);
    await world.ingest(rawDocket(entries.slice(0, 1)), { complete: false });
    expect(await isWhole()).toBe(true);
    await world.ingest(rawDocket(entries.slice(0, 2)));
    expect(await isWhole()).toBe(true);
    await world.ingest(rawDocket(entries.slice(0, 3)));
    expect(await isWhole()).toBe(true);
    await world.ingest(rawDocket(entries.slice(0, 3)));
    expect(await isWhole()).toBe(true);

    // An ingest that died with its claim on the clock.
    const cell = await world.storage.readStore.cell(caseClockId(STREAM));
    const time = toInstant(world.clock.now() + 1_000_000);
    const dead = begin(readClock(cell.value)!, { time, ingestId: 'dead', baseline: false });
    await world.storage.readStore.compareAndSet(caseClockId(STREAM), cell.version, writeClock(dead));
    await endPending(world.ports, STREAM, contextOf());
    expect((await caseClock()).pending).toBeNull();
    expect((await caseClock()).shown).not.toBeNull();
    expect(await isWhole()).toBe(true);
  });

  it('shows that an ingest was given up, even if another process runs the projection', async () => {
    await world.ingest(rawDocket(entries.slice(0, 2)));
    const cell = await world.storage.readStore.cell(caseClockId(STREAM));
    const time = toInstant(world.clock.now() + 1_000_000);
    const dead = begin(readClock(cell.value)!, { time, ingestId: 'dead', baseline: false });
    await world.storage.readStore.compareAndSet(caseClockId(STREAM), cell.version, writeClock(dead));
    const { waitUntilProjected: _, ...elsewhere } = world.ports;
    await endPending({ ...elsewhere, visibleWithinMs: 2_000 }, STREAM, contextOf());
    expect((await caseClock()).pending).toBeNull();
  });

  it('with a clock of an earlier version, which does not say what was shown', () => {
    const { shown: _, ...earlier } = { version: 3, served: null, pending: null, oldestAsked: null, shown: null };
    expect(isBehind(readClock(earlier)!, '00000000000000000001')).toBe(false);
  });
});
