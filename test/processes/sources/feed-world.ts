/** Feeds of courts over real sockets, and a service that polls them, on a clock that the test moves. */
import { randomUUID } from 'node:crypto';
import type { IngestPorts } from '../../../src/commands/docket/clock.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { CASES, type CaseDocument, FILINGS, type FilingDocument } from '../../../src/dockets/case-document.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { createFeeds, type FeedStanding, type FeedsPorts } from '../../../src/processes/sources/feeds.ts';
import type { FeedPoll } from '../../../src/processes/sources/poll-feed.ts';
import { createStandings } from '../../../src/processes/sources/standings.ts';
import { createCaseQueries } from '../../../src/queries/case-answer.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import { feedsOf } from '../../../src/sources/rss/addresses.ts';
import { readMemory } from '../../../src/sources/rss/feed-memory.ts';
import type { Ingest } from '../../../src/sources/source.ts';
import { contextOf, court } from '../../dockets/world.ts';
import { openFeeds } from '../../sources/feeds/feeds.ts';
import { openWatchWorld } from './watch-world.ts';

export interface FeedWorldOptions {
  readonly courts: readonly string[];
  readonly keepsAll?: boolean;
  /** For one request, milliseconds: less than the service's limit, so that tests need not wait for it. */
  readonly totalMs?: number;
}

export async function openFeedWorld({ courts, keepsAll = false, totalMs = 1_000 }: FeedWorldOptions) {
  const world = await openWatchWorld();
  const server = await openFeeds({ clock: world.clock });
  const ingestPorts: IngestPorts = { ...world, newId: randomUUID, sleep: () => world.projected() };
  const ingest: Ingest = (snapshot) => ingestDocket(ingestPorts, snapshot, contextOf());
  const http = createSourceHttp({ userAgent: 'docket-test', allowPrivate: [`127.0.0.1:${server.port}`] });
  const polls: FeedPoll[] = [];
  const standings: FeedStanding[] = [];
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const recorder = createStandings({ log: world.log, clock: world.clock, logger: log });
  const script = { isPaused: (_court: string): boolean => false };
  /** A new process: nothing is in its memory. */
  const start = (more: Partial<FeedsPorts> = {}) =>
    createFeeds({
      ingest,
      log: world.log,
      readStore: world.readStore,
      http: { send: (request) => http.send({ ...request, totalMs }) },
      clock: world.clock,
      logger: log,
      owner: `test-${randomUUID()}`,
      feeds: feedsOf(courts, server.url),
      keepsAll,
      watchDays: 30,
      isPaused: (code) => script.isPaused(code),
      reportStanding: (standing) => {
        standings.push(standing);
        recorder.report(standing);
      },
      polled: (poll) => polls.push(poll),
      random: () => 0,
      ...more,
    });
  let poller = start();
  const queries = createCaseQueries({
    readStore: world.readStore,
    freshness: { wasBuilt: true, showsEverything: async () => true },
    clock: world.clock,
  });
  const filings = async (stream: string): Promise<readonly FilingDocument[]> => {
    const found = await world.readStore.find<FilingDocument>({
      collection: FILINGS,
      equals: { case: stream },
      order: { field: 'availableAt', direction: 'ascending' },
      limit: 10_000,
    });
    return found.map(({ document }) => document);
  };
  return {
    ...world,
    server,
    polls,
    standings,
    script,
    ingest,
    start,
    /** What is recorded of a court, once it has lasted. */
    async recorded(court: string): Promise<readonly unknown[]> {
      await recorder.step(world.clock.now());
      const events = await world.log.read(sourceStream.court('rss', court));
      return events.map(({ data }) => data.standing);
    },
    /** Milliseconds. */
    now: (): number => Math.floor(world.clock.now() / 1_000),
    /** Polls what is due, and returns what came of it. */
    async step(): Promise<readonly FeedPoll[]> {
      polls.length = 0;
      await poller.step(world.clock.now());
      await world.projected();
      return [...polls];
    },
    /** Moves the clock and polls. */
    async later(minutes: number): Promise<FeedPoll | undefined> {
      world.move(minutes * 60_000_000);
      polls.length = 0;
      await poller.step(world.clock.now());
      await world.projected();
      return polls[0];
    },
    /** The process dies, and another one starts. */
    reopen(more: Partial<FeedsPorts> = {}): void {
      poller = start(more);
    },
    filings,
    /** Why the last poll failed, as an operator sees it; null if it did not. */
    lastFault: async (court: string): Promise<string | null> => (await readMemory(world.readStore, court)).memory.fault,
    async caseOf(stream: string): Promise<CaseDocument | undefined> {
      return (await world.readStore.load<CaseDocument>(CASES, [stream])).get(stream)?.document;
    },
    async coverage(code: string, caseId: string): Promise<string> {
      const answer = await queries.answerCase({
        court: court(code),
        courtCode: code,
        caseId,
        lastChecked: toInstant(0),
        since: null,
        context: 'basic',
        language: null,
        filingTypes: null,
      });
      return 'problem' in answer ? answer.problem : answer.coverageStatus;
    },
    async close(): Promise<void> {
      await http.close();
      await server.close();
      await world.close();
    },
  };
}

export type FeedWorld = Awaited<ReturnType<typeof openFeedWorld>>;
