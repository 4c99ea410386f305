/**
 * Given a real collector over HTTP, when spans end, then it gets them with their parents. Given one that hangs, fails or
 * is not there, then work goes on, the operator is told once, and a stop does not wait for it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TracingSettings } from '../../src/tracing/settings.ts';
import { annotate, currentTraceparent, ended, inSpan, serverOf, within } from '../../src/tracing/span.ts';
import { continuing, createTracer, NO_TRACES, type Tracer } from '../../src/tracing/tracer.ts';
import { branchesOf, type Collector, openCollector } from './collector.ts';

let collector: Collector;
let said: { readonly details: Record<string, unknown>; readonly message: string }[];

beforeEach(async () => {
  collector = await openCollector();
  said = [];
});
afterEach(() => collector.close());

const note = (details: object, message: string) => void said.push({ details: { ...details }, message });

const open = (changes: Partial<TracingSettings> = {}): Promise<Tracer> =>
  createTracer({
    settings: {
      url: `${collector.url}/v1/traces`,
      headers: { 'api-key': 'S3CR3T' },
      serviceName: '',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
      ...changes,
    },
    version: '1.2.3',
    instance: 'a node',
    logger: { info: note, warn: note },
  });

const begun = (tracer: Tracer) => {
  const span = tracer.begin('request', { kind: 'server' });
  if (span === undefined) throw new Error('not sampled');
  return span;
};

describe('a trace', () => {
  it('continues in another process from what an event holds', async () => {
    const [first, second] = [await open(), await open()];
    const recorded = await ended(begun(first), () => inSpan('settle', async () => currentTraceparent()));
    await continuing(second, 'deliver', recorded, () => inSpan('append', async () => annotate('a.name', 'a value')));
    await Promise.all([first.stop(), second.stop()]);

    expect(branchesOf(collector.spans)).toEqual(
      expect.arrayContaining(['settle < request', 'append < deliver < settle < request']),
    );
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(collector.spans.find(({ name }) => name === 'append')?.attributes).toEqual({ 'a.name': 'a value' });
    expect(collector.headers[0]?.['api-key']).toBe('S3CR3T');
  });

  it('names what failed by its code, never by its message', async () => {
    const tracer = await open();
    const failing = () => Promise.reject(Object.assign(new Error('https://user:S3CR3T@host'), { code: 'E_CODE' }));
    await expect(ended(begun(tracer), () => inSpan('call', failing))).rejects.toThrow('S3CR3T');
    await tracer.stop();
    expect(collector.spans.map(({ name, isFailed, attributes }) => [name, isFailed, attributes])).toEqual([
      ['call', true, { 'error.type': 'E_CODE' }],
      ['request', true, { 'error.type': 'E_CODE' }],
    ]);
    expect(collector.bodies.join('')).not.toContain('S3CR3T');
  });

  it('is left by work for an event that has none, even if a traced append woke the process', async () => {
    const tracer = await open();
    await ended(begun(tracer), async () => {
      const seen = await continuing(tracer, 'follow', undefined, async () => [currentTraceparent()]);
      expect(seen).toEqual([undefined]);
      const hostile = await continuing(tracer, 'follow', `00-${'0'.repeat(32)}-x-01`, async () => [
        currentTraceparent(),
      ]);
      expect(hostile).toEqual([undefined]);
    });
    await tracer.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['request']);
  });

  it('keeps long and many attributes out', async () => {
    const tracer = await open();
    const span = begun(tracer);
    for (let index = 0; index < 100; index++) span.set(`name-${index}`, 'x'.repeat(100_000));
    span.end();
    await tracer.stop();
    const [{ attributes } = { attributes: {} }] = collector.spans;
    expect(Object.keys(attributes).length).toBe(32);
    expect(collector.bodies.join('').length).toBeLessThan(20_000);
  });
});

describe('the sampler', () => {
  it.each([
    ['always_off', 0, 0],
    ['traceidratio', 0, 0],
    ['parentbased_traceidratio', 0, 0],
    ['parentbased_always_off', 1, 0],
    ['always_on', 0, 1],
    ['traceidratio', 1, 1],
  ] as const)('%s with ratio %d exports %d of 1 request', async (sampler, ratio, count) => {
    const tracer = await open({ sampler, ratio });
    // The caller's own flag has no say.
    const caller = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), isSampled: count === 0 };
    const span = tracer.begin('request', {}, caller);
    expect(span === undefined).toBe(count === 0);
    span?.end();
    await tracer.stop();
    expect(collector.spans.length).toBe(count);
  });

  it('that is parent-based continues what another node exports', async () => {
    const tracer = await open({ sampler: 'parentbased_traceidratio', ratio: 0 });
    await continuing(tracer, 'deliver', `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`, async () => undefined);
    await tracer.stop();
    expect(collector.spans).toMatchObject([{ name: 'deliver', parentSpanId: 'cd'.repeat(8) }]);
  });
});

describe('a collector that does not accept spans', () => {
  it.each(['fail', 'hang'] as const)('by which every call would %s disturbs neither work nor a stop', async (how) => {
    const tracer = await open();
    collector.behave(how);
    for (let index = 0; index < 10_000; index++) {
      expect(await ended(begun(tracer), async () => index)).toBe(index);
    }
    await tracer.stop();
    const alarms = said.filter(({ details }) => details.alarm === 'traces_not_exported');
    expect(alarms.length).toBeGreaterThan(0);
    expect(alarms.length).toBeLessThan(5);
    expect(alarms.reduce((sum, { details }) => sum + Number(details.dropped), 0)).toBe(10_000);
    expect(JSON.stringify(said)).not.toContain('S3CR3T');
  });

  it('since nothing listens is reported', async () => {
    const tracer = await open({ url: 'http://127.0.0.1:1/v1/traces' });
    begun(tracer).end();
    await tracer.stop();
    expect(said).toMatchObject([{ details: { alarm: 'traces_not_exported', dropped: 1 } }]);
  });
});

it.each([
  ['rpc.example', { 'server.address': 'rpc.example' }],
  ['rpc.example:8899', { 'server.address': 'rpc.example', 'server.port': 8899 }],
  ['[::1]', { 'server.address': '[::1]' }],
  ['[::1]:8899', { 'server.address': '[::1]', 'server.port': 8899 }],
])('names the server of %s', (host, attributes) => {
  expect(serverOf(host)).toEqual(attributes);
});

describe('without a tracer', () => {
  it('work runs as it is', async () => {
    expect(await createTracer({ settings: null, version: '', instance: '', logger: { info: note, warn: note } })).toBe(
      NO_TRACES,
    );
    expect(NO_TRACES.begin('request', {})).toBeUndefined();
    expect(await inSpan('work', async () => currentTraceparent())).toBeUndefined();
    expect(within(undefined, () => 1)).toBe(1);
    await expect(inSpan('work', () => Promise.reject(new Error('as it is')))).rejects.toThrow('as it is');
  });
});
