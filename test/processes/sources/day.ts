/**
 * A day simulated on a virtual clock: the real feeds, the real CourtListener source, the real watch and ingest on a real
 * storage, against servers that imitate the courts and CourtListener. For the benchmark `sources-day` and its quick test.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import type { IngestPorts } from '../../../src/commands/docket/clock.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { CASES, type CaseDocument, FILINGS, type FilingDocument } from '../../../src/dockets/case-document.ts';
import type { SnapshotEntry } from '../../../src/dockets/snapshot.ts';
import { docketStream } from '../../../src/events/docket.ts';
import { paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { feedCoverage } from '../../../src/processes/sources/feed-coverage.ts';
import { createFeeds } from '../../../src/processes/sources/feeds.ts';
import { createCaseWatch } from '../../../src/processes/sources/watch.ts';
import { cases as casesProjection } from '../../../src/projections/cases.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { WATCHED_CASES, type WatchedCase, watchedCases } from '../../../src/projections/watched-cases.ts';
import { type Micros, toInstant, toMicros } from '../../../src/runtime/instant.ts';
import type { Rate } from '../../../src/sources/budget.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import { feedsOf } from '../../../src/sources/rss/addresses.ts';
import { readRates } from '../../../src/sources/settings.ts';
import type { SourcePlan } from '../../../src/sources/watch-plan.ts';
import { type CommandContext, NO_STREAM } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { openCourtListener } from '../../sources/courtlistener/court-listener.ts';
import { openFeeds } from '../../sources/feeds/feeds.ts';
import { openDesk } from './day-desk.ts';
import {
  DAY_BEGINS,
  type DayOptions,
  HOUR,
  MINUTE,
  type PlannedCase,
  type PlannedEntry,
  planOfDay,
} from './day-plan.ts';
import { freshnessReport } from './freshness-report.ts';

export interface SimulationOptions extends DayOptions {
  readonly rates: readonly Rate[];
  /** Looks by queries, evenly over the day. */
  readonly paidPerHour: number;
  /** Called every virtual hour. */
  progress?(hour: number): void;
}

/** Microseconds at each of these shares of the values, in their order. */
export interface Percentiles {
  readonly p50: Micros;
  readonly p90: Micros;
  readonly p99: Micros;
  readonly most: Micros;
}

export interface DayReport {
  readonly watched: number;
  readonly feeds: number;
  /** Entries of watched cases that appeared, and those that are not served at the end. */
  readonly entries: number;
  readonly missing: readonly string[];
  /** Filings that are served twice. */
  readonly doubled: number;
  readonly polls: number;
  /** The shortest time between two polls of one court. */
  readonly shortestPoll: Micros;
  /** Requests to CourtListener, and those that it refused because of a rate. */
  readonly requests: number;
  readonly refused: number;
  readonly paidLooks: number;
  /** Paid looks that the budget did not allow. */
  readonly paidRefused: number;
  /** From the entry at the court to its being served. */
  readonly delay: Percentiles;
  /** How long ago any source last showed a watched case, in samples of every hour. */
  readonly age: Percentiles;
  /** How long ago a look at it was complete. */
  readonly lookAge: Percentiles;
  /** Texts that CourtListener had at the end, and those of them that are served. */
  readonly texts: number;
  readonly textsServed: number;
  readonly plan: SourcePlan | undefined;
  readonly seconds: number;
}

const silent = pino({ level: 'silent' });
const AT_ONCE = 500;

/** `5/min,50/hour,125/day`, as an operator writes it. */
export const ratesOf = (text: string): readonly Rate[] => readRates(text) ?? [];

export async function simulateDay(options: SimulationOptions): Promise<DayReport> {
  const startedAt = performance.now();
  const directory = await mkdtemp(join(tmpdir(), 'docket-day-'));
  let now = DAY_BEGINS - HOUR;
  const clock = { now: (): Micros => now };
  const storage = openSqlite({ directory, clock });
  const plan = planOfDay(options);
  const courtListener = await openCourtListener({ clock, rates: options.rates });
  const courtFeeds = await openFeeds({ clock });
  const http = createSourceHttp({
    userAgent: 'DocketMonitor/simulated (+https://monitor.example/docs)',
    allowPrivate: [new URL(courtListener.url).host, `127.0.0.1:${courtFeeds.port}`],
  });
  /** CourtListener's ids, by the docket's stream. */
  const dockets = new Map<string, number>();
  const names = [casesProjection.name, WATCHED_CASES];
  const ingest: IngestPorts = {
    ...storage,
    clock,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    async waitUntilProjected(position) {
      if (!(await runner.waitFor(casesProjection.name, position, 60_000))) throw new Error('cases are behind');
    },
  };
  const desk = openDesk({ storage, clock, ingest, http, courtListener, rates: options.rates, logger: silent });
  const runner = createProjectionRunner({
    ...storage,
    projections: [casesProjection, watchedCases, ...desk.projections],
    clock: { now: () => Date.now() * 1_000 },
    logger: silent,
    owner: `day-${randomUUID()}`,
  });
  await runner.start();
  const projected = async (): Promise<void> => {
    const head = await storage.log.head();
    for (const name of names) if (head !== null) await runner.waitFor(name, head, 60_000);
  };

  try {
    await openCases();
    const polled = feedsOf(
      plan.feeds.map(({ court }) => court.code),
      courtFeeds.url,
    );
    const feeds = createFeeds({
      ...{ log: storage.log, readStore: storage.readStore, http, clock, logger: silent, owner: 'day', keepsAll: false },
      ingest: (snapshot) => ingestDocket(ingest, snapshot, contextOf()),
      ...{ watchDays: 30, isPaused: () => false, reportStanding: () => undefined, random: randomlyFrom(options.seed) },
      feeds: polled,
    });
    const watching = {
      ...{ log: storage.log, readStore: storage.readStore, desk: desk.desk, clock, logger: silent, owner: 'day' },
      ...{ rates: () => options.rates, watchDays: 30, agendaEvery: 5 * MINUTE },
      coverage: feedCoverage(storage.readStore, polled),
    };
    const watch = createCaseWatch(watching);
    const sampled = { ages: [] as Micros[], lookAges: [] as Micros[] };
    const ends = DAY_BEGINS + options.micros;
    const paid = { looks: 0, refused: 0 };

    const happenings = [
      ...plan.entries.map((entry) => ({ at: entry.at, happens: () => appears(entry) })),
      ...plan.entries.flatMap((entry) => laterAt(entry).filter(({ at }) => at < ends)),
      ...Array.from({ length: Math.floor((options.micros / HOUR) * options.paidPerHour) }, (_, index) => ({
        at: DAY_BEGINS + Math.floor(((index + 0.5) * HOUR) / options.paidPerHour),
        happens: () => paidLook(plan.cases[(index * 7_919) % plan.cases.length], paid),
      })),
      ...Array.from({ length: Math.floor(options.micros / HOUR) }, (_, hour) => ({
        at: DAY_BEGINS + (hour + 1) * HOUR - MINUTE,
        happens: async () => {
          await sample(sampled);
          options.progress?.(hour + 1);
        },
      })),
    ].sort((a, b) => a.at - b.at);
    // What the feeds show before the day. A longer pause between two polls would be a gap.
    now = DAY_BEGINS - 6 * MINUTE;
    await feeds.step(now);
    now = DAY_BEGINS;
    let [feedsAt, watchAt] = [now, now];
    let next = 0;
    for (;;) {
      const happening = happenings[next];
      const at = Math.min(happening?.at ?? Number.POSITIVE_INFINITY, feedsAt, watchAt);
      if (at >= ends) break;
      now = Math.max(now, at);
      if (happening && happening.at <= now) {
        next++;
        await happening.happens();
      } else if (feedsAt <= now) {
        feedsAt = Math.max(now + 1, await feeds.step(now));
      } else {
        await projected();
        watchAt = Math.max(now + 1, await watch.step(now));
      }
    }
    // The day is over. Each feed is polled once more, so that its last entries can be known.
    now = ends;
    for (const last = ends + 6 * MINUTE; now < last; now = Math.min(last, Math.max(now + 1, feedsAt))) {
      feedsAt = await feeds.step(now);
    }
    await projected();
    const report = await freshnessReport({ ...watching }, { now, watchDays: 30 });
    return {
      ...(await whatIsServed()),
      ...polls(),
      watched: plan.cases.length,
      feeds: plan.feeds.length,
      requests: courtListener.requests.length,
      refused: courtListener.requests.filter(({ status }) => status === 429).length,
      paidLooks: paid.looks,
      paidRefused: paid.refused,
      age: percentiles(sampled.ages),
      lookAge: percentiles(sampled.lookAges),
      plan: report.sources.courtlistener,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await runner.stop();
    await http.close();
    await Promise.all([courtListener.close(), courtFeeds.close()]);
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  }

  /** A file has shown each case whole, and somebody has asked for it. */
  async function openCases(): Promise<void> {
    for (const one of plan.cases) {
      const { court, caseNumber, past } = one;
      const snapshot = {
        ...{ court, caseNumber, aliases: [], parties: [], crossReferences: [], complete: true, source: 'file' },
        header: headerOf(one),
        entries: past.map((at, index) => sheetEntry(at, index + 1)),
        askedAt: toInstant(now),
      };
      const report = await ingestDocket(ingest, snapshot, contextOf());
      if ('refused' in report) throw new Error(report.refused);
      courtListenerCase(one);
    }
    for (let start = 0; start < plan.cases.length; start += 50) {
      const streams = plan.cases
        .slice(start, start + 50)
        .map(({ court, caseNumber }) => docketStream(court.code, caseNumber));
      const answered = QueryAnswered.of({
        ...{ requestId: randomUUID(), answer: null, keepUntil: toInstant(now), answeredCases: streams.length },
        ...{ cases: streams, keyCall: null, callbacks: [] },
      });
      const stream = paymentStream(randomUUID().replaceAll('-', '').repeat(2));
      const recordedAt = toInstant(now);
      await storage.log.append(
        prepareAppend({ stream, head: NO_STREAM, events: [answered], context: contextOf(), recordedAt }),
      );
    }
    await projected();
  }

  function courtListenerCase({ court, caseNumber, pacerCaseId, past }: PlannedCase): void {
    const docket = courtListener.addDocket({ court: desk.idOf(court), number: caseNumber, pacerCaseId });
    dockets.set(docketStream(court.code, caseNumber), docket);
    for (const [index, at] of past.entries()) {
      const { dateFiled, description, documentIdentifier } = sheetEntry(at, index + 1);
      courtListener.addEntry(docket, {
        ...{ number: index + 1, description, dateFiled, sequence: (index + 1) * 4 },
        documents: [{ pacerDocId: documentIdentifier ?? '', description: 'Motion' }],
      });
    }
  }

  function appears({ feed, caseNumber, event, at, pacerCaseId, number, document }: PlannedEntry): void {
    courtFeeds.addItem(feed.court.code, {
      ...{ caseNumber, caseName: NAME, event, at: Math.floor(at / 1_000), pacerCaseId, number, document },
      ...{ sequence: number * 4, partId: number, chapter: '7', type: 'bk' },
    });
  }

  /** What CourtListener learns of it, and when. */
  function laterAt(entry: PlannedEntry): readonly { readonly at: Micros; readonly happens: () => void }[] {
    const { case: of, at, mergedAt, textAt, number, document, event } = entry;
    if (of === null) return [];
    const docket = dockets.get(docketStream(of.court.code, of.caseNumber)) ?? 0;
    const dateFiled = toInstant(at - 5 * HOUR).slice(0, 10);
    let row = 0;
    return [
      {
        at: mergedAt,
        happens: () => {
          const pacerDocId = `${document.slice(0, 3)}0${document.slice(4)}`;
          const documents = [{ pacerDocId, description: event }];
          row = courtListener.addEntry(docket, { number, description: '', dateFiled, sequence: number * 4, documents });
        },
      },
      ...(textAt === null
        ? []
        : [{ at: textAt, happens: () => courtListener.changeEntry(row, { description: textOf(entry) }) }]),
    ];
  }

  async function paidLook(one: PlannedCase | undefined, paid: { looks: number; refused: number }): Promise<void> {
    if (!one) return;
    const { court, caseNumber } = one;
    const signal = new AbortController().signal;
    const look = await desk.desk.look({ court, caseNumber }, { priority: 'paid', signal });
    paid.looks++;
    if ('because' in look && look.because.fault === 'budget') paid.refused++;
  }

  async function sample({ ages, lookAges }: { ages: Micros[]; lookAges: Micros[] }): Promise<void> {
    await projected();
    for (let start = 0; start < plan.cases.length; start += AT_ONCE) {
      const streams = plan.cases
        .slice(start, start + AT_ONCE)
        .map(({ court, caseNumber }) => docketStream(court.code, caseNumber));
      const heads = await storage.readStore.load<CaseDocument>(CASES, streams);
      const looks = await storage.readStore.load<WatchedCase>(WATCHED_CASES, streams);
      for (const stream of streams) {
        const complete = looks.get(stream)?.document.checks.flatMap(({ completeAt }) => completeAt ?? []) ?? [];
        ages.push(now - toMicros(heads.get(stream)?.document.dataAsOf ?? toInstant(0)));
        lookAges.push(now - Math.max(0, ...complete.map(toMicros)));
      }
    }
  }

  async function whatIsServed() {
    const missing: string[] = [];
    const delays: Micros[] = [];
    let [entries, doubled, texts, textsServed] = [0, 0, 0, 0];
    const appeared = new Map(plan.cases.map((one): [PlannedCase, PlannedEntry[]] => [one, []]));
    for (const entry of plan.entries) if (entry.case) appeared.get(entry.case)?.push(entry);
    for (const one of plan.cases) {
      const stream = docketStream(one.court.code, one.caseNumber);
      const ofCase = appeared.get(one) ?? [];
      if (ofCase.length === 0) continue;
      const found = await storage.readStore.find<FilingDocument>({
        collection: FILINGS,
        equals: { case: stream },
        limit: 1_000,
      });
      const filings = found.map(({ document }) => document);
      doubled += filings.length - one.past.length - ofCase.length;
      for (const entry of ofCase) {
        entries++;
        const filing = filings.find(({ entryNumber }) => entryNumber === entry.number);
        if (!filing) {
          missing.push(`${stream} entry ${entry.number}`);
          continue;
        }
        delays.push(toMicros(filing.availableAt) - entry.at);
        if (entry.textAt === null || entry.textAt >= DAY_BEGINS + options.micros) continue;
        texts++;
        if (filing.description.includes(textOf(entry))) textsServed++;
      }
    }
    return { entries, missing, doubled: Math.max(0, doubled), delay: percentiles(delays), texts, textsServed };
  }

  function polls(): Pick<DayReport, 'polls' | 'shortestPoll'> {
    let [count, shortest] = [0, Number.POSITIVE_INFINITY];
    for (const { court } of plan.feeds) {
      const times = courtFeeds.requests(court.code).map(({ at }) => at);
      count += times.length;
      for (const [index, at] of times.entries()) {
        const before = times[index - 1];
        if (before !== undefined) shortest = Math.min(shortest, at - before);
      }
    }
    return { polls: count, shortestPoll: shortest };
  }
}

const NAME = 'Harrowgate Tile Works, LLC v. Pellworth';

const headerOf = ({ closed }: PlannedCase) =>
  ({
    ...{ caseName: NAME, caseNameSecondary: null, caseNameSecondaryLanguage: null, caseType: null, cause: null },
    ...{ natureOfProceeding: null, assignedJudge: null, referredJudge: null, dateFiled: '2025-06-02' },
    dateClosed: closed ? '2025-12-01' : null,
  }) as const;

const textOf = ({ event, number }: Pick<PlannedEntry, 'event' | 'number'>): string =>
  `${event.toUpperCase()} ${number} by Pellworth, with the reasons that the court has asked for`;

function sheetEntry(at: Micros, number: number): SnapshotEntry {
  const day = toInstant(at).slice(0, 10);
  return {
    ...{ entryNumber: number, dateFiled: day, dateEntered: day, filedAt: null, enteredAt: null, filedBy: null },
    description: `MOTION ${number} to compel, filed by Harrowgate Tile Works, LLC`,
    shortDescription: null,
    documentIdentifier: `0340${String(at % 89_999_999).padStart(8, '0')}`,
    documentIdentifierType: 'pacer_doc_id',
    ...{ sourceIds: {}, externalUrl: null, attachments: [], sealed: false },
  };
}

const contextOf = (): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'day' };
};

function randomlyFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function percentiles(values: readonly Micros[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): Micros => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: sorted.at(-1) ?? 0 };
}
