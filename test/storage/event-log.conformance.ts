/** What every event log must do, on any engine. The log may already contain other events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type EventBatch,
  type EventFilter,
  type EventLeaf,
  type EventLog,
  InvalidAppend,
  leavesOf,
  MAX_APPEND_BYTES,
  type Position,
  RevisionConflict,
  type StreamHead,
} from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import {
  appendInTurn,
  collect,
  contextOf,
  freshStream,
  NOON,
  notes,
  redaction,
  rises,
  TRACEPARENT,
  textOf,
} from './samples.ts';

export interface OpenedLog {
  readonly log: EventLog;
  /** Another client of the same log, as another process would be. The suite closes it. */
  another(): Promise<EventLog>;
  close(): Promise<void>;
}

export function eventLogConformance(name: string, open: () => Promise<OpenedLog>): void {
  describe(`${name}: event log`, () => {
    let opened: OpenedLog;
    let log: EventLog;
    beforeAll(async () => {
      opened = await open();
      log = opened.log;
    });
    afterAll(() => opened.close());

    describe('appending', () => {
      it('returns the revision and the position of the last event', async () => {
        const stream = freshStream();
        const appended = await log.append(notes(stream, ['a', 'b', 'c']));
        const events = await log.read(stream);
        expect(appended).toEqual({ revision: 2, position: events.at(-1)?.position });
        expect(await log.head()).toBe(appended.position);
      });

      it.each([
        ['', undefined],
        [', and with the span that wrote it', TRACEPARENT],
      ])('returns exactly what was prepared, with its members in order%s', async (_, traceparent) => {
        const stream = freshStream();
        const append = notes(stream, ['naïve “text” \u{1F4C4} \u2028 \\ "', ''], traceparent ? { traceparent } : {});
        await log.append(append);
        const events = await log.read(stream);
        expect(events.map(({ position, ...prepared }) => prepared)).toEqual(append.events);
        expect(JSON.stringify(events.map((event) => event.data))).toBe(
          JSON.stringify(append.events.map((event) => event.data)),
        );
        expect(JSON.stringify(events.map((event) => event.metadata))).toBe(
          JSON.stringify(append.events.map((event) => event.metadata)),
        );
      });

      it.each([
        ['a stream that exists though none is expected', -1, 1],
        ['an older revision', 0, 1],
        ['a revision that does not exist yet', 2, 1],
      ])('rejects %s and returns the actual revision', async (_, expected, actual) => {
        const stream = freshStream();
        await log.append(notes(stream, ['a', 'b']));
        const head = { revision: expected, hash: '' };
        const conflict = await log.append(notes(stream, ['other'], { head })).catch((error: unknown) => error);
        expect(conflict).toBeInstanceOf(RevisionConflict);
        expect(conflict).toMatchObject({ stream, expected, actual });
        expect(await log.read(stream)).toHaveLength(2);
      });

      it('rejects a revision of a stream that does not exist', async () => {
        const stream = freshStream();
        const head = { revision: 0, hash: '' };
        await expect(log.append(notes(stream, ['a'], { head }))).rejects.toMatchObject({ actual: -1 });
      });

      it('rejects an append of no events', async () => {
        const stream = freshStream();
        await expect(log.append({ stream, expected: -1, events: [] })).rejects.toBeInstanceOf(InvalidAppend);
        expect(await log.read(stream)).toEqual([]);
      });

      it('accepts an append up to the size limit and rejects one above it', async () => {
        const stream = freshStream();
        const large = notes(stream, ['x'.repeat(MAX_APPEND_BYTES - 1000)]);
        await log.append(large);
        const [event] = await log.read(stream);
        expect(event && textOf(event)).toHaveLength(MAX_APPEND_BYTES - 1000);
        const prepared = large.events[0]!;
        const tooLarge = { ...prepared, revision: 1, data: { ...prepared.data, reason: 'x'.repeat(MAX_APPEND_BYTES) } };
        await expect(log.append({ stream, expected: 0, events: [tooLarge] })).rejects.toBeInstanceOf(InvalidAppend);
      });
    });

    describe('repeating an append', () => {
      it('returns the original outcome, also after others have written since', async () => {
        const stream = freshStream();
        const append = notes(stream, ['a', 'b']);
        const original = await log.append(append);
        expect(await log.append(append)).toEqual(original);
        const next = notes(stream, ['c'], { head: headAfter(append) });
        await log.append(next);
        expect(await log.append(append)).toEqual(original);
        expect((await log.read(stream)).map(textOf)).toEqual(['a', 'b', 'c']);
      });

      it('is recognized in the middle of a stream', async () => {
        const stream = freshStream();
        const head = await appendInTurn(log, stream, ['a', 'b']);
        const append = notes(stream, ['c', 'd'], { head });
        const original = await log.append(append);
        expect(await log.append(append)).toEqual(original);
      });

      it('is recognized through another client', async () => {
        const stream = freshStream();
        const append = notes(stream, ['a', 'b']);
        const original = await log.append(append);
        const other = await opened.another();
        expect(await other.append(append)).toEqual(original);
        await other.close();
      });

      it('is recognized while the original is in flight', async () => {
        const stream = freshStream();
        const append = notes(stream, ['a', 'b']);
        const outcomes = await Promise.all([log.append(append), log.append(append), log.append(append)]);
        expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
        expect(await log.read(stream)).toHaveLength(2);
      });

      it('is recognized for a proper prefix, which has the outcome of its own last event', async () => {
        const stream = freshStream();
        const append = notes(stream, ['a', 'b', 'c']);
        await log.append(append);
        const prefix = await log.append({ ...append, events: append.events.slice(0, 2) });
        const events = await log.read(stream);
        expect(prefix).toEqual({ revision: 1, position: events[1]?.position });
        expect(events).toHaveLength(3);
      });

      it('conflicts if other ids come with the same expectation', async () => {
        const stream = freshStream();
        await log.append(notes(stream, ['a'], { commandId: 'one' }));
        const rival = notes(stream, ['a'], { commandId: 'two' });
        await expect(log.append(rival)).rejects.toMatchObject({ code: 'revision_conflict', expected: -1, actual: 0 });
      });

      it('conflicts if known ids are followed by a new one', async () => {
        const stream = freshStream();
        const append = notes(stream, ['a', 'b', 'c'], { commandId: 'longer' });
        await log.append({ ...append, events: append.events.slice(0, 2) });
        await expect(log.append(append)).rejects.toMatchObject({ code: 'revision_conflict', actual: 1 });
        expect(await log.read(stream)).toHaveLength(2);
      });
    });

    describe('concurrent writers', () => {
      it('win each revision of one stream exactly once', async () => {
        const stream = freshStream();
        const clients = [log, await opened.another()];
        const won: string[] = [];
        const write = async (writer: number) => {
          for (let wins = 0; wins < 10; ) {
            const client = clients[writer % 2]!;
            const last = (await client.read(stream)).at(-1);
            const head: StreamHead = last
              ? { revision: last.revision, hash: last.metadata.hash }
              : { revision: -1, hash: '' };
            const text = `${writer}:${wins}`;
            try {
              const { revision } = await client.append(notes(stream, [text], { head }));
              won[revision] = text;
              wins++;
            } catch (error) {
              if (!(error instanceof RevisionConflict)) throw error;
              expect(error.actual).toBeGreaterThan(head.revision);
            }
          }
        };
        await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
        const events = await log.read(stream);
        expect(events.map(textOf)).toEqual(won);
        expect(events.map((event) => event.revision)).toEqual(won.map((_, index) => index));
        expect(won).toHaveLength(80);
        await clients[1]?.close();
      });

      it('do not affect each other: of many appends sent together only the losers are rejected', async () => {
        const stream = freshStream();
        const rivals = Array.from({ length: 5 }, (_, index) => log.append(notes(stream, [`rival ${index}`])));
        const strangers = Array.from({ length: 20 }, () => log.append(notes(freshStream(), ['a', 'b'])));
        const invalid = log.append({ stream: freshStream(), expected: -1, events: [] });
        const outcomes = await Promise.allSettled([...rivals, ...strangers, invalid]);
        const fulfilled = outcomes.filter(({ status }) => status === 'fulfilled');
        expect(fulfilled).toHaveLength(21);
        expect(await log.read(stream)).toHaveLength(1);
      });
    });

    describe('reading a stream', () => {
      it('starts and ends where requested', async () => {
        const stream = freshStream();
        await log.append(notes(stream, ['a', 'b', 'c', 'd']));
        const texts = async (options?: { from?: number; limit?: number }) =>
          (await log.read(stream, options)).map(textOf);
        expect(await texts({ from: 2 })).toEqual(['c', 'd']);
        expect(await texts({ from: 1, limit: 2 })).toEqual(['b', 'c']);
        expect(await texts({ limit: 1 })).toEqual(['a']);
        expect(await texts({ from: 4 })).toEqual([]);
      });

      it('is empty for a stream that does not exist', async () => {
        expect(await log.read(freshStream())).toEqual([]);
      });

      it('shows an acknowledged append to every client', async () => {
        const other = await opened.another();
        for (let round = 0; round < 10; round++) {
          const stream = freshStream();
          await log.append(notes(stream, ['a']));
          expect(await other.read(stream)).toHaveLength(1);
        }
        await other.close();
      });
    });

    describe('reading all', () => {
      it('returns every event after a position once, in one order, and ends', async () => {
        const start = await log.head();
        const streams = [freshStream(), freshStream()];
        for (const text of ['a', 'b', 'c']) {
          for (const stream of streams) {
            const last = (await log.read(stream)).at(-1);
            const head = last ? { revision: last.revision, hash: last.metadata.hash } : { revision: -1, hash: '' };
            await log.append(notes(stream, [`${text}1`, `${text}2`], { head }));
          }
        }
        const { events, position } = await collect(log, start);
        expect(events.map(textOf)).toEqual(['a1', 'a2', 'a1', 'a2', 'b1', 'b2', 'b1', 'b2', 'c1', 'c2', 'c1', 'c2']);
        expect(rises(events.map((event) => event.position))).toBe(true);
        expect(position && position >= (events.at(-1)?.position ?? '')).toBe(true);
        expect((await collect(log, position)).events).toEqual([]);
      });

      it('agrees with reading streams', async () => {
        const start = await log.head();
        const stream = freshStream();
        await appendInTurn(log, stream, ['a', 'b', 'c']);
        expect((await collect(log, start)).events).toEqual(await log.read(stream));
      });

      it('continues from any position that it returned', async () => {
        const start = await log.head();
        const stream = freshStream();
        await log.append(notes(stream, ['a', 'b', 'c', 'd']));
        const { events } = await collect(log, start);
        for (const [index, event] of events.entries()) {
          expect((await collect(log, event.position)).events).toEqual(events.slice(index + 1));
        }
      });

      it('gives the same events without content', async () => {
        const start = await log.head();
        for (let count = 0; count < 6; count++) {
          await log.append(
            notes(
              freshStream(),
              Array.from({ length: 100 }, (_, index) => `${count} ${index}`),
            ),
          );
        }
        const leaves: EventLeaf[] = [];
        for await (const batch of leavesOf(log, start)) leaves.push(...batch);
        const { events } = await collect(log, start);
        expect(leaves).toEqual(
          events.map(({ position, stream, revision, id, metadata: { hash } }) => ({
            position,
            stream,
            revision,
            id,
            hash,
          })),
        );
        expect(leaves).toHaveLength(600);
        for await (const batch of leavesOf(log, leaves[599]?.position ?? null)) expect(batch).toEqual([]);
      });

      it('starts at the beginning of the log without a position', async () => {
        const first = await collect(log, null);
        const appended = await log.append(notes(freshStream(), ['newest']));
        const again = await collect(log, null);
        expect(again.events).toHaveLength(first.events.length + 1);
        expect(again.events.at(-1)?.position).toBe(appended.position);
        expect(rises(again.events.map((event) => event.position))).toBe(true);
      });

      it('returns large results in batches, never all at once', async () => {
        const start = await log.head();
        const stream = freshStream();
        let head: StreamHead = { revision: -1, hash: '' };
        for (let index = 0; index < 16; index++) {
          const append = notes(stream, ['x'.repeat(MAX_APPEND_BYTES - 2000)], { head });
          await log.append(append);
          head = headAfter(append);
        }
        let largest = 0;
        let seen = 0;
        for await (const { events } of log.readAll(start, { by: 'all' })) {
          largest = Math.max(largest, events.length);
          seen += events.length;
        }
        expect(seen).toBe(16);
        expect(largest).toBeLessThanOrEqual(8);
      });

      it('counts what follows a position, up to a limit', async () => {
        const start = await log.head();
        await log.append(notes(freshStream(), ['a', 'b', 'c']));
        expect(await log.countAfter(start, 100)).toBe(3);
        expect(await log.countAfter(start, 2)).toBe(2);
        expect(await log.countAfter(await log.head(), 100)).toBe(0);
      });
    });

    describe('filters', () => {
      const mixed = async () => {
        const start = await log.head();
        const docket = freshStream('docket');
        const operator = freshStream('operator');
        const operatorAppend = prepareAppend({
          stream: operator,
          head: { revision: -1, hash: '' },
          events: [redaction('1'), redaction('2')],
          context: contextOf(),
          recordedAt: NOON,
        });
        await log.append(notes(docket, ['a', 'b']));
        await log.append(operatorAppend);
        const { position: end } = await log.append(notes(freshStream('docket-alias'), ['c']));
        return { start, docket, operator, end };
      };

      it('return the events of some types', async () => {
        const { start } = await mixed();
        const { events } = await collect(log, start, { by: 'types', types: ['ContentRedacted'] });
        expect(events.map((event) => event.data.reason)).toEqual(['1', '2']);
        const both = await collect(log, start, { by: 'types', types: ['ContentRedacted', 'EventSkipped'] });
        expect(both.events).toHaveLength(5);
      });

      it('return the events of streams with a given prefix', async () => {
        const { start, docket, operator } = await mixed();
        const streamsOf = async (prefixes: string[]) =>
          new Set((await collect(log, start, { by: 'streams', prefixes })).events.map((event) => event.stream));
        expect(await streamsOf(['operator-'])).toEqual(new Set([operator]));
        expect((await streamsOf(['docket-'])).size).toBe(2);
        expect((await streamsOf(['operator-', 'docket-alias-'])).size).toBe(2);
        expect(await streamsOf([docket])).toEqual(new Set([docket]));
        expect((await streamsOf(['%', 'docket_', 'ocket'])).size).toBe(0);
      });

      it('move their position past the events that they omit', async () => {
        const { start, end } = await mixed();
        const { events, position } = await collect(log, start, { by: 'types', types: ['ContentRedacted'] });
        expect(events.at(-1)?.position && events.at(-1)!.position < end).toBe(true);
        expect(position && position >= end).toBe(true);
        const nothing = await collect(log, start, { by: 'types', types: ['NobodyWritesThis'] });
        expect(nothing.events).toEqual([]);
        expect(nothing.position && nothing.position >= end).toBe(true);
      });

      it('return nothing if nothing is wanted', async () => {
        const { start } = await mixed();
        expect((await collect(log, start, { by: 'types', types: [] })).events).toEqual([]);
        expect((await collect(log, start, { by: 'streams', prefixes: [] })).events).toEqual([]);
      });
    });

    describe('subscribing', () => {
      /** Reads batches until enough events came. */
      const take = async (
        count: number,
        from: Position | null,
        filter: EventFilter = { by: 'all' },
        client: EventLog = log,
      ): Promise<readonly EventBatch[]> => {
        const batches: EventBatch[] = [];
        let seen = 0;
        for await (const batch of client.subscribe(from, filter)) {
          batches.push(batch);
          seen += batch.events.length;
          if (seen >= count) break;
        }
        return batches;
      };
      const eventsOf = (batches: readonly EventBatch[]) => batches.flatMap((batch) => batch.events);

      it('reports that it is live when there is nothing to catch up with', async () => {
        await log.append(notes(freshStream(), ['a']));
        const head = await log.head();
        for await (const batch of log.subscribe(head, { by: 'all' })) {
          expect(batch.events).toEqual([]);
          expect(batch.live).toBe(true);
          expect(batch.position >= (head ?? '')).toBe(true);
          break;
        }
      });

      it('catches up, says so, and continues with what is written from then on', async () => {
        const start = await log.head();
        const stream = freshStream();
        const head = await appendInTurn(log, stream, ['a', 'b', 'c']);
        const texts: string[] = [];
        let live = false;
        for await (const batch of log.subscribe(start, { by: 'all' })) {
          texts.push(...batch.events.map(textOf));
          if (live) expect(batch.live).toBe(true);
          if (batch.live && !live) {
            live = true;
            expect(texts).toEqual(['a', 'b', 'c']);
            await log.append(notes(stream, ['d', 'e'], { head }));
          }
          if (texts.length === 5) break;
        }
        expect(texts).toEqual(['a', 'b', 'c', 'd', 'e']);
      });

      it('returns each event once and in order while writers continue', async () => {
        const start = await log.head();
        const other = await opened.another();
        const write = async (client: EventLog) => {
          for (let round = 0; round < 40; round++) {
            await Promise.all([1, 2, 3].map((n) => client.append(notes(freshStream(), [`${round}-${n}`, 'second']))));
          }
        };
        const subscribed = [take(480, start), take(480, start, { by: 'all' }, other)];
        await Promise.all([write(log), write(other)]);
        const [here, there] = (await Promise.all(subscribed)).map(eventsOf);
        const { events } = await collect(log, start);
        expect(events).toHaveLength(480);
        expect(here).toEqual(events);
        expect(there).toEqual(events);
        expect(rises(events.map((event) => event.position))).toBe(true);
      });

      it('sees what another client writes', async () => {
        const start = await log.head();
        const other = await opened.another();
        const waiting = take(1, start);
        await sleep(50);
        const stream = freshStream();
        await other.append(notes(stream, ['from afar']));
        expect(eventsOf(await waiting).map((event) => event.stream)).toEqual([stream]);
        await other.close();
      });

      it('waits for a slow consumer and loses nothing meanwhile', async () => {
        const start = await log.head();
        const seen: string[] = [];
        let working = 0;
        const slow = (async () => {
          for await (const batch of log.subscribe(start, { by: 'all' })) {
            expect(++working).toBe(1);
            await sleep(20);
            seen.push(...batch.events.map((event) => event.stream));
            working--;
            if (seen.length >= 200) break;
          }
        })();
        const written: string[] = [];
        for (let index = 0; index < 200; index++) {
          written.push(freshStream());
          await log.append(notes(written.at(-1)!, ['a']));
        }
        await slow;
        expect(seen).toEqual(written);
      });

      it('moves its position past what the filter omits, also live', async () => {
        const start = await log.head();
        const unwanted = (async () => {
          await sleep(30);
          return log.append(notes(freshStream(), ['unwanted']));
        })();
        const { position } = await unwanted;
        for await (const batch of log.subscribe(start, { by: 'types', types: ['NobodyWritesThis'] })) {
          expect(batch.events).toEqual([]);
          if (batch.position >= position) break;
        }
        const waiting = take(1, start, { by: 'streams', prefixes: ['rare-'] });
        await log.append(notes(freshStream(), ['unwanted']));
        await log.append(notes(freshStream('rare'), ['wanted']));
        expect(eventsOf(await waiting).map(textOf)).toEqual(['wanted']);
      });

      it('ends by its signal, while it waits and before it starts', async () => {
        const abort = new AbortController();
        const ended = (async () => {
          let batches = 0;
          for await (const _ of log.subscribe(await log.head(), { by: 'all' }, abort.signal)) batches++;
          return batches;
        })();
        await sleep(50);
        abort.abort();
        expect(await ended).toBeLessThanOrEqual(1);
        for await (const _ of log.subscribe(null, { by: 'all' }, abort.signal)) expect.unreachable();
      });

      it('ends by its signal in the middle of catching up', async () => {
        const start = await log.head();
        for (let index = 0; index < 3; index++) await log.append(notes(freshStream(), ['a', 'b']));
        const abort = new AbortController();
        let batches = 0;
        for await (const _ of log.subscribe(start, { by: 'all' }, abort.signal)) {
          batches++;
          abort.abort();
        }
        expect(batches).toBe(1);
      });
    });

    it('answers a check', async () => {
      await log.check();
    });
  });
}
