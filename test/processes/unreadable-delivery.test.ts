/**
 * A delivery whose event can be read but has an invalid value: the projection halts at it, and nothing else waits for
 * it.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { deliveryStream } from '../../src/events/delivery.ts';
import { notes } from '../storage/samples.ts';
import { type DeliveryWorld, openDeliveryWorld } from './delivery-world.ts';

let world: DeliveryWorld;
afterEach(() => world.close());

const until = (assertion: () => void) => vi.waitFor(assertion, { timeout: 10_000, interval: 10 });

it.each(['soon', '', '2026-13-41T00:00:00.000000Z'])('is not due if its time is %j', async (createdAt) => {
  world = await openDeliveryWorld();
  const node = world.node();
  await world.schedule({ path: '/before' });
  await until(() => expect(world.received.map(({ path }) => path)).toEqual(['/before']));

  const append = notes(deliveryStream(randomUUID()), ['x']);
  const data = { wallet: 'wallet-a', origin: 'https://a.example', createdAt };
  const events = append.events.map((event) => ({ ...event, type: 'DeliveryScheduled', data }));
  await world.storage.log.append({ ...append, events });

  await world.schedule({ path: '/after' });
  await until(() => expect(world.received.map(({ path }) => path)).toEqual(['/before', '/after']));
  await until(() => expect(node.load()).toEqual({ running: 0, waiting: 0 }));
});
