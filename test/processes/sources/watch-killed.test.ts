/**
 * The watch is killed in the middle of looks, again and again: given cases that are due, when another process takes over,
 * then each is looked at, none twice unless its look was not recorded, and the read model is what a rebuild makes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEvent } from '../../../src/events/codec.ts';
import type { JsonObject } from '../../../src/events/event.ts';
import { createCaseWatch } from '../../../src/processes/sources/watch.ts';
import type { ProjectedEvent } from '../../../src/projections/projection.ts';
import { WATCHED_CASES, watchedCases } from '../../../src/projections/watched-cases.ts';
import { HOUR, openWatchWorld, type WatchWorld } from './watch-world.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const NUMBERS = Array.from({ length: 12 }, (_, index) => `3:26-cv-${String(index + 1).padStart(5, '0')}`);

/** The documents that a rebuild from the log makes. */
async function rebuilt({ log }: WatchWorld): Promise<ReadonlyMap<string, JsonObject>> {
  const documents = new Map<string, JsonObject>();
  const types = watchedCases.events.map(({ type }) => type);
  for await (const { events } of log.readAll(null, { by: 'types', types })) {
    for (const recorded of events) {
      const projected = {
        event: decodeEvent(recorded),
        recorded,
        contents: new Map(),
      } as unknown as ProjectedEvent<never>;
      for (const target of watchedCases.targets(projected)) {
        if (target.collection !== WATCHED_CASES) continue;
        const document = watchedCases.fold(target, documents.get(target.id) ?? null, projected);
        if (document) documents.set(target.id, document);
        else documents.delete(target.id);
      }
    }
  }
  return documents;
}

describe('the watch, killed in the middle of looks', () => {
  it('looks at every case that is due, and repeats only looks that were not recorded', {
    timeout: 30_000,
  }, async () => {
    const kill = fc.record({ after: fc.integer({ min: 1, max: 5 }), wasRecorded: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 4 }), async (kills) => {
        const world = await openWatchWorld();
        try {
          const streams = [];
          for (const number of NUMBERS) streams.push(await world.shown('cand', number));
          await world.asked(...streams);
          world.move(2 * HOUR);
          const recorded = new Map<string, number>();
          const start = () =>
            createCaseWatch({
              ...{ log: world.log, readStore: world.readStore, desk: world.desk, clock: world.clock, logger: silent },
              ...{ rates: () => [], watchDays: 30, owner: 'test' },
            });
          const show = async (code: string, caseNumber: string) => {
            await world.shown(code, caseNumber);
            recorded.set(caseNumber, (recorded.get(caseNumber) ?? 0) + 1);
          };
          for (const { after, wasRecorded } of kills) {
            let left = after;
            await new Promise<void>((killed) => {
              world.script.behave = async ({ court, caseNumber }) => {
                left--;
                if (left > 0 || wasRecorded) await show(court.code, caseNumber);
                if (left > 0) return { look: 'complete', stream: world.streamOf(court.code, caseNumber) };
                killed();
                // What was killed never goes on.
                return new Promise(() => undefined);
              };
              void start()
                .step(world.clock.now())
                .then(() => killed());
            });
            await world.projected();
          }
          world.script.behave = async ({ court, caseNumber }) => {
            await show(court.code, caseNumber);
            return { look: 'complete', stream: world.streamOf(court.code, caseNumber) };
          };
          await start().step(world.clock.now());
          await world.projected();
          expect([...recorded.keys()].sort()).toEqual(NUMBERS);
          expect([...recorded.values()]).toEqual(NUMBERS.map(() => 1));
          const stored = await world.readStore.load(WATCHED_CASES, streams);
          expect(new Map([...stored].map(([id, { document }]) => [id, document]))).toEqual(await rebuilt(world));
        } finally {
          await world.close();
        }
      }),
      { numRuns: 8 },
    );
  });
});
