/**
 * The watch over cases, on a real storage and its read models: given what was asked for and shown, when time passes, then
 * these cases are looked at, in this order.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceStream } from '../../../src/events/source.ts';
import { type CaseWatchOptions, createCaseWatch } from '../../../src/processes/sources/watch.ts';
import { WATCHED_CASES } from '../../../src/projections/watched-cases.ts';
import { readRates } from '../../../src/sources/settings.ts';
import { freshnessReport } from './freshness-report.ts';
import { DAY, fault, HOUR, MINUTE, openWatchWorld, type WatchWorld } from './watch-world.ts';

const [A, B, C] = ['3:26-cv-00001', '3:26-cv-00002', '3:26-cv-00003'];
const rates = () => readRates('5/min,50/hour,125/day') ?? [];

describe('the watch over cases', () => {
  let world: WatchWorld;
  const lines: Record<string, unknown>[] = [];
  const logger = {
    info: (line: object) => void lines.push({ level: 'info', ...line }),
    warn: (line: object) => void lines.push({ level: 'warn', ...line }),
    error: (line: object) => void lines.push({ level: 'error', ...line }),
  };
  const watching = (more: Partial<CaseWatchOptions> = {}) =>
    createCaseWatch({
      ...{ log: world.log, readStore: world.readStore, desk: world.desk, clock: world.clock, rates: () => [], logger },
      ...{ watchDays: 30, owner: 'test' },
      ...more,
    } as CaseWatchOptions);

  beforeEach(async () => {
    world = await openWatchWorld();
    lines.length = 0;
  });
  afterEach(() => world.close());

  /** Moves time and steps, until the end of that time. */
  async function pass(watch: ReturnType<typeof watching>, micros: number): Promise<void> {
    const end = world.clock.now() + micros;
    for (;;) {
      const next = await watch.step(world.clock.now());
      await world.projected();
      if (next >= end) break;
      world.move(Math.max(0, next - world.clock.now()));
    }
    world.move(end - world.clock.now());
  }

  it('looks at a case that was asked for once its cadence is over, and at no other', async () => {
    const asked = await world.shown('cand', A);
    await world.shown('cand', B);
    await world.asked(asked);
    const watch = watching();
    await pass(watch, 59 * MINUTE);
    expect(world.looked()).toEqual([]);
    await pass(watch, 3 * MINUTE);
    expect(world.looked()).toEqual([A]);
    await pass(watch, 3 * HOUR);
    expect(world.looked()).toEqual([A, A, A]);
  });

  it('stops 30 days after the last answer about it', async () => {
    await world.asked(await world.shown('cand', A));
    const watch = watching({ agendaEvery: 30 * MINUTE });
    world.move(30 * DAY + HOUR);
    await pass(watch, DAY);
    expect(world.looked()).toEqual([]);
    await world.asked(world.streamOf('cand', A));
    await pass(watch, HOUR);
    expect(world.looked()).toEqual([A]);
  });

  it('takes the most overdue first, by each one’s own cadence, and those never shown whole at once', async () => {
    const active = await world.shown('cand', A, { entries: [world.clock.now() - HOUR] });
    const quiet = await world.shown('cand', B, { entries: [world.clock.now() - 90 * DAY] });
    const partial = await world.shown('cand', C, { complete: false, entries: [world.clock.now() - 90 * DAY] });
    await world.asked(active, quiet, partial);
    await watching().step(world.clock.now());
    expect(world.looked()).toEqual([C]);
    world.move(30 * HOUR);
    await watching().step(world.clock.now());
    expect(world.looked().filter((one) => one !== C)).toEqual([A, B]);
  });

  it('looks once a week at a case that the court has closed, and once a day at one whose court has a feed', async () => {
    const closed = await world.shown('cand', A, { closed: true, entries: [world.clock.now() - 90 * DAY] });
    const covered = await world.shown('nysd', '1:26-cv-00009');
    await world.asked(closed, covered);
    const watch = watching({
      coverage:
        async () =>
        ({ court }) =>
          court.code === 'nysd',
      agendaEvery: 30 * MINUTE,
    });
    await pass(watch, 23 * HOUR);
    expect(world.looked()).toEqual([]);
    await pass(watch, 2 * HOUR);
    expect(world.looked()).toEqual(['1:26-cv-00009']);
    await pass(watch, 6 * DAY);
    expect(world.looked().filter((one) => one === A)).toHaveLength(1);
  });

  it('fetches the text of what a feed brought, a quarter of an hour later, before others that are due', async () => {
    const entries = [world.clock.now() - 3 * DAY];
    await world.asked(await world.shown('cand', A, { entries }), await world.shown('cand', B, { entries }));
    world.move(62 * MINUTE);
    await world.shown('cand', B, { source: 'rss', complete: false, entries: [...entries, world.clock.now()] });
    const watch = watching({ coverage: async () => () => true });
    await pass(watch, 14 * MINUTE);
    expect(world.looked()).toEqual([]);
    await pass(watch, 2 * MINUTE);
    expect(world.looked()).toEqual([B]);
  });

  it('sleeps until the budget allows more, then continues with the case that it could not finish', async () => {
    const streams = await Promise.all([A, B].map((number) => world.shown('cand', number, { complete: false })));
    await world.asked(...streams);
    const retryAt = world.clock.now() + 3 * HOUR;
    let isSpent = true;
    world.script.behave = ({ court, caseNumber }) =>
      isSpent
        ? { look: 'partial', stream: world.streamOf(court.code, caseNumber), because: fault('budget', retryAt) }
        : null;
    const watch = watching();
    await pass(watch, 2 * HOUR);
    const [first, ...others] = world.looked();
    expect(others).toEqual([]);
    isSpent = false;
    await pass(watch, HOUR + MINUTE);
    expect(world.looked()[0]).toBe(first);
  });

  it('continues after its clock was ahead by a year and is set back', async () => {
    await world.asked(await world.shown('cand', A));
    const year = 365 * DAY;
    const watch = watching({ watchDays: 3_650 });
    world.script.behave = () => ({ look: 'failed', because: fault('throttled', world.clock.now() + HOUR) });
    world.move(year);
    await watch.step(world.clock.now());
    world.script.behave = () => null;
    world.move(2 * HOUR - year);
    expect(world.looked()).toEqual([A]);
    await pass(watch, 20 * MINUTE);
    expect(world.looked()).toEqual([A]);
  });

  it('does not let the budget of one source hold up another', async () => {
    await world.asked(await world.shown('cand', A), await world.shown('scotus', '25-447', { source: 'scotus' }));
    world.move(3 * HOUR);
    world.script.behave = ({ court }) =>
      court.code === 'cand' ? { look: 'failed', because: fault('budget', world.clock.now() + DAY) } : null;
    await pass(watching(), 10 * MINUTE);
    expect(world.looked().sort()).toEqual(['25-447', A].sort());
  });

  it('leaves a case alone for longer and longer if the source does not know it, also after a restart', async () => {
    await world.asked(await world.shown('cand', A, { source: 'file' }));
    world.script.behave = () => ({ look: 'not_found' });
    world.move(2 * HOUR);
    await pass(watching(), 50 * MINUTE);
    expect(world.looked()).toEqual([A]);
    await pass(watching(), 5 * MINUTE);
    expect(world.looked()).toEqual([]);
    await pass(watching(), 30 * MINUTE);
    expect(world.looked()).toEqual([A]);
  });

  it('leaves a case alone after looks that the log says have failed', async () => {
    const stream = await world.shown('cand', A);
    await world.asked(stream);
    world.move(3 * HOUR);
    await world.failedLook(stream);
    await pass(watching(), 58 * MINUTE);
    expect(world.looked()).toEqual([]);
    await pass(watching(), 4 * MINUTE);
    expect(world.looked()).toEqual([A]);
  });

  it('does not let one case whose look always breaks off hold up the others', async () => {
    const streams = [];
    for (const number of [A, B, C]) streams.push(await world.shown('cand', number, { complete: false }));
    await world.asked(...streams);
    world.script.behave = ({ caseNumber }) => (caseNumber === A ? { look: 'failed', because: fault('timeout') } : null);
    await pass(watching(), 10 * MINUTE);
    expect(new Set(world.looked())).toEqual(new Set([A, B, C]));
  });

  it('sends no request while operators have paused the source, and asks for the other courts if only one is paused', async () => {
    await world.asked(await world.shown('cand', A), await world.shown('nysd', '1:26-cv-00009'));
    world.move(2 * HOUR);
    world.script.behave = ({ court }) =>
      court.code === 'cand' || world.script.isPaused ? { look: 'failed', because: fault('paused') } : null;
    world.script.isPaused = true;
    const watch = watching();
    await watch.step(world.clock.now());
    expect(world.looked()).toHaveLength(1);
    world.script.isPaused = false;
    await pass(watch, 5 * MINUTE);
    expect(world.looked()).toContain('1:26-cv-00009');
  });

  it('seeks a wanted case more and more rarely, until it is found', async () => {
    await world.wanted('cand', A);
    world.script.behave = () => ({ look: 'not_found' });
    const watch = watching({ agendaEvery: 15 * MINUTE });
    await pass(watch, 2 * DAY);
    const times = world.seen.map(({ at }) => at);
    expect(times.length).toBeGreaterThan(3);
    expect(times.length).toBeLessThan(9);
    world.script.behave = () => null;
    await pass(watch, 2 * DAY);
    const types = (await world.eventsOf(sourceStream.wanted('cand', A))).map(({ type, data }) => [type, data.why]);
    expect(types).toEqual([
      ['CaseWanted', undefined],
      ['CaseNoLongerWanted', 'found'],
    ]);
    expect((await world.eventsOf(world.streamOf('cand', A))).length).toBeGreaterThan(0);
  });

  it('watches a wanted case that something else has brought, without asking for its number again', async () => {
    await world.wanted('cand', A);
    const stream = await world.shown('cand', A, { source: 'scraper', complete: false });
    const watch = watching();
    await watch.step(world.clock.now());
    await world.projected();
    expect((await world.eventsOf(sourceStream.wanted('cand', A))).at(-1)).toMatchObject({
      type: 'CaseNoLongerWanted',
      data: { why: 'found' },
    });
    expect(world.looked()).toEqual([]);
    await pass(watch, 2 * MINUTE);
    expect(world.looked()).toEqual([A]);
    expect((await world.readStore.load(WATCHED_CASES, [stream])).get(stream)?.document).toHaveProperty('askedAt');
  });

  it('gives numbers that may not exist one look of four', async () => {
    const streams = [];
    for (const number of ['3:26-cv-00101', '3:26-cv-00102', '3:26-cv-00103', '3:26-cv-00104']) {
      streams.push(await world.shown('cand', number));
    }
    await world.asked(...streams);
    for (let number = 201; number < 209; number++) await world.wanted('cand', `3:26-cv-00${number}`);
    world.script.behave = ({ caseNumber }) => (caseNumber > '3:26-cv-00200' ? { look: 'not_found' } : null);
    world.move(2 * HOUR);
    await watching().step(world.clock.now());
    const sought = world.looked().map((number) => number > '3:26-cv-00200');
    expect(sought.slice(0, 6)).toEqual([false, false, false, true, false, true]);
    expect(sought).toHaveLength(12);
  });

  it('continues with known cases when numbers that may not exist have used up their share of the budget', async () => {
    const known = ['3:26-cv-00101', '3:26-cv-00102', '3:26-cv-00103', '3:26-cv-00104', '3:26-cv-00105'];
    const streams = [];
    for (const number of known) streams.push(await world.shown('cand', number));
    await world.asked(...streams);
    for (let number = 201; number < 209; number++) await world.wanted('cand', `3:26-cv-00${number}`);
    world.move(2 * HOUR);
    const until = world.clock.now() + DAY;
    world.script.behave = (_, priority) =>
      priority === 'wanted' ? { look: 'failed', because: fault('budget', until) } : null;
    await watching().step(world.clock.now());
    const priorities = world.seen.map(({ priority }) => priority);
    expect(priorities).toEqual(['watched', 'watched', 'watched', 'wanted', 'watched', 'watched']);
    expect(world.looked().filter((number) => known.includes(number))).toHaveLength(5);
  });

  it('neither slows down known cases nor raises an alarm for numbers that may not exist', async () => {
    await world.asked(await world.shown('cand', A));
    const report = async () => {
      const options = { readStore: world.readStore, desk: world.desk, rates };
      return freshnessReport(options, { now: world.clock.now(), watchDays: 30 });
    };
    const before = await report();
    for (let number = 201; number < 221; number++) await world.wanted('cand', `3:26-cv-00${number}`);
    expect(await report()).toEqual(before);
    expect(before.sources.courtlistener).toMatchObject({ watched: 1, cannotBeKept: 0 });
    world.script.behave = ({ caseNumber }) => (caseNumber > '3:26-cv-00200' ? { look: 'not_found' } : null);
    await pass(watching({ agendaEvery: 10 * MINUTE, rates }), 3 * HOUR);
    const times = world.seen.filter(({ caseNumber }) => caseNumber === A).map(({ at }) => at);
    expect(times.length).toBeGreaterThanOrEqual(2);
    expect(lines.filter(({ alarm }) => alarm === 'cases_not_kept_fresh')).toEqual([]);
  });

  it('gives up a wanted case after 30 days, on record', async () => {
    await world.wanted('cand', A);
    world.move(31 * DAY);
    await watching().step(world.clock.now());
    expect(world.looked()).toEqual([]);
    const [, ended] = await world.eventsOf(sourceStream.wanted('cand', A));
    expect(ended).toMatchObject({ type: 'CaseNoLongerWanted', data: { why: 'expired' } });
  });

  it('rests after an error of storage, and repeats the look', async () => {
    await world.asked(await world.shown('cand', A));
    world.move(2 * HOUR);
    let isBroken = true;
    world.script.behave = () => {
      if (isBroken) throw new Error('the log does not answer');
      return null;
    };
    const watch = watching();
    await watch.step(world.clock.now());
    isBroken = false;
    await pass(watch, 3 * MINUTE);
    expect(world.looked()).toEqual([A, A]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', process: 'case-watch' }));
  });

  it('ends a step when it is stopped', async () => {
    const streams = [];
    for (const number of [A, B, C]) streams.push(await world.shown('cand', number, { complete: false }));
    await world.asked(...streams);
    const stopping = new AbortController();
    world.script.behave = () => {
      stopping.abort();
      return { look: 'failed', because: fault('interrupted') };
    };
    await watching().step(world.clock.now(), stopping.signal);
    expect(world.looked()).toHaveLength(1);
  });

  it('warns before cases are stale that a budget cannot keep them fresh, once a day', async () => {
    const streams = [];
    for (const number of [A, B, C]) streams.push(await world.shown('cand', number));
    await world.asked(...streams);
    const options = { readStore: world.readStore, desk: world.desk, rates };
    const report = await freshnessReport(options, { now: world.clock.now(), watchDays: 30 });
    expect(report).toMatchObject({
      unasked: 0,
      sources: {
        courtlistener: { watched: 3, due: 0, cannotBeKept: 3, requestsPerDayNeeded: 216, requestsPerDay: 100 },
      },
    });
    const watch = watching({ agendaEvery: 10 * MINUTE, rates });
    await pass(watch, 10 * MINUTE);
    const alarms = () => lines.filter(({ alarm }) => alarm === 'cases_not_kept_fresh');
    expect(alarms()).toEqual([expect.objectContaining({ level: 'warn', part: 'courtlistener' })]);
    await pass(watch, 25 * HOUR);
    expect(alarms()).toHaveLength(2);
  });

  it('spreads the looks over the day if the budget is short', async () => {
    const streams = [];
    for (const number of [A, B, C]) streams.push(await world.shown('cand', number));
    await world.asked(...streams);
    world.move(2 * HOUR);
    await pass(watching({ rates }), 4 * HOUR);
    // A hundred requests a day are for the watch: a look of three every 43 minutes.
    expect(world.seen.map(({ at }, index) => index && at - (world.seen[index - 1]?.at ?? 0)).slice(1)).toEqual(
      Array.from({ length: 5 }, () => 43.2 * MINUTE),
    );
  });

  it('counts the watched cases of courts that no source can be asked about', async () => {
    await world.asked(await world.shown('cand', A, { source: 'file' }));
    world.script.sources = () => [];
    const options = { readStore: world.readStore, desk: world.desk, rates };
    expect(await freshnessReport(options, { now: world.clock.now(), watchDays: 30 })).toEqual({
      sources: {},
      unasked: 1,
    });
    await pass(watching(), 2 * HOUR);
    expect(world.looked()).toEqual([]);
  });

  it('is done by one node at a time, and taken over by another', async () => {
    await world.asked(await world.shown('cand', A));
    world.move(2 * HOUR);
    const ends = [new AbortController(), new AbortController()] as const;
    let looked: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      looked = resolve;
    });
    world.script.behave = () => {
      looked();
      return null;
    };
    const running = ends.map((end, index) => watching({ owner: `node-${index}` }).run(end.signal));
    await first;
    await world.projected();
    for (const end of ends) end.abort();
    await Promise.all(running);
    expect(world.looked()).toEqual([A]);
    expect(await world.readStore.leases(world.clock.now())).not.toContainEqual(
      expect.objectContaining({ name: 'case-watch' }),
    );
  });
});
