/** A complete embedded storage with the projection of cases running, for end-to-end docket tests. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import type { IngestPorts } from '../../src/commands/docket/clock.ts';
import { type IngestReport, ingestDocket } from '../../src/commands/docket/ingest.ts';
import { findCourt } from '../../src/courts/registry.ts';
import { cases } from '../../src/projections/cases.ts';
import { createFreshness } from '../../src/projections/freshness.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { type CaseAnswer, type CaseQuery, createCaseQueries } from '../../src/queries/case-answer.ts';
import { type Clock, MICROS_PER_MS, type Micros, toInstant } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import type { CommandContext } from '../../src/storage/event-log.ts';
import { openTestStorage } from '../support/storage.ts';

/** A clock that tests move; it also advances by itself, so that no two readings are equal. */
export class TestClock implements Clock {
  #now: Micros;
  constructor(start = Date.UTC(2026, 2, 1, 12) * MICROS_PER_MS) {
    this.#now = start;
  }
  now(): Micros {
    return this.#now++;
  }
  advance(ms: number): void {
    this.#now += ms * MICROS_PER_MS;
  }
}

export const contextOf = (commandId: string = randomUUID()): CommandContext => ({
  commandId,
  requestId: null,
  correlationId: commandId,
  causationId: null,
  actor: 'test',
});

export const court = (code: string) => findCourt(code)!;

/** A port with some of its methods replaced. */
export function overriding<Port extends object>(port: Port, methods: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      if (Reflect.has(methods, name)) return Reflect.get(methods, name);
      const member = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** @param others projections to run beside that of cases */
export async function openWorld(clock: TestClock = new TestClock(), others: readonly Projection[] = []) {
  const directory = await mkdtemp(join(tmpdir(), 'docket-test-'));
  const storage = await openTestStorage(directory, clock);
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases, ...others],
    clock: { now: () => Date.now() * MICROS_PER_MS },
    logger: pino({ level: 'silent' }),
    owner: `test-${process.pid}-${randomUUID()}`,
  });
  await runner.start();
  const ports: IngestPorts = {
    ...storage,
    clock,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    abandonAfterMs: 200,
    waitUntilProjected: async (position) => {
      if (!(await runner.waitFor('cases', position, 30_000))) throw new Error(`not projected: ${position}`);
    },
  };
  const freshness = createFreshness({ ...storage, runner, projection: cases.name });
  const queries = createCaseQueries({ readStore: storage.readStore, freshness, clock, patienceMs: 100 });
  return {
    directory,
    storage,
    runner,
    ports,
    clock,
    freshness,
    queries,
    /** Imports a docket as juriscraper writes it. */
    async ingest(raw: unknown, { complete = true, askedAt = toInstant(clock.now()) } = {}): Promise<IngestReport> {
      const read = readJuriscraperDocket(raw, { askedAt, complete, source: 'file' });
      if ('refused' in read) throw new Error(read.refused);
      const report = await ingestDocket(ports, read.snapshot, contextOf());
      if ('refused' in report) throw new Error(report.refused);
      await ports.waitUntilProjected?.(report.position);
      return report;
    },
    async ask(code: string, caseId: string, more: Partial<CaseQuery> = {}): Promise<CaseAnswer> {
      const answer = await queries.answerCase({
        court: court(code),
        courtCode: code,
        caseId,
        lastChecked: null,
        since: more.lastChecked ?? null,
        context: 'basic',
        language: null,
        filingTypes: null,
        ...more,
      });
      if ('problem' in answer) throw new Error(JSON.stringify(answer));
      return answer;
    },
    async close(): Promise<void> {
      await runner.stop();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** An answer's body, for assertions. */
// biome-ignore lint/suspicious/noExplicitAny: answers are JSON that tests look into
export const bodyOf = (answer: CaseAnswer): any => answer.body;
