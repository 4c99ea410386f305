/** The read model of cases on real storage, built event by event, so that a test can query it at every step. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { isProblem } from '../../src/errors.ts';
import { applyEvents } from '../../src/projections/apply-events.ts';
import { cases } from '../../src/projections/cases.ts';
import type { Freshness } from '../../src/projections/freshness.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { bodyOf, contextOf, court, TestClock } from '../dockets/world.ts';
import { openTestStorage } from '../support/storage.ts';

const TYPES = cases.events.map(({ type }) => type);

export async function openStepwise() {
  const directory = await mkdtemp(join(tmpdir(), 'stepwise-'));
  const clock = new TestClock();
  const storage = await openTestStorage(directory, clock);
  const { log, readStore } = storage;
  await readStore.prepare(cases.name, 1, cases.collections);

  async function waiting(): Promise<readonly RecordedEvent[]> {
    const from = await readStore.checkpoint(cases.name, await readStore.activeGeneration(cases.name));
    const events: RecordedEvent[] = [];
    for await (const batch of log.readAll(from, { by: 'types', types: TYPES })) events.push(...batch.events);
    return events;
  }

  /** Shows this many of the coming events; false if there is none. */
  async function show(count = Number.POSITIVE_INFINITY): Promise<boolean> {
    const events = (await waiting()).slice(0, count);
    const generation = await readStore.activeGeneration(cases.name);
    const application = { ...storage, clock, projection: cases, generation };
    await applyEvents({ ...application, assertOwner: async () => {}, committed: () => {} }, events);
    return events.length > 0;
  }

  let asked = 0;
  /** What a process that does not wait knows of the reach. */
  const freshness = (wasBuilt: boolean): Freshness => ({
    wasBuilt,
    async showsEverything() {
      asked++;
      return (await waiting()).length === 0;
    },
  });

  return {
    storage,
    show,
    freshness,
    waiting,
    /** How often the head of the log was read. */
    asked: () => asked,
    /** Records a docket under this number; it becomes visible only if the next one needs that to be recorded. */
    async record(number: string, entries = 1): Promise<void> {
      const office = /^(\d+):/.exec(number)?.[1] ?? null;
      const filings = Array.from({ length: entries }, (_, index) =>
        rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`),
      );
      const raw = rawDocket(filings, { docket_number: number, federal_dn_office_code: office });
      const read = readJuriscraperDocket(raw, { askedAt: toInstant(clock.now()), complete: true, source: 'file' });
      if ('refused' in read) throw new Error(read.refused);
      const ports = {
        ...storage,
        clock,
        newId: randomUUID,
        sleep: (ms: number) => delay(ms),
        waitUntilProjected: async () => void (await show()),
      };
      const report = await ingestDocket(ports, read.snapshot, contextOf());
      if ('refused' in report) throw new Error(report.refused);
    },
    /** From now on readers see an empty model; clocks stay, as they do in a lost read store. */
    async beginAnew(): Promise<void> {
      const next = (await readStore.activeGeneration(cases.name)) + 1;
      await readStore.prepare(cases.name, next, cases.collections);
      await readStore.movePointer(cases.name, { active: next - 1, next: null }, { active: next, next: null });
    },
    /**
     * The number of the case that a query returns, or why it returns none; by both queries. A number may change to a
     * more complete one: by its first filing a case is known for good.
     */
    async ask(
      caseId: string,
      { wasBuilt = false, on = readStore as ReadStore, byFiling = false } = {},
    ): Promise<string> {
      const queries = createCaseQueries({ readStore: on, freshness: freshness(wasBuilt), clock, patienceMs: 0 });
      const cand = court('cand');
      const options = { since: null, context: 'full', language: null, filingTypes: null } as const;
      const asking = { court: cand, courtCode: 'cand', caseId, lastChecked: null, ...options };
      const answer = await queries.answerCase(asking);
      const monitored = await queries.answerMonitor(asking);
      const shown = (): string => {
        if (isProblem(answer)) return '';
        const { case_number, docket_history } = bodyOf(answer).case;
        return byFiling ? docket_history[0].filing_id : case_number;
      };
      const outcome = isProblem(answer)
        ? [answer.problem, ...((answer.details.candidates ?? []) as string[]).toSorted()].join(' ')
        : shown();
      if (isProblem(answer) !== isProblem(monitored)) throw new Error(`case and monitor differ: ${outcome}`);
      return outcome;
    },
    async close(): Promise<void> {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Stepwise = Awaited<ReturnType<typeof openStepwise>>;
