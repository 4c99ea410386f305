/**
 * A node loses its leases for a moment and regains them: its process paused, or a clock was set. A request made in
 * between was not for this node, and must not wait until the time that it has in memory for the same delivery.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '../../src/commands/delivery/delivery.ts';
import { handle } from '../../src/commands/handle.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import type { CallbackDeliveryOptions } from '../../src/processes/callbacks/deliveries.ts';
import { DELIVERY_TIMERS, PARTITIONS } from '../../src/projections/deliveries.ts';
import type { Lease, ReadStore } from '../../src/storage/read-store.ts';
import { ACT } from '../commands/delivery/delivery.fixtures.ts';
import { context, type DeliveryWorld, openDeliveryWorld, status } from './delivery-world.ts';

let world: DeliveryWorld;
/** Lets the node acquire the leases that the test held back. */
let letGo = (): void => undefined;
afterEach(async () => {
  letGo();
  await world.close();
});

const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });

const requestRedelivery = (id: string) =>
  handle(
    { ...world.storage, clock: world.clock },
    delivery,
    deliveryStream(id),
    { type: 'RequestRedelivery', now: world.clock.now(), ...ACT },
    context(),
  );

const shownPosition = async (id: string) =>
  (await world.storage.readStore.load(DELIVERY_TIMERS, [id])).get(id)?.position;

/** The same object with one method replaced. */
const withMethod = <Whole extends object, Name extends keyof Whole>(
  whole: Whole,
  name: Name,
  method: Whole[Name],
): Whole =>
  new Proxy(whole, {
    get: (target, asked) => {
      if (asked === name) return method;
      const value = Reflect.get(target, asked);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** Leases of partitions that end at the test's command, and are regained only at another. */
function lapsingLeases(readStore: ReadStore) {
  const taken = new Map<string, Lease>();
  let lapse: Promise<void> | null = null;
  let lapsed = new Set<string>();
  const acquireLease: ReadStore['acquireLease'] = async (name, ...asked) => {
    const had = taken.get(name);
    if (lapse && had && !lapsed.has(name)) {
      lapsed.add(name);
      // Ended from outside: the holder learns of it at its next renewal.
      await readStore.releaseLease(had);
    } else if (lapse) {
      await lapse;
    }
    const lease = await readStore.acquireLease(name, ...asked);
    if (lease) taken.set(name, lease);
    return lease;
  };
  return {
    readStore: withMethod(readStore, 'acquireLease', acquireLease),
    /** How many are held. */
    held: () => taken.size,
    /** Ends all of them, until `letGo`. */
    async end(): Promise<void> {
      lapsed = new Set();
      lapse = new Promise<void>((resolve) => {
        letGo = () => {
          lapse = null;
          resolve();
        };
      });
      await until(() => expect(lapsed.size).toBe(taken.size));
    },
  };
}

/** A delivery that waits minutes for its second attempt, in a node that has it in memory. */
async function retrying(over: Partial<CallbackDeliveryOptions> = {}, ready: () => boolean = () => true) {
  world.answer(status(503));
  const node = world.node(randomUUID(), over);
  await until(() => expect(ready()).toBe(true));
  const id = await world.schedule();
  await until(async () => expect(await world.recordOf(id)).toMatchObject({ status: 'retrying' }));
  world.answer(status(200));
  return { node, id };
}

async function isDelivered(id: string): Promise<void> {
  await until(() => expect(world.received).toHaveLength(2));
  await until(async () => expect(await world.stateOf(id)).toMatchObject({ status: 'succeeded', underway: null }));
}

describe('a requested redelivery', () => {
  it('while the partition was lost is made once it is held again', async () => {
    world = await openDeliveryWorld();
    const leases = lapsingLeases(world.storage.readStore);
    const { id } = await retrying({ readStore: leases.readStore });
    await leases.end();
    await requestRedelivery(id);
    await until(async () => expect(await shownPosition(id)).toBe((await world.eventsOf(id)).at(-1)!.position));
    expect(world.received).toHaveLength(1);
    letGo();
    await isDelivered(id);
  });

  it('that becomes visible only after the node checked is made once it is visible', async () => {
    world = await openDeliveryWorld();
    const leases = lapsingLeases(world.storage.readStore);
    const { node, id } = await retrying({ readStore: leases.readStore });
    await world.runner.stop();
    await leases.end();
    await requestRedelivery(id);
    await until(() => expect(node.load().waiting).toBe(1));
    letGo();
    // Loaded again, with the time that is visible.
    await sleep(200);
    expect([node.load().waiting, world.received.length]).toEqual([1, 1]);
    await world.runner.start();
    await isDelivered(id);
  });

  it('while the log could not be followed is made once it can be', async () => {
    world = await openDeliveryWorld();
    const { log } = world.storage;
    let breakOff = new AbortController();
    const breaking = withMethod(log, 'subscribe', async function* (after, filter, signal) {
      const broken = breakOff.signal;
      yield* log.subscribe(after, filter, AbortSignal.any([broken, ...(signal ? [signal] : [])]));
      if (broken.aborted) throw new Error('the connection broke');
    });
    // This node has nothing else: the read model shows it nothing.
    const leases = lapsingLeases(withMethod(world.storage.readStore, 'find', async () => []));
    // A delivery that comes before its partition is held is loaded from the read model.
    const { id } = await retrying({ log: breaking, readStore: leases.readStore }, () => leases.held() === PARTITIONS);
    const broken = breakOff;
    breakOff = new AbortController();
    broken.abort();
    await requestRedelivery(id);
    await isDelivered(id);
  });
});
