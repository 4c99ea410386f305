import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventLog } from '../../src/storage/event-log.ts';
import { InvalidAppend, RevisionConflict } from '../../src/storage/event-log.ts';
import { readConnectionString } from '../../src/storage/eventstoredb/connection-string.ts';
import { EventStoreEventLog } from '../../src/storage/eventstoredb/event-log.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { freePort } from '../support/processes.ts';
import { ENGINES } from '../support/storage.ts';
import { eventLogConformance } from './event-log.conformance.ts';
import { appendInTurn, collect, freshStream, notes, rises } from './samples.ts';

const missing = ENGINES.eventStore === '' ? ' (skipped: EVENTSTORE_URL is not set)' : '';

describe.skipIf(missing)(`on EventStoreDB${missing}`, () => {
  const settings = () => readConnectionString(ENGINES.eventStore);

  eventLogConformance('EventStoreDB', async () => {
    const log = new EventStoreEventLog(settings());
    return { log, another: async () => new EventStoreEventLog(settings()), close: () => log.close() };
  });

  describe('EventStoreDB: what its client would do wrong', () => {
    let log: EventLog;
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    beforeAll(async () => {
      process.on('unhandledRejection', note);
      log = await openEventStore(ENGINES.eventStore);
    });
    afterAll(async () => {
      await log.close();
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    });

    it.each([
      ['an id that is not a UUID', { id: 'abc' }],
      ['an empty id', { id: '' }],
      ['an empty type', { type: '' }],
      ['a bigint in the data', { data: { amount: 1n } as never }],
    ])('%s is rejected before it is sent, and nothing is thrown later', async (_, fault) => {
      const append = notes(freshStream(), ['a']);
      const broken = { ...append, events: [{ ...append.events[0]!, ...fault }] };
      await expect(log.append(broken)).rejects.toBeInstanceOf(InvalidAppend);
      expect(await log.read(append.stream)).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 2500));
    });

    it('a conflict says what it is about', async () => {
      const stream = freshStream();
      await log.append(notes(stream, ['a']));
      const conflict = await log.append(notes(stream, ['b'])).catch((error: unknown) => error);
      expect(conflict).toBeInstanceOf(RevisionConflict);
      expect((conflict as Error).message).toContain(stream);
    });

    it('closing one log does not affect the appends of another', async () => {
      for (let round = 0; round < 10; round++) {
        const passing = await openEventStore(ENGINES.eventStore);
        const [ours, theirs] = [freshStream(), freshStream()];
        const appending = [log.append(notes(ours, ['a'])), passing.append(notes(theirs, ['b']))];
        await passing.close();
        expect((await Promise.allSettled(appending)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      }
    });

    it('more concurrent readers than a connection carries calls all get their turn', async () => {
      const stream = freshStream();
      await log.append(notes(stream, ['a']));
      const read = await Promise.all(Array.from({ length: 300 }, () => log.read(stream)));
      expect(read.every((events) => events.length === 1)).toBe(true);
    });

    it('abandoned subscriptions hold no call open', async () => {
      const start = await log.head();
      for (let round = 0; round < 150; round++) {
        for await (const { live } of log.subscribe(start, { by: 'all' })) if (live) break;
      }
      expect(await log.read(freshStream())).toEqual([]);
    });

    it('an append of a hundred events reaches live subscribers whole and in order', async () => {
      const seen: string[] = [];
      const stream = freshStream();
      const texts = Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(5000)}`);
      const writes = { done: false };
      for await (const { events, live } of log.subscribe(await log.head(), { by: 'streams', prefixes: [stream] })) {
        seen.push(...events.map(({ position }) => position));
        if (live && !writes.done) {
          writes.done = true;
          await log.append(notes(stream, texts));
        }
        if (seen.length >= 100) break;
      }
      expect(seen).toHaveLength(100);
      expect(rises(seen)).toBe(true);
      expect((await collect(log, null, { by: 'streams', prefixes: [stream] })).events).toHaveLength(100);
    });

    it('going live while others write skips nothing', async () => {
      for (let round = 0; round < 5; round++) {
        const start = await log.head();
        const abort = new AbortController();
        const followers = Array.from({ length: 4 }, async () => {
          const seen: string[] = [];
          for await (const { events } of log.subscribe(start, { by: 'all' }, abort.signal)) {
            seen.push(...events.map(({ position }) => position));
            if (seen.length >= 360) break;
          }
          return seen;
        });
        for (let append = 0; append < 30; append++) {
          await Promise.all([1, 2, 3, 4, 5, 6].map(() => log.append(notes(freshStream(), ['first', 'second']))));
        }
        const late = setTimeout(() => abort.abort(), 40_000);
        const written = (await collect(log, start)).events.map(({ position }) => position);
        for (const seen of await Promise.all(followers)) expect(seen).toEqual(written);
        clearTimeout(late);
      }
    });

    it('types are whole names, not prefixes', async () => {
      const start = await log.head();
      await appendInTurn(log, freshStream(), ['a']);
      expect((await collect(log, start, { by: 'types', types: ['EventSkip', 'Event.kipped'] })).events).toEqual([]);
      expect((await collect(log, start, { by: 'types', types: ['EventSkipped'] })).events).toHaveLength(1);
    });

    it('positions of another engine are rejected', async () => {
      await expect(collect(log, '00000000000000000001')).rejects.toBeInstanceOf(RangeError);
    });

    it('everything is rejected once the log is closed, and subscribers get an error', async () => {
      const closing = await openEventStore(ENGINES.eventStore);
      const subscribed = (async () => {
        for await (const _ of closing.subscribe(null, { by: 'types', types: [] }));
      })();
      const ended = expect(subscribed).rejects.toMatchObject({ code: 'storage_closed' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      await closing.close();
      await closing.close();
      await ended;
      const closed = { code: 'storage_closed' };
      await expect(closing.append(notes(freshStream(), ['a']))).rejects.toMatchObject(closed);
      await expect(closing.read('any')).rejects.toMatchObject(closed);
      await expect(closing.check()).rejects.toMatchObject(closed);
    });

    it('a store that does not exist is reported at once, with where to look', async () => {
      const url = `esdb://127.0.0.1:${await freePort()}?tls=false`;
      await expect(openEventStore(url)).rejects.toMatchObject({ code: 'storage_unavailable' });
    });

    it('credentials in the connection string are used', async () => {
      const withUser = ENGINES.eventStore.includes('@')
        ? ENGINES.eventStore
        : ENGINES.eventStore.replace('://', '://admin:change%3Ait@');
      const other = await openEventStore(withUser);
      const stream = freshStream();
      await other.append(notes(stream, ['a']));
      expect(await other.read(stream)).toHaveLength(1);
      await other.close();
    });
  });
});
