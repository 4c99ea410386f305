/**
 * Three ways of one filing (docs/design/sources.md#three-ways): a feed names it, an alert brings it, a full report shows
 * it. In any order, repeated, late, cut off or killed in the middle, it is one filing, announced once, and it fills as
 * its sources know more. The model is a court with a list of entries; it knows nothing of events.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { DocketContended, ingestDocket } from '../../src/commands/docket/ingest.ts';
import { FILINGS, type FilingDocument } from '../../src/dockets/case-document.ts';
import { dayAt } from '../../src/dockets/court-time.ts';
import type { DocketSnapshot } from '../../src/dockets/snapshot.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { judge } from '../audit/rules/judge.ts';
import { Killed, MemoryWorld, randomOf, Turns } from '../dockets/memory-ports.ts';
import { bodyOf, contextOf, court } from '../dockets/world.ts';
import { alertOf, type CourtEntry, feedShown, reportOf, reportOfCourt } from './three-ways.bodies.ts';

const MINUTE: Micros = 60 * MICROS_PER_SECOND;
/** The court's clock at the start of a history: a Thursday morning, long after its oldest entries. */
const START = Date.UTC(2026, 2, 5, 15) * 1_000;
/** Minutes of a history in which entries appear. */
const SPAN = 12 * 60;

const NAMES = [
  'Motion to Dismiss',
  'Order on Motion to Compel',
  'Minute Entry',
  'Notice of Appearance',
  'Summons Issued',
];

const PAPERS = ['Discovery', 'Venue', 'Costs', 'Stay', 'Standing', 'Damages', 'Sanctions', 'Joinder', 'Schedule'];

const courtEntry = fc.record({
  /** Minutes after the start at which the clerk enters it; negative: before. */
  enteredMinute: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: SPAN }) },
    { weight: 1, arbitrary: fc.integer({ min: -90 * 24 * 60, max: -1 }) },
  ),
  /** Days between its filing and its entry. */
  backdatedDays: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
  name: fc.constantFrom(...NAMES),
  /** Without a number and a document: a minute entry, or an order that is only text. */
  isNumbered: fc.boolean(),
  /** Whether the alert has its whole text. */
  isToldWhole: fc.boolean(),
  /** Whether CourtListener knows PACER's sequence number of it. */
  isSequenced: fc.boolean(),
  /** What its item in the feed says beside its name and time: some courts' have no number, and some no link at all. */
  feedShows: fc.constantFrom('all' as const, 'all' as const, 'no number' as const, 'nothing' as const),
});

type Drawn = Omit<CourtEntry, 'key' | 'number' | 'enteredAt'> & {
  readonly enteredMinute: number;
  readonly isNumbered: boolean;
};

/** A district court's feed has ids for every entry; an appellate court's may have nothing but a name and a time. */
const COURTS = { cand: '3:26-cv-00417', ca10: '26-1417' } as const;
type CourtCode = keyof typeof COURTS;

const entriesOf =
  (code: CourtCode) =>
  (entries: readonly Drawn[]): readonly CourtEntry[] =>
    entries
      .toSorted((a, b) => a.enteredMinute - b.enteredMinute)
      .map(({ enteredMinute, ...entry }, key): CourtEntry => {
        // One after the other, further apart than the clocks of courts and ours may be.
        const enteredAt = toInstant(START + (enteredMinute + 6 * key) * MINUTE);
        // Without a link there is no document, so the docket sheet has no number either.
        const feedShows = code === 'cand' ? 'all' : entry.feedShows;
        const number = entry.isNumbered && feedShows !== 'nothing' ? key + 1 : null;
        // An entry that nothing identifies, and that its sources date differently, cannot be known for the same one.
        const backdatedDays = code === 'ca10' && number === null ? 0 : entry.backdatedDays;
        const isSequenced = code === 'cand' && (entry.isSequenced || (number === null && backdatedDays > 0));
        // Nor can two of one name on one day be told apart.
        const name = number === null ? `${entry.name} on ${PAPERS[key]}` : entry.name;
        return { ...entry, name, feedShows, isSequenced, backdatedDays, key, number, enteredAt };
      });

const courtDocket = fc
  .record({
    code: fc.constantFrom<CourtCode>('cand', 'ca10'),
    entries: fc.array(courtEntry, { minLength: 1, maxLength: 9 }),
  })
  .map(({ code, entries }) => ({ code, docket: entriesOf(code)(entries) }));

/** What happens, in this order; `at` is the minute of the court's clock. */
type Way = 'feed' | 'alert' | 'report';
interface Showing {
  readonly way: Way;
  /** Minute at which it is made. */
  readonly at: number;
  /** Minutes until it comes: an alert may be 54 hours late. */
  readonly delay: number;
  /** Comes twice. */
  readonly twice: boolean;
  /** Only so many of its entries come. */
  readonly cut: number | null;
  /** The process dies after so many steps, or with an append sent. It then comes again. */
  readonly kill: number | 'in append' | null;
}

const showing: fc.Arbitrary<Showing> = fc.record({
  way: fc.constantFrom<Way>('feed', 'alert', 'report'),
  at: fc.integer({ min: 0, max: SPAN + 60 }),
  delay: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 120 }), fc.constant(54 * 60 + 39)),
  twice: fc.boolean(),
  cut: fc.option(fc.integer({ min: 0, max: 4 }), { nil: null, freq: 3 }),
  kill: fc.option(fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('in append' as const)), { nil: null, freq: 2 }),
});

/** Every way shows the whole docket once, in this order; other showings come between. */
const ORDERS: readonly (readonly Way[])[] = [
  ['feed', 'alert', 'report'],
  ['feed', 'report', 'alert'],
  ['alert', 'feed', 'report'],
  ['alert', 'report', 'feed'],
  ['report', 'feed', 'alert'],
  ['report', 'alert', 'feed'],
];

interface FirstAnswer {
  readonly at: Instant;
  readonly whole: boolean;
  readonly times: ReadonlySet<Instant>;
}

/** One history. @throws AssertionError */
export async function oneFiling(
  { code, docket }: { readonly code: CourtCode; readonly docket: readonly CourtEntry[] },
  order: readonly Way[],
  others: readonly Showing[],
  polls: readonly number[],
  seed: number,
): Promise<void> {
  const random = randomOf(seed);
  const turns = new Turns(random);
  const world = new MemoryWorld(turns, { appendError: 0.1 });
  world.time = START - 10 * MINUTE;
  const where = court(code);
  const number = COURTS[code];
  const projection = world.project();
  let lastChecked: Instant | null = null;
  let first: FirstAnswer | null = null;
  const told: Instant[] = [];

  const ingest = async (snapshot: DocketSnapshot, kill: Showing['kill']): Promise<void> => {
    for (let again = kill !== null; ; again = false) {
      let left = again && typeof kill === 'number' ? kill : Number.POSITIVE_INFINITY;
      const ports = world.node(0, () => left-- > 0, again && kill === 'in append');
      try {
        const report = await ingestDocket(ports, snapshot, contextOf(`command-${random()}`));
        expect('refused' in report && report.refused).toBe(false);
        if (!again) return;
      } catch (error) {
        const isKilled = error instanceof Killed || (error as Error).cause instanceof Killed;
        if (!isKilled && !(error instanceof DocketContended)) throw error;
      }
    }
  };

  const show = async ({ way, cut, twice, kill }: Showing, madeAt: Micros): Promise<void> => {
    const there = docket.filter(({ enteredAt }) => toMicros(enteredAt) <= madeAt);
    const askedAt = toInstant(madeAt);
    const snapshots = await snapshotsOf(way, there, askedAt, cut);
    for (let time = 0; time < (twice ? 2 : 1); time++)
      for (const one of snapshots) await ingest(one, time === 0 ? kill : null);
  };

  const snapshotsOf = async (
    way: Way,
    there: readonly CourtEntry[],
    askedAt: Instant,
    cut: number | null,
  ): Promise<readonly DocketSnapshot[]> => {
    const some = cut === null ? there : there.slice(0, cut);
    switch (way) {
      case 'feed':
        return feedShown(where, number, there, askedAt, cut);
      case 'alert':
        return some.length === 0 ? [] : [alertOf(where, number, some, askedAt)];
      case 'report':
        return [reportOf(where, number, some, { askedAt, complete: some.length === there.length })];
    }
  };

  const poll = async (): Promise<void> => {
    const node = world.node(0, () => true);
    const queries = createCaseQueries({ ...node, freshness: world.freshness, patienceMs: 50 });
    const answer = await queries.answerCase({
      court: where,
      courtCode: code,
      caseId: number,
      lastChecked,
      since: lastChecked,
      context: 'full',
      language: null,
      filingTypes: null,
    });
    if ('problem' in answer) {
      expect(['case_not_found', 'court_unavailable', 'service_unavailable']).toContain(answer.problem);
      return;
    }
    const body = bodyOf(answer);
    const timesOf = (filings: readonly { available_at: Instant }[]) => filings.map((one) => one.available_at);
    if (first === null) {
      const times = new Set(timesOf(body.case.docket_history));
      first = { at: answer.queriedAt, whole: answer.coverageStatus === 'full', times };
    } else told.push(...timesOf(body.delta.new_filings));
    lastChecked = answer.queriedAt;
  };

  // The three ways after everything has been entered, each with the rest before it.
  const planned: (Showing & { readonly comes: number })[] = others.map((one) => ({
    ...one,
    comes: one.at + one.delay,
  }));
  for (const [place, way] of order.entries()) {
    const at = SPAN + 100 + place * 30;
    planned.push({ way, at, delay: 0, twice: false, cut: null, kill: null, comes: at });
  }
  const steps = [
    ...planned.map((one) => ({ at: one.comes, run: () => show(one, START + one.at * MINUTE) })),
    ...polls.map((at) => ({ at, run: poll })),
  ].toSorted((a, b) => a.at - b.at);
  for (const { at, run } of steps) {
    world.time = Math.max(world.time, START + at * MINUTE);
    await turns.run([run()]);
  }
  // The court's own report at last, and two more looks of the caller.
  world.time = Math.max(world.time, START + 5 * 24 * 60 * MINUTE);
  await turns.run([ingest(reportOfCourt(where, number, docket, toInstant(world.time)), null)]);
  await turns.run([poll()]);
  await turns.run([poll()]);
  world.stopped = true;
  await turns.run([projection]);

  const filings = [...(world.documents.get(FILINGS)?.values() ?? [])].map(
    ({ document }) => document as unknown as FilingDocument,
  );
  expect(judge(world.events).breaches).toEqual([]);
  expect(world.rebuilt(), 'a fresh rebuild is equal').toEqual(world.documents);
  const keyOf = new Map(filings.map((one) => [one.availableAt, Number(/K(\d+)/.exec(one.description)?.[1])]));
  expect(
    [...keyOf.values()].toSorted((a, b) => a - b),
    'each entry is one filing',
  ).toEqual(docket.map(({ key }) => key));
  expect(new Set(told).size, 'told twice').toBe(told.length);
  const toldKeys = told.map((time) => keyOf.get(time));
  expect(toldKeys, 'what was told is a filing').not.toContain(undefined);
  if (first !== null) {
    const { at, whole, times } = first as FirstAnswer;
    for (const time of told) expect(times.has(time), 'told, though it was in the first answer').toBe(false);
    for (const { key, enteredAt, backdatedDays } of docket) {
      const [time] = [...keyOf].find(([, one]) => one === key) ?? [];
      const wasShown = time !== undefined && times.has(time);
      // A first full report without times of entry shows a backdated filing as older than the caller's first look.
      const owed = whole || (backdatedDays === 0 && enteredAt > at);
      if (owed && !wasShown) expect(toldKeys, `entry ${key} was lost`).toContain(key);
    }
  }
  for (const filing of filings) {
    const entry = docket[Number(/K(\d+)/.exec(filing.description)?.[1])];
    if (entry === undefined) throw new Error('a filing of no entry');
    expect(filing.entryNumber).toBe(entry.number);
    const entered = dayAt(where.timeZone, toMicros(entry.enteredAt)).day;
    const filed = toInstant(Date.parse(`${entered}T00:00:00Z`) * 1000 - entry.backdatedDays * 24 * 60 * MINUTE);
    expect(filing.dateFiled, 'the day of filing').toBe(filed.slice(0, 10));
  }
}

/** Over this many generated histories of each order. */
export async function oneFilingOver(histories: number): Promise<void> {
  for (const order of ORDERS) {
    await fc.assert(
      fc.asyncProperty(
        courtDocket,
        fc.constant(order),
        fc.array(showing, { maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: SPAN + 4 * 24 * 60 }), { maxLength: 4 }),
        fc.integer(),
        oneFiling,
      ),
      { numRuns: histories },
    );
  }
}
