/** Deliveries while the wall clock is set back and forth: the test also controls the steady clock. */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '../../../src/commands/delivery/delivery.ts';
import { isOver, waitAgain, waitOf } from '../../../src/commands/delivery/wait.ts';
import { handle } from '../../../src/commands/handle.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { toMicros } from '../../../src/runtime/instant.ts';
import { ACT } from '../../commands/delivery/delivery.fixtures.ts';
import { context, type DeliveryWorld, openDeliveryWorld, START, status } from '../delivery-world.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const SECOND = 1_000_000;

let world: DeliveryWorld;
afterEach(() => world.close());

const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });
/** Time advances a little meanwhile, so that spread deliveries get their turn. */
const soon = (condition: () => Promise<void> | void) =>
  until(() => {
    world.forward(10_000);
    return condition();
  });
const attempts = (id: string, count: number) =>
  soon(async () => {
    const { attempts: made, underway } = await world.stateOf(id);
    expect([made, underway]).toEqual([count, null]);
  });
/** Until it waits by the current clock, for this long minus the time that this took. @returns the remaining time */
async function dueIn(id: string, micros: number): Promise<number> {
  let left = 0;
  await soon(async () => {
    const { nextAttemptAt } = await world.stateOf(id);
    left = toMicros(nextAttemptAt!) - world.clock.now();
    expect(left).toBeLessThanOrEqual(micros);
    expect(left).toBeGreaterThan(micros - 20 * SECOND);
  });
  return left;
}
const typesOf = async (id: string) => (await world.eventsOf(id)).map(({ type }) => type.replace('Delivery', ''));

async function failingOnce(): Promise<string> {
  world = await openDeliveryWorld();
  world.answer(status(503));
  world.node();
  const id = await world.schedule();
  await attempts(id, 1);
  return id;
}

describe('a wall clock that is set back by hours', () => {
  it('delays a waiting delivery by at most its current wait', async () => {
    const id = await failingOnce();
    world.forward(MINUTE);
    world.setBack(6 * HOUR);
    world.forward((await dueIn(id, 3 * MINUTE)) - 1);
    await sleep(100);
    expect(world.received).toHaveLength(1);
    await attempts(id, 2);
    expect(await typesOf(id)).toEqual([
      'Scheduled',
      'AttemptStarted',
      'AttemptFinished',
      'Rescheduled',
      'AttemptStarted',
      'AttemptFinished',
    ]);
    await until(async () => {
      expect((await world.recordOf(id))!.nextAttemptAt).toBe((await world.stateOf(id)).nextAttemptAt);
    });
  });

  it('restarts waits one after the other, so that they do not all end at once', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    world.node();
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => world.schedule({ wallet: `wallet-${i}` })));
    for (const id of ids) await attempts(id, 1);
    world.setBack(6 * HOUR);
    const timedAnew = async () =>
      (await Promise.all(ids.map(world.stateOf))).filter(
        ({ nextAttemptAt }) => toMicros(nextAttemptAt!) < START - 5 * HOUR,
      ).length;
    // The steady clock stands still, so only the first of the spread deliveries gets its turn.
    await until(async () => expect(await timedAnew()).toBe(1));
    await sleep(150);
    expect(await timedAnew()).toBe(1);
    await soon(async () => expect(await timedAnew()).toBe(12));
  });

  it('has the same effect on a process that starts after it', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    const first = world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    await until(async () => expect((await world.recordOf(id))?.attempts).toBe(1));
    await first.stop();
    world.setBack(6 * HOUR);
    world.node();
    world.forward(await dueIn(id, 3 * MINUTE));
    await attempts(id, 2);
  });

  it('has the same effect while the read model pauses and shows the previous state', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    world.node();
    const id = await world.schedule();
    await until(async () => expect(await world.recordOf(id)).toBeDefined());
    await attempts(id, 1);
    await world.runner.stop();
    for (let jump = 0; jump < 3; jump++) {
      world.setBack(6 * HOUR);
      await dueIn(id, 3 * MINUTE);
    }
    world.forward(3 * MINUTE);
    await attempts(id, 2);
  });

  it('has the same effect on deliveries that wait longer than what is kept in memory', async () => {
    const id = await failingOnce();
    for (const [index, minutes] of [3, 9, 27].entries()) {
      world.forward(minutes * MINUTE);
      await attempts(id, index + 2);
    }
    world.setBack(6 * HOUR);
    await dueIn(id, 81 * MINUTE);
    // Again, before it is due: the rest of the wait is still longer than an hour.
    world.setBack(6 * HOUR);
    world.forward(await dueIn(id, 81 * MINUTE));
    await attempts(id, 5);
  });

  it('by less than the elapsed part of a wait extends the wait by that much, and no more', async () => {
    const id = await failingOnce();
    world.forward(2 * MINUTE);
    world.setBack(MINUTE);
    world.forward((await dueIn(id, 2 * MINUTE)) - 1);
    await sleep(100);
    expect(world.received).toHaveLength(1);
    await attempts(id, 2);
    expect(await typesOf(id)).not.toContain('Rescheduled');
  });

  it('does not delay what is due at once: a new delivery, and a redelivery', async () => {
    const old = await failingOnce();
    const ports = { ...world.storage, clock: world.clock };
    const promised = await world.schedule({ wallet: 'before' });
    await handle(
      ports,
      delivery,
      deliveryStream(old),
      { type: 'RequestRedelivery', now: START + SECOND, ...ACT },
      context(),
    );
    world.setBack(6 * HOUR);
    const fresh = await world.schedule({ wallet: 'after' });
    await attempts(fresh, 1);
    await soon(async () => {
      expect((await world.stateOf(promised)).attempts).toBe(1);
      expect((await world.stateOf(old)).redelivery).toBeNull();
    });
  });

  it('does not delay what a process left when it restarts', async () => {
    world = await openDeliveryWorld();
    const id = await world.schedule();
    await until(async () => expect(await world.recordOf(id)).toBeDefined());
    world.setBack(6 * HOUR);
    world.node();
    await attempts(id, 1);
    expect(await world.stateOf(id)).toMatchObject({ status: 'succeeded' });
  });

  it('lets an abandoned attempt be taken over after the time of a lease', async () => {
    world = await openDeliveryWorld();
    const id = await world.schedule();
    const command = { type: 'StartAttempt', now: START, keyId: 'k', owner: 'a-node-elsewhere' } as const;
    await handle({ ...world.storage, clock: world.clock }, delivery, deliveryStream(id), command, context());
    await until(async () => expect(await world.recordOf(id)).toBeDefined());
    world.setBack(6 * HOUR);
    world.node();
    await soon(async () => expect(await typesOf(id)).toContain('Rescheduled'));
    const { leaseUntil } = (await world.stateOf(id)).underway!;
    expect(toMicros(leaseUntil)).toBeLessThanOrEqual(world.clock.now() + 60 * SECOND);
    world.forward(toMicros(leaseUntil) - world.clock.now() - 1);
    await sleep(100);
    expect(world.received).toHaveLength(0);
    await attempts(id, 1);
  });

  it('while a receiver answers costs no more than the wait after it', async () => {
    world = await openDeliveryWorld();
    world.answer((request, response, count) => {
      if (count === 1) world.setBack(6 * HOUR);
      status(503)(request, response, count);
    });
    world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    world.forward(await dueIn(id, 3 * MINUTE));
    await attempts(id, 2);
  });
});

describe('a wall clock that is set forward by hours', () => {
  it('starts what is now due one after the other, including what waits in memory', async () => {
    world = await openDeliveryWorld();
    world.answer(status(500));
    world.node();
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => world.schedule({ wallet: `wallet-${i}` })));
    for (const id of ids) await attempts(id, 1);
    world.forward(6 * HOUR);
    // The steady clock stands still, so only the first of the spread deliveries comes.
    await until(() => expect(world.received).toHaveLength(13));
    await sleep(150);
    expect(world.received).toHaveLength(13);
    await until(() => {
      world.forward(10_000);
      expect(world.received).toHaveLength(24);
    });
    for (const id of ids) await attempts(id, 2);
  });
});

describe('a wall clock that is set forward repeatedly, faster than waiting deliveries get their turn', () => {
  it('starves no delivery', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    world.node();
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => world.schedule({ wallet: `wallet-${i}` })));
    for (const id of ids) await attempts(id, 1);
    const states = () => Promise.all(ids.map(world.stateOf));
    const attemptsMade = async () => (await states()).reduce((sum, state) => sum + state.attempts, 0);
    // All twelve are due, 10 ms apart: between two jumps exactly one of them gets its turn. The next jump waits for its
    // record, so that a slow machine produces the same order as a fast one.
    for (let turn = 1; (await states()).some(({ attempts: made }) => made < 2); turn++) {
      expect(turn).toBeLessThanOrEqual(3 * ids.length);
      world.forward(10_000);
      world.setForward(6 * HOUR);
      await until(() => expect(world.received).toHaveLength(12 + turn));
      await until(async () => expect(await attemptsMade()).toBe(12 + turn));
    }
    await until(async () => expect((await states()).every(({ underway }) => underway === null)).toBe(true));
    expect(await attemptsMade()).toBe(world.received.length);
  });
});

describe('a wall clock that is set back and forth', () => {
  it('loses no delivery, and makes no more than seven attempts for any', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    world.node();
    const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => world.schedule({ wallet: `wallet-${i}` })));
    /** Everything due was attempted, and every wait is measured by the current clock. */
    const heeded = () =>
      soon(async () => {
        const states = await Promise.all(ids.map(world.stateOf));
        const now = world.clock.now();
        const late = states.filter((state) => {
          const wait = waitOf(state);
          return wait && (isOver(wait, now) || waitAgain(state, now) !== null);
        });
        expect(late).toEqual([]);
      });
    const ended = async () => (await Promise.all(ids.map(world.stateOf))).every(({ status: is }) => is === 'failed');
    for (let jump = 0; !(await ended()); jump++) {
      expect(jump).toBeLessThan(100);
      if (jump % 3 === 1) world.setBack(5 * HOUR);
      else world.forward((jump % 3 === 0 ? 6 : 3) * HOUR);
      await heeded();
    }
    expect(world.received).toHaveLength(5 * 7);
    for (const id of ids) expect((await world.stateOf(id)).attempts).toBe(7);
  });
});
