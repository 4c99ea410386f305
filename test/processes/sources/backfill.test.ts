/**
 * A backfill on a real storage and its read models: given known cases and an order, then these cases are looked at, each
 * once, also if the process is killed in the middle.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handle } from '../../../src/commands/handle.ts';
import { backfill } from '../../../src/commands/source/backfill.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { backfillProgress, createBackfill } from '../../../src/processes/sources/backfill.ts';
import { contextOf } from '../../storage/samples.ts';
import { DAY, fault, HOUR, MINUTE, openWatchWorld, type WatchWorld } from './watch-world.ts';

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `3:26-cv-${String(index + 1).padStart(5, '0')}`);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a backfill', () => {
  let world: WatchWorld;
  const process = () =>
    createBackfill({
      ...{ log: world.log, readStore: world.readStore, desk: world.desk, clock: world.clock },
      ...{ logger: silent, owner: 'test' },
    });

  beforeEach(async () => {
    world = await openWatchWorld();
  });
  afterEach(() => world.close());

  async function order(courts: string[] | null, since: string | null = null): Promise<string> {
    const backfillId = randomUUID();
    const given = { backfillId, courts, since, by: 'Ann Lee', reason: 'a new court' };
    const stream = sourceStream.backfill(backfillId);
    await handle(world, backfill, stream, { type: 'Order', order: given }, contextOf());
    await world.projected();
    return backfillId;
  }
  /** Steps until nothing is open, or it waits for longer than this. */
  async function carryOut(of = process(), patience = 5 * MINUTE): Promise<void> {
    for (let steps = 0; steps < 50; steps++) {
      const [open] = (await backfillProgress(world.readStore, world.desk)).filter(({ status }) => status === 'open');
      if (!open) return;
      const next = await of.step(world.clock.now());
      await world.projected();
      if (next > world.clock.now() + patience) return;
      world.move(Math.max(0, next - world.clock.now()));
    }
    throw new Error('it does not end');
  }

  it('looks once at each case of its courts that the source never showed whole, and ends on record', async () => {
    const [partial = '', file = '', whole = ''] = numbers(3);
    await world.shown('cand', partial, { complete: false });
    await world.shown('cand', file, { source: 'file' });
    await world.shown('cand', whole);
    await world.shown('nysd', '1:26-cv-00009', { source: 'file' });
    const id = await order(['cand']);
    await carryOut();
    expect(world.seen.map(({ caseNumber, priority }) => [caseNumber, priority])).toEqual([
      [partial, 'backfill'],
      [file, 'backfill'],
    ]);
    expect((await world.eventsOf(sourceStream.backfill(id))).at(-1)).toMatchObject({
      type: 'BackfillEnded',
      data: { outcome: 'completed', looked: 2 },
    });
    expect(await backfillProgress(world.readStore, world.desk)).toEqual([
      expect.objectContaining({ backfillId: id, status: 'completed', looked: 2, passed: 3, cases: 3 }),
    ]);
  });

  it('with a day looks again at the cases that were active since', async () => {
    const [active = '', quiet = ''] = numbers(2);
    await world.shown('cand', active, { entries: [world.clock.now() - DAY] });
    await world.shown('cand', quiet, { entries: [world.clock.now() - 60 * DAY] });
    world.move(HOUR);
    await order(null, '2026-03-10');
    await carryOut();
    expect(world.looked()).toEqual([active]);
  });

  it('waits for its budget, and continues with the case that it could not finish', async () => {
    const [first = '', second = ''] = numbers(2);
    for (const number of [first, second]) await world.shown('cand', number, { complete: false });
    await order(['cand']);
    const retryAt = world.clock.now() + 3 * HOUR;
    world.script.behave = ({ court, caseNumber }) =>
      world.clock.now() < retryAt
        ? { look: 'partial', stream: world.streamOf(court.code, caseNumber), because: fault('budget', retryAt) }
        : null;
    await carryOut();
    expect(world.looked()).toEqual([first]);
    await carryOut(process(), 4 * HOUR);
    expect(world.looked().slice(-2)).toEqual([first, second]);
  });

  it('passes over a case whose look breaks off again and again', async () => {
    const [broken = '', good = ''] = numbers(2);
    for (const number of [broken, good]) await world.shown('cand', number, { complete: false });
    await order(['cand']);
    world.script.behave = ({ caseNumber }) =>
      caseNumber === broken ? { look: 'failed', because: fault('unreadable') } : null;
    await carryOut();
    expect(world.looked()).toEqual([broken, broken, broken, good]);
  });

  it('loses and repeats nothing that matters if it is killed in the middle, even without its cell', async () => {
    const all = numbers(60);
    for (const number of all) await world.shown('cand', number, { complete: false });
    const id = await order(['cand']);
    for (const _ of [1, 2, 3]) {
      // The process dies in the middle of a look, after the source has shown the case.
      let left = 17;
      world.script.behave = async ({ court, caseNumber }) => {
        if (left-- > 0) return null;
        await world.shown(court.code, caseNumber);
        throw new Error('killed');
      };
      const dying = process();
      await expect(dying.step(world.clock.now()).then(() => dying.step(world.clock.now()))).rejects.toThrow('killed');
      await world.projected();
    }
    // The cell is lost, as after a restore.
    const { version } = await world.readStore.cell(`source-backfill-${id}`);
    await world.readStore.compareAndSet(`source-backfill-${id}`, version, {});
    world.script.behave = () => null;
    await carryOut();
    const looked = world.looked();
    expect(new Set(looked)).toEqual(new Set(all));
    expect(looked.length).toBe(all.length);
  });

  it('does nothing for an order that was cancelled', async () => {
    await world.shown('cand', numbers(1)[0] ?? '', { complete: false });
    const backfillId = await order(['cand']);
    const ending = { backfillId, outcome: 'cancelled', looked: 0 } as const;
    await handle(world, backfill, sourceStream.backfill(backfillId), { type: 'End', ending }, contextOf());
    await world.projected();
    await process().step(world.clock.now());
    expect(world.looked()).toEqual([]);
  });
});
