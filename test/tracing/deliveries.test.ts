/**
 * Given a delivery that was scheduled in an exported trace, when its attempts fail for hours and an operator requests it
 * again, then each attempt belongs to that trace. Given one of no trace, then no attempt has a span.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '../../src/commands/delivery/delivery.ts';
import { handle } from '../../src/commands/handle.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import { ended } from '../../src/tracing/span.ts';
import { createTracer, type Tracer } from '../../src/tracing/tracer.ts';
import { ACT } from '../commands/delivery/delivery.fixtures.ts';
import { context, type DeliveryWorld, openDeliveryWorld, status } from '../processes/delivery-world.ts';
import { branchesOf, type Collector, openCollector } from './collector.ts';

const HOUR = 3_600_000_000;

let world: DeliveryWorld;
let collector: Collector;
let tracer: Tracer;

beforeEach(async () => {
  collector = await openCollector();
  tracer = await createTracer({
    settings: {
      url: `${collector.url}/v1/traces`,
      headers: {},
      serviceName: '',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    },
    version: '1.2.3',
    instance: 'a node',
    logger: { info: () => undefined, warn: () => undefined },
    sendEveryMs: 20,
  });
  world = await openDeliveryWorld();
});
afterEach(async () => {
  await world.close();
  await tracer.stop();
  await collector.close();
});

const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });
const attempts = (id: string, count: number) =>
  until(async () => {
    const { attempts: made, underway } = await world.stateOf(id);
    expect([made, underway]).toEqual([count, null]);
  });
const attemptSpans = () => collector.spans.filter(({ name }) => name === 'delivery attempt');

describe('a delivery', () => {
  it('stays in the trace of its request, hours later and after a redelivery that is requested without one', async () => {
    world.answer(status(500));
    world.node('one', { tracer });
    const request = tracer.begin('request', { kind: 'server' });
    const id = await ended(request!, () => world.schedule({ path: '/hook?token=S3CR3T' }));
    await attempts(id, 1);
    for (let made = 2; made <= 7; made++) {
      world.forward(13 * HOUR);
      await attempts(id, made);
    }
    world.answer(status(204));
    const redeliver = { type: 'RequestRedelivery', now: world.clock.now(), ...ACT } as const;
    const known = { ...world.storage, clock: world.clock };
    const asked = await handle(known, delivery, deliveryStream(id), redeliver, context());
    expect(asked).toHaveProperty('events.0.type', 'DeliveryRedeliveryRequested');
    await until(async () => expect((await world.stateOf(id)).status).toBe('succeeded'));
    await until(() => expect(attemptSpans()).toHaveLength(8));

    const branches = branchesOf(collector.spans);
    expect(branches.filter((branch) => branch === 'POST < delivery attempt < request')).toHaveLength(8);
    const posts = collector.spans.filter(({ name }) => name === 'POST');
    expect(posts.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([
      ...Array(7).fill(500),
      204,
    ]);
    expect(posts.map(({ isFailed, attributes }) => [isFailed, attributes['error.type']])).toEqual([
      ...Array(7).fill([true, 'http_5xx']),
      [false, undefined],
    ]);
    const events = await world.eventsOf(id);
    const untraced = events.filter(({ metadata }) => metadata.traceparent === undefined);
    expect(untraced.map(({ type }) => type)).toEqual(['DeliveryRedeliveryRequested']);
    expect(collector.bodies.join('\n')).not.toContain('S3CR3T');
    expect(collector.bodies.join('\n')).not.toContain('/hook');
  });

  it('of no trace begins none, also in a process that traces others', async () => {
    world.node('one', { tracer });
    const request = tracer.begin('request', { kind: 'server' });
    const [traced, other] = [
      await ended(request!, () => world.schedule({ path: '/traced' })),
      await world.schedule({ path: '/other' }),
    ];
    await Promise.all([attempts(traced, 1), attempts(other, 1)]);
    await until(() => expect(attemptSpans()).toHaveLength(1));
    expect(attemptSpans()[0]?.attributes['docket.delivery_id']).toBe(traced);
    for (const { metadata } of await world.eventsOf(other)) expect(metadata).not.toHaveProperty('traceparent');
  });
});
