/**
 * Given nodes that each see how a source does, when what they see changes, then what has lasted is recorded once; a court
 * has a stream of its own, and what a node recorded that is gone does not stay.
 */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceStream } from '../../../src/events/source.ts';
import { createStandings, LASTING, type StandingReport } from '../../../src/processes/sources/standings.ts';
import { toMicros } from '../../../src/runtime/instant.ts';
import { openWorld, overriding, TestClock, type World } from '../../dockets/world.ts';

let world: World;
let clock: TestClock;
beforeEach(async () => {
  clock = new TestClock();
  world = await openWorld(clock);
});
afterEach(() => world.close());

const logger = pino({ level: 'silent' });
const node = (log = world.storage.log) => createStandings({ log, clock, logger });
const rss = (
  standing: StandingReport['standing'],
  why: string | null,
  court: string | null = null,
): StandingReport => ({
  source: 'rss',
  court,
  standing,
  why,
});
const recorded = async (court: string | null = null): Promise<readonly unknown[]> => {
  const stream = court === null ? sourceStream.itself('rss') : sourceStream.court('rss', court);
  return (await world.storage.log.read(stream)).map(({ data }) => data.standing);
};
const lasting = (): void => clock.advance(LASTING / 1_000 + 1);

describe('the standing of a source', () => {
  it('is recorded once it has lasted, and not again while it stays', async () => {
    const standings = node();
    standings.report(rss('failing', 'timeout', 'ilnd'));
    const due = await standings.step(clock.now());
    expect(due).toBeGreaterThan(clock.now());
    expect(await recorded('ilnd')).toEqual([]);
    lasting();
    expect(await standings.step(clock.now())).toBeNull();
    standings.report(rss('failing', 'timeout', 'ilnd'));
    await standings.step(clock.now());
    expect(await recorded('ilnd')).toEqual(['failing']);
    expect(await recorded()).toEqual([]);
    expect(standings.of('rss', 'ilnd')).toEqual({ standing: 'failing', why: 'timeout' });
    expect(standings.of('rss', 'cand')).toEqual({ standing: 'working', why: null });
  });

  it('is recorded though it began while the clock ran ahead by a year', async () => {
    const standings = node();
    const year = 365 * 86_400_000;
    clock.advance(year);
    standings.report(rss('failing', 'timeout', 'ilnd'));
    clock.advance(-year);
    standings.report(rss('failing', 'timeout', 'ilnd'));
    await standings.step(clock.now());
    expect(await recorded('ilnd')).toEqual(['failing']);
    const [change] = await world.storage.log.read(sourceStream.court('rss', 'ilnd'));
    expect(toMicros(String(change?.data.at))).toBeLessThanOrEqual(clock.now());
  });

  it('that did not last is not recorded', async () => {
    const standings = node();
    for (let time = 0; time < 5; time++) {
      standings.report(rss('failing', 'timeout'));
      await standings.step(clock.now());
      standings.report(rss('working', null));
      lasting();
      await standings.step(clock.now());
    }
    expect(await recorded()).toEqual([]);
  });

  it('of a node that is gone is corrected by one that keeps reporting', async () => {
    const [gone, staying] = [node(), node()];
    staying.report(rss('working', null));
    await staying.step(clock.now());
    gone.report(rss('failing', 'timeout'));
    lasting();
    await gone.step(clock.now());
    staying.report(rss('working', null));
    await staying.step(clock.now());
    expect(await recorded()).toEqual(['failing']);
    clock.advance(600_000);
    staying.report(rss('working', null));
    await staying.step(clock.now());
    expect(await recorded()).toEqual(['failing', 'working']);
  });

  it('is recorded by several nodes at once as one change', async () => {
    const nodes = [node(), node(), node()];
    for (const one of nodes) one.report(rss('misconfigured', 'unauthorised'));
    await Promise.all(nodes.map((one) => one.step(clock.now())));
    expect(await recorded()).toEqual(['misconfigured']);
  });

  it('is recorded later if the log does not answer now', async () => {
    const { log } = world.storage;
    let isDown = true;
    const failing = overriding(log, {
      read: (...args) => (isDown ? Promise.reject(new Error('down')) : log.read(...args)),
    });
    const standings = node(failing);
    standings.report(rss('misconfigured', 'unauthorised'));
    const again = await standings.step(clock.now());
    expect(again).toBeGreaterThan(clock.now());
    isDown = false;
    await standings.step(again ?? 0);
    expect(await recorded()).toEqual(['misconfigured']);
  });
});
