/** The history of callbacks on a disk that has damaged one of their URLs: the rest of it is still returned. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delivery } from '../../../src/commands/delivery/delivery.ts';
import { handle } from '../../../src/commands/handle.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { contextOf } from '../../storage/samples.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('shows a damaged URL as no longer stored, and charges for the history as usual', async () => {
  const keypair = await world.wallet();
  const wallet = keypair.publicKey.toBase58();
  const schedule = async (url: string) => {
    const deliveryId = randomUUID();
    const now = systemClock.now();
    const [target, envelope] = await Promise.all([
      world.storage.payloads.put('target', Buffer.from(url)),
      world.storage.payloads.put('envelope', Buffer.from('{}')),
    ]);
    const facts = {
      deliveryId,
      wallet,
      requestId: randomUUID(),
      payment: 'c'.repeat(64),
      caseId: '3:24-cv-00042',
      courtCode: 'cand',
      caseNumber: '3:24-cv-00042',
      target,
      origin: new URL(url).origin,
      envelope,
      keepUntil: toInstant(now + 1e12),
      createdAt: toInstant(now),
    };
    const ports = { ...world.storage, clock: systemClock };
    await handle(ports, delivery, deliveryStream(deliveryId), { type: 'Schedule', facts }, contextOf());
    return { deliveryId, target };
  };
  const [whole, damaged] = [await schedule('https://whole.example/a'), await schedule('https://damaged.example/b')];
  await world.storage.damage(damaged.target);
  const pay = await world.agentOf(keypair);
  const before = await world.balance(keypair);
  await expect
    .poll(async () => (await world.storage.readStore.count({ collection: 'deliveries', equals: { wallet } })) === 2)
    .toBe(true);
  const answer = await pay(`${world.url}/v2/wallet/deliveries`);
  expect(answer.status).toBe(200);
  const { deliveries } = (await answer.json()) as {
    deliveries: { delivery_id: string; callback_url: string | null; status: string }[];
  };
  expect(deliveries.map(({ delivery_id, callback_url, status }) => [delivery_id, callback_url, status])).toEqual([
    [damaged.deliveryId, null, 'pending'],
    [whole.deliveryId, 'https://whole.example/a', 'pending'],
  ]);
  expect(before - (await world.balance(keypair))).toBe(990_000n);
});
