/**
 * Given a generation that is built beside the one in use, when callers are served or an operator sets a pace, then it goes
 * in small portions and rests; otherwise it goes on at once.
 */
import { expect, it } from 'vitest';
import { createPacer, readPace, writePace } from '../../src/projections/pacer.ts';
import type { Cell } from '../../src/storage/read-store.ts';

function cells() {
  let cell: Cell = { version: 0, value: null };
  return {
    cell: async () => cell,
    compareAndSet: async (_: string, version: number, value: Cell['value']) => {
      if (version !== cell.version) return false;
      cell = { version: version + 1, value };
      return true;
    },
  };
}
const never = new AbortController().signal;

it('continues at once, in portions of the usual size, while no request is served', async () => {
  const pacer = createPacer({ readStore: cells(), projection: 'cases' });
  expect(pacer.portion()).toBeUndefined();
  await pacer.rest(250, 10_000, never);
});

it('goes in small portions while callers are served', () => {
  let load = 0;
  const pacer = createPacer({ readStore: cells(), projection: 'cases', load: () => load });
  expect(pacer.portion()).toBeUndefined();
  load = 0.9;
  expect(pacer.portion()).toBe(32);
});

it('rests for as long as the pace of an operator demands, and a stop does not wait for that', async () => {
  const readStore = cells();
  await writePace(readStore, 'cases', 1);
  expect(await readPace(readStore, 'cases')).toBe(1);
  const pacer = createPacer({ readStore, projection: 'cases' });
  const stopping = new AbortController();
  let rested = false;
  // An hour of rest.
  const rest = pacer.rest(3_600, 1, stopping.signal).then(() => {
    rested = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(rested).toBe(false);
  expect(pacer.portion()).toBe(1);
  stopping.abort();
  await rest;
});

it('has no limit once it is taken off', async () => {
  const readStore = cells();
  await writePace(readStore, 'cases', 5);
  await writePace(readStore, 'cases', null);
  expect(await readPace(readStore, 'cases')).toBeNull();
});

it('waits while the disk has little space, and goes on once there is more', async () => {
  const free = [1024, null, 64 * 1024 * 1024];
  const looks: (number | null)[] = [];
  const freeBytes = async () => {
    const now = free.shift() ?? null;
    looks.push(now);
    return now;
  };
  await createPacer({ readStore: cells(), projection: 'cases', freeBytes }).rest(250, 1, never);
  expect(looks).toEqual([1024, null]);

  const stopping = new AbortController();
  const rest = createPacer({ readStore: cells(), projection: 'cases', freeBytes: async () => 0 }).rest(
    1,
    1,
    stopping.signal,
  );
  stopping.abort();
  await rest;
});
