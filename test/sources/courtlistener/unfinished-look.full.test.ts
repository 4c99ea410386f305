/**
 * A look that takes days, and a process that dies in one (docs/design/sources.md#courtlistener).
 * Given a docket of 2,500 entries and the smallest budget, when looks go on after waits, restarts and deaths, then every entry is one
 * filing, and the budget is never exceeded.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';
import { createCourtListenerSource } from '../../../src/sources/courtlistener/courtlistener-source.ts';
import { createLookStore } from '../../../src/sources/courtlistener/look-store.ts';
import { overriding } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';
import { FREE_RATES } from './court-listener.ts';
import { docketOf, finish, HOUR } from './long-looks.ts';

let world: AskingWorld;
afterEach(() => world.close());

const answersOf = (status: number) => world.site.requests.filter((request) => request.status === status);

describe('a look at a docket of 2,500 entries with the smallest budget', () => {
  it('takes days and restarts, exceeds no limit, and shows every entry once', async () => {
    const budget = FREE_RATES.map(({ requests, micros }) => ({ requests, micros }));
    world = await openAsking({ rates: FREE_RATES, budget });
    docketOf(world, 2_500);
    world.clock.advance(HOUR);
    const start = world.clock.now();
    const { stream } = await finish(world, null);
    const days = (world.clock.now() - start) / MICROS_PER_SECOND / 86_400;
    expect(days).toBeGreaterThan(1);
    expect(days).toBeLessThan(2);
    expect(answersOf(429)).toEqual([]);
    const pages = world.site.requests.filter(({ url }) => url.startsWith('docket-entries/'));
    expect(pages.filter(({ url }) => !url.includes('__gt'))).toHaveLength(125);
    const filings = await world.filings(stream);
    expect(filings.map(({ entryNumber }) => entryNumber).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 2_500 }, (_, index) => index + 1),
    );
    // Nothing is kept of a look that is over.
    const left = [];
    for await (const blob of world.world.storage.payloads.list('look', '2100-01-01T00:00:00.000000Z')) left.push(blob);
    expect(left).toEqual([]);
    expect((await world.checks(stream)).at(-1)).toMatchObject({ complete: true });
  }, 300_000);
});

describe('a process that dies in a look', () => {
  class Killed extends Error {}

  /** Every call of a port is two steps: before and after its effect. */
  function mortal<Port extends object>(port: Port, names: readonly (keyof Port & string)[], step: () => void): Port {
    const methods = Object.fromEntries(
      names.map((name) => [
        name,
        async (...args: unknown[]) => {
          step();
          const result = await (port[name] as (...args: unknown[]) => Promise<unknown>).call(port, ...args);
          step();
          return result;
        },
      ]),
    );
    return overriding(port, methods as Partial<Port>);
  }

  it('loses nothing and doubles nothing, at whichever step it dies', async () => {
    world = await openAsking();
    let steps = Number.POSITIVE_INFINITY;
    for (let dies = 1, taken = 0; dies <= steps; dies++) {
      const number = `1:26-cv-${String(10_000 + dies)}`;
      docketOf(world, 25, number);
      world.clock.advance(HOUR);
      taken = 0;
      const step = (): void => {
        if (++taken === dies) throw new Killed();
      };
      const died = await dyingAsk(number, step).then(
        () => false,
        (error: unknown) => {
          if (!(error instanceof Killed)) throw error;
          return true;
        },
      );
      if (!died) steps = dies;
      let stream: string | null = null;
      for (let asks = 0; asks < 5; asks++) {
        const look = await world.ask('ilnd', number, { stream });
        if ('stream' in look) ({ stream } = look);
        if (look.look === 'complete') break;
      }
      if (stream === null) throw new Error('no stream');
      const numbers = (await world.filings(stream)).map(({ entryNumber }) => entryNumber);
      expect(
        numbers.sort((a, b) => Number(a) - Number(b)),
        `died at step ${dies}`,
      ).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
      expect((await world.filings(stream)).every(({ availableAt }) => availableAt < '2026-01-01')).toBe(true);
    }
    expect(steps).toBeGreaterThan(20);
  }, 300_000);

  async function dyingAsk(number: string, step: () => void): Promise<void> {
    const { storage } = world.world;
    const parts = world.node();
    const source = createCourtListenerSource({
      client: mortal(parts.client, ['send'], step),
      cases: mortal(parts.cases, ['idsOf', 'found', 'gone'], step),
      looks: createLookStore({
        readStore: mortal(storage.readStore, ['cell', 'compareAndSet'], step),
        payloads: mortal(storage.payloads, ['put', 'getMany', 'remove'], step),
        clock: world.clock,
      }),
      clock: world.clock,
    });
    // Two looks: the first is cut off by a limit.
    world.site.failNext({
      path: 'cursor=',
      status: 429,
      headers: { 'Retry-After': '1' },
      body: { detail: 'Request was throttled. Rate limit exceeded: 5/min. Expected available in 1 second.' },
    });
    try {
      const first = await world.ask('ilnd', number, { source });
      world.clock.advance(2_000);
      await world.ask('ilnd', number, { source, stream: 'stream' in first ? first.stream : null });
    } finally {
      world.site.forgetFailures();
      world.clock.advance(2_000);
    }
  }
});
