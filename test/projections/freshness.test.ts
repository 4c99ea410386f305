import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askedOnce, createFreshness } from '../../src/projections/freshness.ts';
import { createProjectionRunner, type ProjectionRunner } from '../../src/projections/runner.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { contextOf, freshStream } from '../storage/samples.ts';
import { openTestStorage } from '../support/storage.ts';
import { entry, ledger, POISON } from './ledger.ts';

/** A log and a runner whose answers the test gives, one after the other. */
function steered() {
  const heads: ((head: string | null) => void)[] = [];
  const waits: { readonly position: string; readonly end: (reached: boolean) => void }[] = [];
  /** One wait for each position, regardless of its number of parts. */
  const waited = new Map<string, Promise<boolean>>();
  const freshness = createFreshness({
    log: { head: () => new Promise((resolve) => heads.push(resolve)) },
    runner: {
      waitFor(_, position) {
        const known = waited.get(position) ?? new Promise((end) => waits.push({ position, end }));
        waited.set(position, known);
        return known;
      },
    },
    projection: 'ledger',
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { freshness, heads, waits, turn };
}

describe('how far a read model reaches', () => {
  it('reads the log once for all callers that wait in vain', async () => {
    const { freshness, heads, waits, turn } = steered();
    const first = freshness.showsEverything();
    heads[0]?.('1');
    await turn();
    const later = Array.from({ length: 1_000 }, () => freshness.showsEverything());
    await turn();
    waits[0]?.end(false);
    expect(new Set(await Promise.all([first, ...later]))).toEqual(new Set([false]));
    expect([heads.length, waits.length, freshness.wasBuilt]).toEqual([1, 1, false]);
  });

  it('is never decided by a head that was read before the question', async () => {
    const { freshness, heads, waits, turn } = steered();
    const first = freshness.showsEverything();
    heads[0]?.('1');
    await turn();
    const later = Array.from({ length: 1_000 }, () => freshness.showsEverything());
    waits[0]?.end(true);
    expect(await first).toBe(true);
    await turn();
    // All of them had called before the second check began, so it is for all of them.
    expect(heads).toHaveLength(2);
    heads[1]?.('2');
    await turn();
    expect(waits.map(({ position }) => position)).toEqual(['1', '2']);
    waits[1]?.end(false);
    expect(new Set(await Promise.all(later))).toEqual(new Set([false]));
    // Once built, it stays built, however far behind it is by now.
    expect(freshness.wasBuilt).toBe(true);
  });

  it('is complete for a log without events, without a wait', async () => {
    const { freshness, heads, waits } = steered();
    const asked = freshness.showsEverything();
    heads[0]?.(null);
    expect([await asked, waits.length, freshness.wasBuilt]).toEqual([true, 0, true]);
  });

  it('does not give up because the process stalled for a moment', async () => {
    let patience = 0;
    const freshness = createFreshness({
      log: { head: async () => '1' },
      runner: {
        async waitFor(_, __, timeoutMs) {
          patience += timeoutMs;
          // The time of this wait is over before anything could be done in it.
          return patience > timeoutMs;
        },
      },
      projection: 'ledger',
      patienceMs: 100,
    });
    expect(await freshness.showsEverything()).toBe(true);
    expect(patience).toBeLessThanOrEqual(100);
  });

  it('reads the log again after a failed read', async () => {
    let failing = true;
    const freshness = createFreshness({
      log: {
        head: async () => {
          if (failing) throw new Error('the disk is gone');
          return '1';
        },
      },
      runner: { waitFor: async () => true },
      projection: 'ledger',
    });
    const asked = [freshness.showsEverything(), freshness.showsEverything()];
    for (const one of asked) await expect(one).rejects.toThrow('the disk is gone');
    failing = false;
    expect(await freshness.showsEverything()).toBe(true);
  });

  it('reads the log once for simultaneous questions', async () => {
    let asked = 0;
    const freshness = askedOnce({ wasBuilt: true, showsEverything: async () => ++asked > 1 });
    expect(await Promise.all([freshness.showsEverything(), freshness.showsEverything()])).toEqual([false, false]);
    expect([await freshness.showsEverything(), asked, freshness.wasBuilt]).toEqual([false, 1, true]);
  });

  describe('on a real log', () => {
    let directory: string;
    let storage: Storage;
    let runners: ProjectionRunner[];
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'reach-'));
      storage = await openTestStorage(directory);
      runners = [];
    });
    afterEach(async () => {
      for (const runner of runners) await runner.stop();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    });

    const append = (text: string) =>
      storage.log.append(
        prepareAppend({
          stream: freshStream(),
          head: NO_STREAM,
          events: [entry(['a'], 'case', text)],
          context: contextOf(),
          recordedAt: toInstant(systemClock.now()),
        }),
      );
    /** One process: its runner, not started, and what it knows of the reach. */
    function node(patienceMs?: number) {
      const runner = createProjectionRunner({
        ...storage,
        projections: [ledger()],
        clock: systemClock,
        logger: pino({ level: 'silent' }),
        owner: randomUUID(),
        retryDelaysMs: [1],
      });
      runners.push(runner);
      const options = { log: storage.log, runner, projection: 'ledger', ...(patienceMs && { patienceMs }) };
      return { runner, freshness: createFreshness(options) };
    }

    it('is incomplete while no process runs the projection, and complete once one does', async () => {
      await append('1');
      const here = node(50);
      expect(await here.freshness.showsEverything()).toBe(false);
      const elsewhere = node();
      await elsewhere.runner.start();
      await expect.poll(() => here.freshness.showsEverything()).toBe(true);
    });

    it('waits if the projection is only a moment behind, here and in another process', async () => {
      const owner = node(10_000);
      const other = node(10_000);
      await owner.runner.start();
      await append('first');
      await expect.poll(() => owner.freshness.showsEverything()).toBe(true);
      for (let round = 0; round < 20; round++) {
        await append(`${round}`);
        expect(await Promise.all([owner.freshness.showsEverything(), other.freshness.showsEverything()])).toEqual([
          true,
          true,
        ]);
      }
    });

    it('is decided at once if the projection is halted here, and in time if it is halted elsewhere', async () => {
      const owner = node(60_000);
      const other = node(50);
      await owner.runner.start();
      await append(POISON);
      await append('2');
      await expect.poll(async () => (await owner.runner.status())[0]?.state).toBe('halted');
      expect(await Promise.all([owner.freshness.showsEverything(), other.freshness.showsEverything()])).toEqual([
        false,
        false,
      ]);
    });
  });
});
