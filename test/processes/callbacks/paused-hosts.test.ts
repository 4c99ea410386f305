/**
 * Given callbacks to a real receiver, when an operator pauses its host, then no attempt begins on any node and none of
 * the seven is used up; when it is resumed, each is made that was due, one after the other.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '../../../src/commands/delivery/delivery.ts';
import { handle, handleWithRetry } from '../../../src/commands/handle.ts';
import { host } from '../../../src/commands/host/host.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { hostSubject, operatorStream } from '../../../src/events/operator.ts';
import { createOperatorActs } from '../../../src/processes/operator-acts.ts';
import { deliveries } from '../../../src/projections/deliveries.ts';
import { operatorActs } from '../../../src/projections/operator-acts.ts';
import { oldestOverdue, PassedOver } from '../../../src/queries/delivery-standing.ts';
import { silent } from '../../http/serving.ts';
import { context, type DeliveryWorld, openDeliveryWorld, status } from '../delivery-world.ts';

const MINUTE = 60_000_000;
/** Between the starts of two attempts that have waited for their host; the test moves the clock. */
const TURN = 10_000;
const ACT = { by: 'Ann Lee', reason: 'its owner asked' };

let world: DeliveryWorld;
const following = new Set<AbortController>();
afterEach(async () => {
  for (const one of following) one.abort();
  following.clear();
  await world.close();
});

const open = async () => {
  world = await openDeliveryWorld({ projections: [deliveries, operatorActs] as never });
};

/** A node that follows what operators decide. */
function node() {
  const stopping = new AbortController();
  following.add(stopping);
  const acts = createOperatorActs({ ...world.storage, logger: silent });
  void acts.run(stopping.signal);
  return { ...world.node(randomUUID(), { hosts: acts, pace: { spreadMs: TURN / 1_000 } }), acts };
}

const act = (type: 'Pause' | 'Resume', origin = world.base) =>
  handle(
    { ...world.storage, clock: world.clock },
    host,
    operatorStream(hostSubject(origin)),
    { type, origin, ...ACT },
    context(),
  );
const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 30_000, interval: 10 });
const known = (nodes: readonly ReturnType<typeof node>[], isPaused: boolean) =>
  until(() => expect(nodes.map(({ acts }) => acts.isPaused(world.base))).toEqual(nodes.map(() => isPaused)));
const attempts = (id: string, count: number) =>
  until(async () => {
    const { attempts: made, underway } = await world.stateOf(id);
    world.forward(TURN);
    expect([made, underway]).toEqual([count, null]);
  });
const shown = (ids: readonly string[]) =>
  until(async () => expect((await Promise.all(ids.map(world.recordOf))).every(Boolean)).toBe(true));
/** A callback to a host that is not paused: once it was attempted, the nodes have looked for what is due. */
const attemptedElsewhere = async () => {
  const url = 'https://localhost/refused-by-the-guard';
  const id = await world.schedule({ url, wallet: `wallet ${randomUUID()}` });
  await until(async () => expect((await world.eventsOf(id)).length).toBeGreaterThan(2));
};

describe('a paused host', () => {
  it('gets no attempt on any node, neither new nor due, until it is resumed; then each once', async () => {
    await open();
    const nodes = [node(), node()];
    world.answer(status(503));
    const waiting = await world.schedule({ path: '/waiting' });
    await attempts(waiting, 1);
    world.answer(status(200));
    await act('Pause');
    await known(nodes, true);
    const fresh = await Promise.all(
      Array.from({ length: 15 }, (_, i) => world.schedule({ path: `/fresh-${i}`, wallet: `wallet ${i}` })),
    );
    await shown(fresh);
    // The second attempt of the first one becomes due, and a long time passes.
    world.forward(30 * MINUTE);
    await attemptedElsewhere();
    expect(world.received).toHaveLength(1);
    // In memory is only the second attempt elsewhere, once a node that has just given away its partition has dropped it.
    await until(() => expect(nodes.reduce((sum, { load }) => sum + load().waiting, 0)).toBeLessThanOrEqual(1));
    await act('Resume');
    // One starts at each turn, so that the receiver is not flooded.
    await until(() => expect(world.received.length).toBeGreaterThan(1));
    expect(world.received.length).toBeLessThan(4);
    for (const id of fresh) await attempts(id, 1);
    await attempts(waiting, 2);
    expect(world.received).toHaveLength(17);
  });

  it('is known from the start, also if it was paused while no node ran', async () => {
    await open();
    await act('Pause');
    const id = await world.schedule();
    await shown([id]);
    const restarted = node();
    await known([restarted], true);
    await attemptedElsewhere();
    expect(world.received).toEqual([]);
    await act('Resume');
    await attempts(id, 1);
  });

  it('ends the attempt under way as it is, and waits with the next', async () => {
    await open();
    const running = node();
    let answerNow: () => void = () => undefined;
    world.answer((request, response, count) => {
      if (count > 1) return status(200)(request, response, count);
      answerNow = () => response.writeHead(503).end();
    });
    const id = await world.schedule();
    await until(() => expect(world.received).toHaveLength(1));
    await act('Pause');
    await known([running], true);
    answerNow();
    await attempts(id, 1);
    expect(await world.stateOf(id)).toMatchObject({ status: 'retrying', attempts: 1 });
    await act('Resume');
    await known([running], false);
    world.forward(3 * MINUTE);
    await attempts(id, 2);
  });

  it('lets a requested redelivery wait, and a cancelled callback is never sent', async () => {
    await open();
    const running = node();
    const sent = await world.schedule({ path: '/sent' });
    await attempts(sent, 1);
    await act('Pause');
    await known([running], true);
    const cancelled = await world.schedule({ path: '/cancelled' });
    const now = world.clock.now();
    const ports = { ...world.storage, clock: world.clock };
    const ask = { type: 'RequestRedelivery', now, ...ACT } as const;
    await handleWithRetry(ports, delivery, deliveryStream(sent), ask, context());
    await handleWithRetry(ports, delivery, deliveryStream(cancelled), { type: 'Cancel', now, ...ACT }, context());
    await attemptedElsewhere();
    expect(world.received.map(({ path }) => path)).toEqual(['/sent']);
    await act('Resume');
    await until(() => expect(world.received.map(({ path }) => path)).toEqual(['/sent', '/sent']));
    await until(async () => expect((await world.recordOf(cancelled))?.status).toBe('cancelled'));
    expect(await world.stateOf(cancelled)).toMatchObject({ attempts: 0 });
  });

  it('makes no callback overdue', async () => {
    await open();
    await act('Pause');
    const id = await world.schedule();
    await shown([id]);
    const position = (await world.storage.log.head()) ?? '';
    await world.runner.waitFor(operatorActs.name, position, 30_000);
    world.forward(30 * MINUTE);
    const passed = new PassedOver();
    const late = () => oldestOverdue(world.storage.readStore, world.clock.now(), passed);
    expect(await late()).toBe(0);
    const other = await world.schedule({ url: 'https://other.example/hook' });
    await shown([other]);
    world.forward(10 * MINUTE);
    expect(await late()).toBe(600);
    await act('Resume');
    await world.runner.waitFor(operatorActs.name, (await world.storage.log.head()) ?? '', 30_000);
    expect(await late()).toBe(2_400);
  });
});
