/**
 * Given courts whose feeds behave as they were seen to (rows 30 to 37 of the recorded behaviour), when they are polled, then
 * what is recorded of watched cases, and what is said of the courts.
 */

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLastFeedLook } from '../../../src/processes/sources/last-feed-look.ts';
import { createFreshness, type Freshness } from '../../../src/projections/freshness.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { sourceRecords } from '../../../src/projections/source-records.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { NO_MEMORY, readMemory, writeMemory } from '../../../src/sources/rss/feed-memory.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';
import type { FeedEntry } from '../../sources/feeds/dialects.ts';
import { type FeedWorld, openFeedWorld } from './feed-world.ts';

const COURTS = ['ilnd', 'nyed', 'ca2', 'ilcb', 'ilnb'];
let world: FeedWorld;
beforeEach(async () => {
  world = await openFeedWorld({ courts: COURTS });
});
afterEach(() => world.close());

const CASE = '1:26-cv-00417';
let made = 0;
/** An entry made now, each with ids of its own. */
const entry = (more: Partial<FeedEntry> = {}): FeedEntry => {
  made++;
  return {
    caseNumber: CASE,
    caseName: 'Brackwater Tile & Stone, LLC v. Pell',
    event: `order on motion ${made}`,
    at: world.now(),
    pacerCaseId: '489903',
    number: made,
    document: `0671304${String(made).padStart(5, '0')}`,
    sequence: 10 + made,
    partId: 3_920_000 + made,
    ...more,
  };
};
/** A case that a complete look has shown, and that somebody has asked for. */
async function watched(court: string, caseNumber: string): Promise<string> {
  const stream = await world.shown(court, caseNumber, { entries: [] });
  await world.asked(stream);
  return stream;
}
const of = (court: string) => world.polls.find((poll) => poll.court === court);
const texts = async (stream: string) => (await world.filings(stream)).map(({ description }) => description);
const eventsOf = async (stream: string, type: string) =>
  (await world.eventsOf(stream)).filter((event) => event.type === type).map(({ data }) => data);

describe('feeds (docs/design/sources.md#feeds)', () => {
  it('record entries of watched cases as partial looks, once', async () => {
    const stream = await watched('ilnd', CASE);
    const one = entry();
    world.server.addItem('ilnd', one);
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: null, ingested: 1, unknownCase: 0, gap: null });
    const [filing] = await world.filings(stream);
    expect(filing).toMatchObject({
      entryNumber: one.number,
      description: one.event,
      enteredAt: new Date(Math.floor(one.at / 1_000) * 1_000).toISOString().replace('.000Z', '.000000Z'),
      dateFiled: null,
      documentIdentifier: `0670${one.document?.slice(4)}`,
    });
    await world.later(6);
    expect(of('ilnd')).toMatchObject({ fault: null, ingested: 0 });
    const checks = (await eventsOf(stream, 'DocketChecked')).filter(({ source }) => source === 'rss');
    expect(checks).toMatchObject([{ complete: false, outcome: 'partial' }]);
  });

  it('never overwrite the name that a docket has: feeds cut names off', async () => {
    await world.wanted('ilcb', '26-70412');
    const name = async () => (await world.caseOf('docket-ilcb-26-70412'))?.header?.caseName;
    world.server.addItem('ilcb', entry({ caseNumber: '26-70412', caseName: 'Perpetua Grind and Osric G' }));
    await world.step();
    expect(await name()).toBe('Perpetua Grind and Osric G');
    await world.shown('ilcb', '26-70412', { entries: [] });
    const told = await name();
    expect(told).not.toBe('Perpetua Grind and Osric G');
    world.server.addItem('ilcb', entry({ caseNumber: '26-70412', caseName: 'Perpetua Grind and Osric G' }));
    await world.later(6);
    expect(of('ilcb')?.ingested).toBe(1);
    expect(await name()).toBe(told);
  });

  it('count an entry of an unknown case and keep nothing of it, until somebody wants the case', async () => {
    world.server.addItem('ilnd', entry());
    await world.step();
    expect(of('ilnd')).toMatchObject({ ingested: 0, unknownCase: 1 });
    await world.later(6);
    expect(of('ilnd')).toMatchObject({ ingested: 0, unknownCase: 0 });
    expect(await world.eventsOf(`docket-ilnd-${CASE}`)).toEqual([]);
    await world.wanted('ilnd', CASE);
    await world.later(6);
    expect(of('ilnd')).toMatchObject({ ingested: 1, unknownCase: 0 });
    expect(await world.filings(`docket-ilnd-${CASE}`)).toHaveLength(1);
  });

  it('open a docket for each case with RSS_KEEP=all', async () => {
    const keeping = await openFeedWorld({ courts: ['ilnd'], keepsAll: true });
    keeping.server.addItem('ilnd', { ...entry(), at: keeping.now() });
    await keeping.step();
    expect(keeping.polls[0]).toMatchObject({ ingested: 1, unknownCase: 0 });
    expect(await keeping.filings(`docket-ilnd-${CASE}`)).toHaveLength(1);
    await keeping.close();
  });

  it('are polled at most every five minutes, over all processes and restarts', async () => {
    await world.step();
    for (let minute = 1; minute <= 12; minute++) {
      world.reopen();
      await world.later(1);
    }
    const times = world.server.requests('ilnd').map(({ at }) => at);
    expect(times).toHaveLength(3);
    for (const [index, at] of times.entries()) {
      if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(300_000_000);
    }
  });

  it('are polled by one of two processes that are due at once', async () => {
    const [a, b] = [world.start(), world.start()];
    await Promise.all([a.step(world.clock.now()), b.step(world.clock.now())]);
    for (const court of COURTS) expect(world.server.requests(court)).toHaveLength(1);
  });

  it.each([
    ['a new process, after a clock was set back by a year', 365 * 24 * 60, true],
    ['a new process, after a clock was set back by two hours', 120, true],
    ['the same process, after its clock was set back by two hours', 120, false],
  ])('are polled at once by %s', async (_by, minutes, isNew) => {
    world.server.trouble('nyed', 'gone');
    world.move(minutes * 60_000_000);
    await world.step();
    world.move(-minutes * 60_000_000);
    if (isNew) world.reopen();
    await world.step();
    for (const court of COURTS) expect(world.server.requests(court)).toHaveLength(2);
    await world.later(4);
    expect(world.server.requests('ilnd')).toHaveLength(2);
    await world.later(2);
    expect(world.server.requests('ilnd')).toHaveLength(3);
  });

  it('are not polled while they are paused', async () => {
    world.script.isPaused = (court) => court === 'ilnd';
    await world.step();
    expect(world.server.requests('ilnd')).toHaveLength(0);
    expect(world.server.requests('nyed')).toHaveLength(1);
    world.script.isPaused = () => false;
    await world.later(2);
    expect(world.server.requests('ilnd')).toHaveLength(1);
  });

  it('are asked with what the server gave to compare; unchanged ones are a look', async () => {
    world.server.validators('ilnd');
    world.server.freeze('ilnd');
    await world.step();
    await world.later(6);
    expect(of('ilnd')).toMatchObject({ fault: null, notModified: true });
    expect(world.server.requests('ilnd')[1]?.headers['if-none-match']).toMatch(/^"/);
  });

  it.each([
    ['slow', 'timeout'],
    ['broken', 'connection'],
    ['gone', 'unavailable'],
    ['unavailable', 'unavailable'],
    ['unconfigured', 'unavailable'],
  ] as const)('back off from a server that is %s, and say so after three times', async (trouble, fault) => {
    world.server.trouble('ilnd', trouble);
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: { fault } });
    expect(await world.lastFault('ilnd')).toMatch(new RegExp(`^${fault}: .`));
    const standing = () => world.standings.findLast(({ court }) => court === 'ilnd');
    expect(standing()).toBeUndefined();
    for (const minutes of [16, 16]) await world.later(minutes);
    expect(standing()).toMatchObject({ standing: 'failing', why: fault });
    const asked = world.server.requests('ilnd').length;
    await world.later(6);
    expect(world.server.requests('ilnd')).toHaveLength(asked);
    world.server.trouble('ilnd', null);
    await world.later(30);
    expect(standing()).toMatchObject({ standing: 'working', why: null });
    expect(await world.lastFault('ilnd')).toBeNull();
  });

  it('end with the limit of bytes', async () => {
    await world.close();
    world = await openFeedWorld({ courts: ['ilnd'], totalMs: 20_000 });
    world.server.addItem('ilnd', entry());
    world.server.trouble('ilnd', 'endless');
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: { fault: 'too_large' }, ingested: 0 });
  });

  it('row 30: a feed that is cut off gives its whole items, and is no look', async () => {
    const stream = await watched('ilnd', CASE);
    const [first, second] = [entry(), entry()];
    // The newest is first, so the older one is cut off.
    world.server.addItem('ilnd', first);
    world.server.addItem('ilnd', second);
    world.server.trouble('ilnd', 'cut');
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: { fault: 'unreadable' }, ingested: 1 });
    expect(await texts(stream)).toEqual([second.event]);
    world.server.trouble('ilnd', null);
    await world.later(6);
    expect(of('ilnd')).toMatchObject({ fault: null, ingested: 1 });
    expect(await texts(stream)).toEqual([second.event, first.event]);
  });

  it('row 30: a gap is measured from the last whole feed', async () => {
    await watched('ilnd', CASE);
    world.server.window('ilnd', 2);
    world.server.addItem('ilnd', entry());
    await world.step();
    const last = world.clock.now();
    world.server.trouble('ilnd', 'cut');
    for (let hour = 0; hour < 5; hour++) {
      world.server.addItem('ilnd', entry());
      await world.later(60);
      expect(of('ilnd')).toMatchObject({ fault: { fault: 'unreadable' }, gap: null });
    }
    world.server.trouble('ilnd', null);
    // Every item has left the feed by now.
    await world.later(121);
    expect(of('ilnd')).toMatchObject({ fault: null, gap: { from: last, to: world.clock.now() } });
  });

  it('record what they can: cases that cannot be recorded are partial, and the court is degraded after three polls', async () => {
    const broken = ['1:26-cv-00501', '1:26-cv-00502', '1:26-cv-00503', '1:26-cv-00504', '1:26-cv-00505'];
    const streams = await Promise.all(broken.map((caseNumber) => watched('ilnd', caseNumber)));
    const good = await watched('ilnd', CASE);
    world.move(60_000_000);
    const oldest = world.now();
    for (const caseNumber of broken) world.server.addItem('ilnd', entry({ caseNumber }));
    const last = entry();
    world.server.addItem('ilnd', last);
    let fails = true;
    const poller = world.start({
      ingest: async (snapshot) => {
        if (fails && broken.includes(snapshot.caseNumber)) throw new Error('a rule rejects it');
        return world.ingest(snapshot);
      },
    });
    const poll = async (minutes: number) => {
      world.move(minutes * 60_000_000);
      world.polls.length = 0;
      await poller.step(world.clock.now());
      await world.projected();
      return { poll: of('ilnd'), standing: world.standings.findLast(({ court }) => court === 'ilnd') };
    };
    expect(await poll(0)).toMatchObject({
      poll: { fault: null, ingested: 1, failedCases: 5, gap: null },
      standing: { standing: 'working' },
    });
    expect(await texts(good)).toEqual([last.event]);
    expect([await world.coverage('ilnd', CASE), await world.coverage('ilnd', broken[0] ?? '')]).toEqual([
      'full',
      'partial',
    ]);
    const gaps = async () => Promise.all(streams.map(async (stream) => (await world.caseOf(stream))?.gap?.from));
    for (const from of await gaps()) expect(Date.parse(from ?? '')).toBeGreaterThanOrEqual(oldest - 1_000);
    await poll(6);
    expect(await poll(6)).toMatchObject({
      poll: { ingested: 0, failedCases: 5, gap: null },
      standing: { standing: 'degraded', why: 'entries of some cases cannot be recorded' },
    });
    for (const stream of streams) {
      const checks = (await eventsOf(stream, 'DocketChecked')).filter(({ source }) => source === 'rss');
      expect(checks).toHaveLength(1);
    }
    fails = false;
    expect(await poll(6)).toMatchObject({
      poll: { ingested: 5, failedCases: 0 },
      standing: { standing: 'working', why: null },
    });
    for (const stream of streams) expect(await texts(stream)).toHaveLength(1);
  });

  it('end with a storage that fails, and are repeated as a whole', async () => {
    const stream = await watched('ilnd', CASE);
    world.server.addItem('ilnd', entry());
    const failure = new StorageFailure('storage_full', 'the disk is full');
    const failing = world.start({ ingest: () => Promise.reject(new Error('unknown', { cause: failure })) });
    await failing.step(world.clock.now());
    expect(of('ilnd')).toBeUndefined();
    expect(await world.later(6)).toBeDefined();
    expect(of('ilnd')).toMatchObject({ fault: null, ingested: 1, failedCases: 0 });
    expect(await texts(stream)).toHaveLength(1);
  });

  it('row 31: an empty body is a failure, with a back-off', async () => {
    world.server.trouble('ilnd', 'empty');
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: { fault: 'unreadable', reason: 'an empty body' } });
    await world.later(6);
    await world.later(6);
    expect(world.server.requests('ilnd')).toHaveLength(2);
    await world.later(6);
    expect(world.server.requests('ilnd')).toHaveLength(3);
  });

  it('row 32: a page in place of a feed is a failure, not a feed without items', async () => {
    const stream = await watched('ilnd', CASE);
    world.server.addItem('ilnd', entry());
    world.server.trouble('ilnd', 'html');
    await world.step();
    expect(of('ilnd')).toMatchObject({ fault: { fault: 'unavailable' }, ingested: 0 });
    world.server.trouble('ilnd', null);
    await world.later(6);
    expect(await world.filings(stream)).toHaveLength(1);
  });

  it('row 33: a feed that has not moved for two hours of a working day is degraded, until it moves', async () => {
    const standing = () => world.standings.findLast(({ court }) => court === 'ilnd')?.standing;
    // From a Friday noon to Sunday, 12:00 UTC: 07:00 in Chicago, where summer time began in the night.
    world.move(2 * 24 * 3_600_000_000);
    expect(new Date(world.now()).toISOString().slice(11, 16)).toBe('12:00');
    expect(new Date(world.now()).getUTCDay()).toBe(0);
    await world.step();
    world.server.freeze('ilnd');
    // Until Monday 01:30 in Chicago; the weekend does not count.
    for (let half = 0; half < 37; half++) {
      await world.later(30);
      expect(standing()).toBe('working');
    }
    await world.later(30);
    expect(standing()).toBe('degraded');
    expect(world.standings.findLast(({ court }) => court === 'nyed')?.standing).toBe('working');
    world.move(60_000_000);
    expect(await world.recorded('ilnd')).toEqual(['degraded']);
    world.server.thaw('ilnd');
    await world.later(6);
    expect(standing()).toBe('working');
    expect(await world.recorded('ilnd')).toEqual(['degraded', 'working']);
    expect(await world.recorded('nyed')).toEqual([]);
  });

  it('row 33: a time of building that wobbles by a minute is no movement', async () => {
    world.server.addItem('ilnd', entry());
    for (const court of ['ilnd', 'nyed']) world.server.freeze(court);
    world.server.wobble('ilnd');
    await world.step();
    for (let half = 0; half < 4; half++) {
      await world.later(30);
      expect(of('ilnd')).toMatchObject({ ingested: 0, unknownCase: 0, fault: null });
    }
    const standing = (code: string) => world.standings.findLast(({ court }) => court === code)?.standing;
    expect([standing('ilnd'), standing('nyed'), standing('ca2')]).toEqual(['degraded', 'degraded', 'working']);
  });

  it('row 34: one entry with two events is one filing', async () => {
    const stream = await watched('ilnd', CASE);
    const one = entry({ event: 'order on motion to dismiss' });
    world.server.addItem('ilnd', one);
    world.server.addItem('ilnd', { ...one, event: 'memorandum opinion and order' });
    await world.step();
    expect(await texts(stream)).toEqual(['memorandum opinion and order AND order on motion to dismiss']);
    // The second event of another entry appears later.
    const other = entry({ event: 'reply' });
    world.server.addItem('ilnd', other);
    await world.later(6);
    world.server.addItem('ilnd', { ...other, event: 'exhibit' });
    await world.later(6);
    expect((await texts(stream)).at(-1)).toBe('exhibit AND reply');
    expect(await world.filings(stream)).toHaveLength(2);
  });

  it('row 35: items with one guid are all read, and those within sections of text', async () => {
    const number = '1:26-cv-04240';
    await world.wanted('nyed', number);
    const stream = `docket-nyed-${number}`;
    const of4240 = { caseNumber: `${number}-WFK-SMG`, pacerCaseId: '77', caseName: 'Fern v. Cem & Co.' };
    const entries = [1, 2, 3].map((second) => entry({ ...of4240, at: world.now() - second * 1_000 }));
    for (const one of entries) world.server.addItem('nyed', one);
    await world.step();
    expect(await texts(stream)).toHaveLength(3);
    expect(new Set(await texts(stream))).toEqual(new Set(entries.map(({ event }) => event)));
    expect((await world.caseOf(stream))?.header?.caseName).toBe('Fern v. Cem & Co.');
  });

  it('row 36: bytes of ISO-8859-1 without a label, a reference escaped twice, and summer time named in winter', async () => {
    await world.wanted('ca2', '26-1101');
    const stream = 'docket-ca2-26-1101';
    world.server.addItem(
      'ca2',
      entry({ caseNumber: '26-1101', caseName: 'Société Bråvin & Cie v. Peña', event: 'Opinion, § 1983 FILED' }),
    );
    await world.step();
    expect((await world.caseOf(stream))?.header?.caseName).toBe('Société Bråvin & Cie v. Peña');
    const [filing] = await world.filings(stream);
    expect(filing?.description).toBe('Opinion, § 1983 FILED');
    expect(filing?.enteredAt).toBe(`${new Date(world.now()).toISOString().slice(0, 19)}.000000Z`);
  });

  it('row 37: a cell that was lost, as after a restore, hides no gap: the newest look in the log counts', async () => {
    const stream = await watched('ilnd', CASE);
    world.server.window('ilnd', 2);
    world.server.addItem('ilnd', entry());
    await world.step();
    const last = world.clock.now();
    for (const lost of ['ilnd', 'ca2']) {
      const { version } = await readMemory(world.readStore, lost);
      await writeMemory(world.readStore, lost, version, NO_MEMORY);
    }
    const silent = pino({ level: 'silent' });
    const runner = createProjectionRunner({
      ...world,
      projections: [sourceRecords],
      clock: systemClock,
      logger: silent,
      owner: 'restored',
    });
    const freshness = [createFreshness({ log: world.log, runner, projection: sourceRecords.name })];
    world.reopen({ lastLook: createLastFeedLook({ readStore: world.readStore, clock: world.clock, freshness }) });
    world.move(3 * 3_600_000_000);
    const oldest = entry({ caseNumber: '1:26-cv-00999' });
    world.server.addItem('ilnd', oldest);
    // Nothing is asked before it is known which looks there were.
    expect(await world.step()).not.toContainEqual(expect.objectContaining({ court: 'ilnd' }));
    await runner.catchUp();
    await world.later(1);
    const gap = { from: last, to: Math.floor(oldest.at / 1_000) * 1_000_000 };
    expect(of('ilnd')).toMatchObject({ fault: null, gap });
    expect(await world.coverage('ilnd', CASE)).toBe('partial');
    expect((await eventsOf(stream, 'DocketChecked')).filter((check) => 'gap' in check)).toHaveLength(1);
    // A court of which the log has no look has lost nothing.
    expect(of('ca2')).toMatchObject({ fault: null, gap: null });
  });

  it('a read model that has halted stops the feeds for an hour at most', async () => {
    const never: Freshness = { wasBuilt: false, showsEverything: async () => false };
    const options = { readStore: world.readStore, clock: world.clock, freshness: [never] };
    world.reopen({ lastLook: createLastFeedLook(options) });
    expect(await world.step()).toEqual([]);
    await world.later(61);
    expect(world.polls.map(({ court }) => court).sort()).toEqual([...COURTS].sort());
  });

  it('row 37: a silence longer than the feed reaches back is noted, and the case is partial until a complete look', async () => {
    const stream = await watched('ilnd', CASE);
    const closed = await world.shown('ilnd', '1:26-cv-00418', { entries: [], closed: true });
    await world.asked(closed);
    world.server.window('ilnd', 2);
    world.server.addItem('ilnd', entry());
    await world.step();
    expect(await world.coverage('ilnd', CASE)).toBe('full');
    const last = world.clock.now();
    // The service is down for five hours; of what was entered meanwhile, the last two are in the feed.
    world.move(1 * 3_600_000_000);
    world.server.addItem('ilnd', entry());
    world.move(2.5 * 3_600_000_000);
    const oldest = entry({ caseNumber: '1:26-cv-00999' });
    world.server.addItem('ilnd', oldest);
    world.reopen();
    await world.later(90);
    const gap = { from: last, to: Math.floor(oldest.at / 1_000) * 1_000_000 };
    expect(of('ilnd')).toMatchObject({ fault: null, gap });
    expect((await eventsOf(stream, 'DocketChecked')).at(-1)).toMatchObject({
      source: 'rss',
      outcome: 'partial',
      complete: false,
      gap: { from: toInstant(gap.from), to: toInstant(gap.to) },
    });
    expect((await eventsOf(closed, 'DocketChecked')).at(-1)).not.toHaveProperty('gap');
    expect(await world.coverage('ilnd', CASE)).toBe('partial');
    await world.shown('ilnd', CASE, { entries: [] });
    expect(await world.coverage('ilnd', CASE)).toBe('full');
  });
});
