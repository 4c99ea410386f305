import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentRedacted, contentStream } from '../../src/events/content.ts';
import type { DomainEvent } from '../../src/events/event.ts';
import { EventSkipped, operatorStream, projectionSubject } from '../../src/events/operator.ts';
import { QueryAnswered } from '../../src/events/payment.ts';
import type { Projection } from '../../src/projections/projection.ts';
import {
  createProjectionRunner,
  ProjectionHalted,
  type ProjectionRunner,
  type ProjectionRunnerOptions,
} from '../../src/projections/runner.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM, type Position, type StreamHead } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { contextOf, freshStream } from '../storage/samples.ts';
import { countTurns } from '../support/turns.ts';
import { entry, type LedgerDocument, ledger, POISON } from './ledger.ts';

const SECONDS = 1000;

describe('projection runner', () => {
  let directory: string;
  let storage: SqliteStorage;
  let runners: ProjectionRunner[];
  let heads: Map<string, StreamHead>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-runner-'));
    storage = openSqlite({ directory });
    runners = [];
    heads = new Map();
  });
  afterEach(async () => {
    for (const runner of runners) await runner.stop();
    await storage.close();
    await rm(directory, { recursive: true });
  });

  const runner = (options: Partial<ProjectionRunnerOptions> = {}): ProjectionRunner => {
    const created = createProjectionRunner({
      ...storage,
      projections: [ledger()],
      clock: systemClock,
      logger: pino({ level: 'silent' }),
      owner: `owner ${runners.length}`,
      retryDelaysMs: [1, 1],
      ...options,
    });
    runners.push(created);
    return created;
  };

  const append = async (stream: string, events: readonly DomainEvent[]): Promise<Position> => {
    const prepared = prepareAppend({
      stream,
      head: heads.get(stream) ?? NO_STREAM,
      events,
      context: contextOf(),
      recordedAt: toInstant(systemClock.now()),
    });
    const { position } = await storage.log.append(prepared);
    heads.set(stream, headAfter(prepared));
    return position;
  };
  const write = (caseId: string, ...texts: string[]): Promise<Position> =>
    append(
      `ledger-${caseId}`,
      texts.map((text) => entry([`${caseId}-filing`], caseId, text)),
    );
  const entriesOf = async (caseId: string, name = 'ledger') =>
    (await storage.readStore.load<LedgerDocument>(`${name}-cases`, [caseId])).get(caseId)?.document.entries ?? null;
  const statusOf = async (from: ProjectionRunner, name = 'ledger') =>
    (await from.status()).find(({ projection }) => projection === name)!;
  const until = async (condition: () => Promise<boolean>) => {
    for (const end = performance.now() + 30_000; !(await condition()); await sleep(5)) {
      if (performance.now() > end) expect.fail('it did not happen within thirty seconds');
    }
  };

  describe('following the log', () => {
    it('catches up with existing events and shows new ones to waiting callers', async () => {
      await write('a', '1', '2');
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', await write('a', '3'), 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['1', '2', '3']);
      expect(await running.waitFor('ledger', await write('a', '4'), 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['1', '2', '3', '4']);
    });

    it('shows each append soon, without an explicit read', async () => {
      const running = runner();
      await running.start();
      await running.waitFor('ledger', await write('a', 'first'), 30 * SECONDS);
      const latencies: number[] = [];
      for (let index = 0; index < 50; index++) {
        const position = await write('a', `${index}`);
        const start = performance.now();
        expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
        latencies.push(performance.now() - start);
      }
      const median = latencies.sort((one, other) => one - other)[25]!;
      // Milliseconds (`bench/rebuild.mjs` measures them), but not on a machine that is busy with other tests.
      expect(median).toBeLessThan(500);
    });

    it('moves past events that the projection ignores, in memory at once and in the store soon', async () => {
      const running = runner();
      await running.start();
      const skippedFor = (projection: string) => EventSkipped.of({ projection, position: '0', reason: 'none' });
      const position = await append(freshStream(), [skippedFor('nobody')]);
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      await until(async () => (await storage.readStore.checkpoint('ledger', 1)) === position);
    });

    it('answers callers that wait in vain after the timeout', async () => {
      const running = runner();
      const position = await write('a', '1');
      const beyond = String(Number(position) + 1).padStart(20, '0');
      expect(await running.waitFor('ledger', position, 20)).toBe(false);
      await running.start();
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      expect(await running.waitFor('ledger', beyond, 50)).toBe(false);
      await expect(running.waitFor('nothing', position, 1)).rejects.toBeInstanceOf(RangeError);
    });

    it('continues from its checkpoint after a restart, without repeating anything', async () => {
      for (let round = 1; round <= 3; round++) {
        const position = await write('a', `${round}`);
        const running = runner();
        await running.start();
        expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
        await running.stop();
      }
      expect(await entriesOf('a')).toEqual(['1', '2', '3']);
    });

    it('can be stopped and started again', async () => {
      const running = runner();
      await running.start();
      await running.stop();
      const position = await write('a', '1');
      expect(await running.waitFor('ledger', position, 50)).toBe(false);
      await running.start();
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
    });

    it('lets other work run while it catches up', async () => {
      for (let index = 0; index < 20; index++) await write(`case ${index}`, ...Array.from({ length: 100 }, () => 'x'));
      const position = await write('last', 'x');
      const running = runner();
      const turns = countTurns();
      await running.start();
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      // Turns and not milliseconds: how long one takes depends on what else the machine does.
      expect(turns.stop()).toBeGreaterThan(10);
    });

    it('rejects two projections with one name', () => {
      expect(() => runner({ projections: [ledger(), ledger()] })).toThrow(RangeError);
    });
  });

  describe('content', () => {
    const answered = (answer: string, keepUntil: string): DomainEvent =>
      QueryAnswered.of({
        requestId: '11111111-1111-4111-8111-111111111111',
        answer,
        keepUntil,
        answeredCases: 1,
        keyCall: null,
        callbacks: [],
      });
    const KEPT = '2999-01-01T00:00:00.000000Z';
    const PAST = '2020-01-01T00:00:00.000000Z';
    const NOWHERE = 'f'.repeat(64);
    const put = (text: string) => storage.payloads.put('answer', Buffer.from(text));
    const redact = (name: string, replacement: string | null) =>
      append(contentStream(name), [
        ContentRedacted.of({ name, replacement, stream: 'case', revision: 0, filingIds: [], reason: 'sealed' }),
      ]);
    const shown = async (name: string, keepUntil = KEPT) => {
      const stream = freshStream('case');
      const position = await append(stream, [answered(name, keepUntil)]);
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      return entriesOf(stream);
    };

    it('is passed to the fold', async () => {
      expect(await shown(await put('the answer'))).toEqual(['the answer']);
    });

    it('arrives as redacted, with its replacement', async () => {
      const [name, replacement] = [await put('secret'), await put('[sealed]')];
      await storage.payloads.remove(name, replacement);
      expect(await shown(name)).toEqual(['[sealed] (redacted)']);
    });

    it('arrives as redacted and empty if it was removed without replacement', async () => {
      const name = await put('secret');
      await redact(name, null);
      await storage.payloads.remove(name);
      expect(await shown(name)).toEqual([' (redacted)']);
    });

    it('is found only by the record if its redaction names a replacement', async () => {
      const [name, replacement] = [await put('secret'), await put('[sealed]')];
      await redact(name, replacement);
      await storage.payloads.remove(name);
      expect(await shown(name)).toEqual(['[sealed] (redacted)']);
    });

    it('may be missing after its retention time', async () => {
      expect(await shown(NOWHERE, PAST)).toEqual(['(expired)']);
    });

    it('halts the projection if it is missing without a record', async () => {
      const stream = freshStream('case');
      const position = await append(stream, [answered(NOWHERE, KEPT)]);
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(false);
      expect((await statusOf(running)).halt).toMatchObject({
        position,
        stream,
        revision: 0,
        type: 'QueryAnswered',
        error: expect.stringContaining(NOWHERE),
      });
    });
  });

  describe('an event that cannot be folded', () => {
    const poisoned = async () => {
      const before = await write('a', '1', '2');
      const poison = await write('b', POISON);
      const after = await write('a', '3');
      return { before, poison, after };
    };
    const skip = (position: Position, projection = 'ledger') =>
      append(operatorStream(projectionSubject(projection)), [
        EventSkipped.of({ projection, position, reason: 'the source is broken' }),
      ]);

    it('halts only that projection, with everything before it visible', async () => {
      const { before, poison, after } = await poisoned();
      const sober = { ...ledger('sober'), fold: () => ({ entries: ['seen'] }) };
      const running = runner({ projections: [ledger(), sober] });
      await running.start();
      expect(await running.waitFor('sober', after, 30 * SECONDS)).toBe(true);
      expect(await running.waitFor('ledger', before, 30 * SECONDS)).toBe(true);
      expect(await running.waitFor('ledger', after, 30 * SECONDS)).toBe(false);
      expect(await entriesOf('a')).toEqual(['1', '2']);
      expect(await statusOf(running)).toMatchObject({
        state: 'halted',
        position: before,
        eventsBehind: 2,
        halt: { position: poison, stream: 'ledger-b', error: expect.stringContaining('cannot be folded') },
      });
      expect(await statusOf(running, 'sober')).toMatchObject({ state: 'running', eventsBehind: 0, halt: null });
    });

    it('is found among many, at any position', async () => {
      for (const place of [0, 1, 29, 58, 59]) {
        const name = `ledger-${place}`;
        const caseId = `case ${place}`;
        const texts = Array.from({ length: 60 }, (_, index) => (index === place ? POISON : `${index}`));
        const last = await write(caseId, ...texts);
        const running = runner({ projections: [{ ...ledger(name), targets: ownTargets(name, caseId) }] });
        await running.start();
        expect(await running.waitFor(name, last, 30 * SECONDS)).toBe(false);
        expect((await statusOf(running, name)).halt).toMatchObject({ revision: place });
        expect((await entriesOf(caseId, name))?.length ?? 0).toBe(place);
        await running.stop();
      }
    });

    const ownTargets =
      (name: string, caseId: string) =>
      ({ recorded }: { recorded: { stream: string } }) =>
        recorded.stream === `ledger-${caseId}` ? [{ collection: `${name}-cases`, id: caseId }] : [];

    it('is passed once an operator has skipped it, in every later run too', async () => {
      const { poison, after } = await poisoned();
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', after, 30 * SECONDS)).toBe(false);
      await skip(poison);
      await until(async () => (await statusOf(running)).state === 'running');
      expect(await running.waitFor('ledger', after, 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['1', '2', '3']);
      expect((await statusOf(running)).halt).toBeNull();
      await running.stop();

      await rm(join(directory, 'elsewhere'), { recursive: true, force: true });
      const elsewhere = openSqlite({ directory: join(directory, 'elsewhere') });
      const again = runner({ readStore: elsewhere.readStore });
      await again.start();
      expect(await again.waitFor('ledger', after, 30 * SECONDS)).toBe(true);
      expect((await elsewhere.readStore.load('ledger-cases', ['a'])).get('a')?.document.entries).toHaveLength(3);
      await again.stop();
      await elsewhere.close();
    });

    it('is passed once its cause is gone, as when damaged content was restored', async () => {
      const { poison, after } = await poisoned();
      let broken = true;
      const { fold } = ledger();
      const sometimes: Projection = {
        ...ledger(),
        fold: (collection, document, event) =>
          event.recorded.position === poison && !broken ? { entries: ['restored'] } : fold(collection, document, event),
      };
      const running = runner({ projections: [sometimes], haltedRetryMs: 20 });
      await running.start();
      expect(await running.waitFor('ledger', after, 30 * SECONDS)).toBe(false);
      broken = false;
      await until(async () => (await entriesOf('a'))?.length === 3);
      expect(await entriesOf('b')).toEqual(['restored']);
      await until(async () => (await statusOf(runner())).halt === null);
      expect(await statusOf(running)).toMatchObject({ state: 'running', eventsBehind: 0, halt: null });
    });

    it('stays skipped as the last of its batch', async () => {
      const poison = await write('a', POISON);
      await skip(poison);
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', poison, 30 * SECONDS)).toBe(true);
      await until(async () => ((await storage.readStore.checkpoint('ledger', 1)) ?? '') >= poison);
    });

    it('is not skipped for another projection or at another position', async () => {
      const { before, poison, after } = await poisoned();
      await skip(poison, 'another');
      await skip(before);
      const running = runner();
      await running.start();
      await until(async () => (await statusOf(running)).state === 'halted');
      expect(await running.waitFor('ledger', after, 100)).toBe(false);
    });

    it('is reported by processes that do not run the projection', async () => {
      const { poison, after } = await poisoned();
      const running = runner();
      await running.start();
      expect(await running.waitFor('ledger', after, 30 * SECONDS)).toBe(false);
      expect(await statusOf(runner())).toMatchObject({ state: 'halted', halt: { position: poison } });
    });

    it('is retried by the next start, and the record is cleared once it is passed', async () => {
      const { after } = await poisoned();
      const broken = runner();
      await broken.start();
      expect(await broken.waitFor('ledger', after, 30 * SECONDS)).toBe(false);
      await broken.stop();
      const mended = runner({ projections: [{ ...ledger(), fold: () => ({ entries: ['mended'] }) }] });
      await mended.start();
      expect(await mended.waitFor('ledger', after, 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['mended']);
      await until(async () => (await statusOf(runner())).halt === null);
    });
  });

  describe('storage that fails', () => {
    /** The real store, with commits that fail while the test says so. */
    const failing = (error: () => Error | null): ReadStore =>
      new Proxy(storage.readStore, {
        get(target, property) {
          const method = Reflect.get(target, property) as (...values: unknown[]) => unknown;
          if (property !== 'commit') return method.bind(target);
          return async (...values: unknown[]) => {
            const thrown = error();
            if (thrown) throw thrown;
            return method.apply(target, values);
          };
        },
      });

    it('is waited out: a full disk is not a poison event', async () => {
      let full = true;
      const readStore = failing(() => (full ? new StorageFailure('storage_full', 'no room') : null));
      const running = runner({ readStore });
      await running.start();
      const position = await write('a', '1');
      expect(await running.waitFor('ledger', position, 300)).toBe(false);
      expect(await statusOf(running)).toMatchObject({ halt: null, trouble: 'no room' });
      full = false;
      expect(await running.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      expect(await statusOf(running)).toMatchObject({ state: 'running', trouble: null });
    });

    it('is retried before an event is blamed', async () => {
      let left = 2;
      const readStore = failing(() => (left-- > 0 ? new Error('another error') : null));
      const running = runner({ readStore });
      await running.start();
      expect(await running.waitFor('ledger', await write('a', '1'), 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['1']);
    });
  });

  describe('owners', () => {
    it('exist once per projection; another takes over when the first stops', async () => {
      // Renewed every 1.5 seconds: a busy machine may pause for a while.
      const leaseMs = 4_500;
      const [first, second] = [runner({ leaseMs }), runner({ leaseMs })];
      await first.start();
      await first.waitFor('ledger', await write('a', '1'), 30 * SECONDS);
      await second.start();
      expect(await second.waitFor('ledger', await write('a', '2'), 30 * SECONDS)).toBe(true);
      expect(await statusOf(first)).toMatchObject({ state: 'running' });
      expect(await statusOf(second)).toMatchObject({ state: 'standby', halt: null });
      await sleep(leaseMs + 200);
      expect(await statusOf(second)).toMatchObject({ state: 'standby' });
      await first.stop();
      expect(await second.waitFor('ledger', await write('a', '3'), 30 * SECONDS)).toBe(true);
      await until(async () => (await statusOf(second)).state === 'running');
      expect(await entriesOf('a')).toEqual(['1', '2', '3']);
    });

    it('stop writing when they lose their lease', async () => {
      let now: Micros = systemClock.now();
      const clock: Clock = { now: () => now };
      const first = runner({ clock, owner: 'first' });
      await first.start();
      await first.waitFor('ledger', await write('a', '1'), 30 * SECONDS);
      now += 60 * MICROS_PER_SECOND;
      const taken = await storage.readStore.acquireLease('projection/ledger@1', 'second', now, 60 * MICROS_PER_SECOND);
      expect(taken).not.toBeNull();
      const position = await write('a', '2');
      expect(await first.waitFor('ledger', position, 300)).toBe(false);
      expect(await entriesOf('a')).toEqual(['1']);
      expect(await statusOf(first)).toMatchObject({ state: 'standby' });
      await storage.readStore.releaseLease(taken!);
      expect(await first.waitFor('ledger', position, 30 * SECONDS)).toBe(true);
      expect(await entriesOf('a')).toEqual(['1', '2']);
    });
  });

  describe('catching up once', () => {
    it('brings every projection to the head and stops again', async () => {
      await write('a', '1', '2');
      const once = runner();
      await once.catchUp();
      expect(await entriesOf('a')).toEqual(['1', '2']);
      expect(await storage.readStore.acquireLease('projection/ledger@1', 'other', systemClock.now(), 1)).not.toBeNull();
      await write('a', '3');
      expect(await entriesOf('a')).toEqual(['1', '2']);
    });

    it('has nothing to do on an empty log', async () => {
      await runner().catchUp();
    });

    it('waits for the process that runs the projections', async () => {
      const server = runner();
      await server.start();
      await server.waitFor('ledger', await write('a', '1'), 30 * SECONDS);
      await write('a', '2');
      const once = runner();
      await once.catchUp();
      expect(await entriesOf('a')).toEqual(['1', '2']);
      expect(await statusOf(server)).toMatchObject({ state: 'running' });
    });

    it('reports the blocking event, whichever process found it', async () => {
      await write('a', POISON);
      await expect(runner().catchUp()).rejects.toBeInstanceOf(ProjectionHalted);
      const server = runner();
      await server.start();
      await until(async () => (await statusOf(server)).state === 'halted');
      await expect(runner().catchUp()).rejects.toMatchObject({ code: 'projection_halted', projection: 'ledger' });
    });

    it('can be canceled', async () => {
      const far = await storage.readStore.acquireLease(
        'projection/ledger@1',
        'dead',
        systemClock.now(),
        60 * MICROS_PER_SECOND,
      );
      expect(far).not.toBeNull();
      await write('a', '1');
      await expect(runner().catchUp(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
    });
  });

  it('yields the same documents for any interleaving of runs and writes (property)', async () => {
    const anyRuns = fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }), {
      minLength: 1,
      maxLength: 5,
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(anyRuns, async (runs) => {
        const prefix = `${round++}-`;
        const expected = new Map<string, string[]>();
        let count = 0;
        let last: Position | null = null;
        let running: ProjectionRunner | null = null;
        for (const cases of runs) {
          running = runner();
          const started = running.start();
          for (const letter of cases) {
            const caseId = `${prefix}${letter}`;
            const text = `${count++}`;
            expected.set(caseId, [...(expected.get(caseId) ?? []), text]);
            last = await write(caseId, text);
          }
          await started;
          // Stops at any point.
          await running.stop();
        }
        running = runner();
        await running.catchUp();
        for (const [caseId, texts] of expected) expect(await entriesOf(caseId)).toEqual(texts);
        return last === null || ((await storage.readStore.checkpoint('ledger', 1)) ?? '') >= last;
      }),
      { numRuns: 15 },
    );
  });
});
