/**
 * Polls the courts' feeds (docs/design/sources.md#feeds): each at most every five minutes over all nodes, several at once,
 * under one lease. Everything that a feed shows is recorded before it is remembered, so a poll may be killed anywhere.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { noteGap } from '../../commands/docket/note-gap.ts';
import { CASE_NUMBERS, type CaseNumberDocument, caseNumberId } from '../../dockets/case-document.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { SourceHttp } from '../../sources/http/source-http.ts';
import type { CourtFeed } from '../../sources/rss/addresses.ts';
import { type FeedMemory, readMemory, writeMemory } from '../../sources/rss/feed-memory.ts';
import { FAILING_AFTER, INTERVAL, isSilent, mustWait } from '../../sources/rss/feed-rules.ts';
import type { FeedCase } from '../../sources/rss/snapshots.ts';
import type { Ingest } from '../../sources/source.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import { concernedCases } from './feed-cases.ts';
import type { LastFeedLook } from './last-feed-look.ts';
import { type FailedCase, type FeedPoll, pollFeed, UNRECORDED } from './poll-feed.ts';
import { watchedCases } from './watched.ts';

/** What the last polls say about a court's feed. */
export interface FeedStanding {
  readonly source: 'rss';
  readonly court: string;
  readonly standing: 'working' | 'degraded' | 'failing';
  readonly why: string | null;
}

export interface FeedsPorts {
  readonly ingest: Ingest;
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly http: Pick<SourceHttp, 'send'>;
  readonly clock: Clock;
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  readonly feeds: readonly CourtFeed[];
  /** Whether an entry of an unknown case opens a docket. */
  readonly keepsAll: boolean;
  readonly watchDays: number;
  /** For a court of which nothing is remembered; if omitted, such a court has no gap. */
  readonly lastLook?: LastFeedLook;
  /** Whether operators have paused the source, or this court of it. */
  isPaused(court: string): boolean;
  /** Called after every poll; repeats are the receiver's affair. */
  reportStanding(standing: FeedStanding): void;
  /** Called after every poll, for metrics. */
  polled?(poll: FeedPoll): void;
  /** From 0 to 1; if omitted, random. */
  random?(): number;
  /** Between two polls of a court; for imitations, which may be asked more often than every five minutes. */
  readonly interval?: Micros | undefined;
}

export interface Feeds {
  /** Polls every court that is due. Returns when the next one is. @throws nothing */
  step(now: Micros, signal?: AbortSignal): Promise<Micros>;
  /** Polls under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'rss-feeds';
const LEASE_MS = 15_000;
const STAND_BY_MS = 5_000;
/** Courts share machines and lines, and this node has other work. */
const AT_ONCE = 8;
/** A paused court is looked at again after that time, without a request. */
const PAUSED_FOR: Micros = 60 * MICROS_PER_SECOND;
/** While the read models are being built, as after a restore. */
const WAITS_FOR_MODELS: Micros = 10 * MICROS_PER_SECOND;
const LONGEST_PAUSE_MS = 5_000;
/** The most cases of a court on which one gap is noted. Those beyond it are looked at by their cadence. */
const MOST_NOTED = 5_000;

export function createFeeds(ports: FeedsPorts): Feeds {
  const { readStore, clock, logger, feeds, interval = INTERVAL } = ports;
  const random = ports.random ?? Math.random;
  const trouble = new Trouble(logger, { process: NAME });
  /** When each court is due, as far as this node knows; its cell decides. */
  const dueAt = new Map<string, Micros>();
  let steppedAt: Micros = 0;
  const due = ({ court }: CourtFeed): Micros => dueAt.get(court.code) ?? 0;
  const contextOf = (): CommandContext => {
    const commandId = randomUUID();
    return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: NAME };
  };

  const pollPorts = {
    http: ports.http,
    now: () => clock.now(),
    random,
    interval,
    ingest: ports.ingest,
    async concerned(feed: CourtFeed, cases: readonly FeedCase[]): Promise<ReadonlySet<string>> {
      const numbers = cases.map(({ number }) => number);
      if (ports.keepsAll) return new Set(numbers.map(({ canonical }) => canonical));
      return concernedCases(readStore, feed.court, numbers);
    },
    async noteGap(feed: CourtFeed, gap: { readonly from: Micros; readonly to: Micros }, askedAt: Micros) {
      const { court } = feed;
      const noted = {
        source: 'rss',
        askedAt: toInstant(askedAt),
        gap: { from: toInstant(gap.from), to: toInstant(gap.to) },
      };
      let cases = 0;
      for await (const { stream, closed } of watchedCases(readStore, {
        now: askedAt,
        watchDays: ports.watchDays,
        court: court.code,
      })) {
        if (closed) continue;
        if (cases++ >= MOST_NOTED) break;
        await noteGap(ports, { stream, ...noted }, contextOf());
      }
      logger.warn({ process: NAME, court: court.code, ...noted.gap, cases }, 'entries may have left a feed unseen');
    },
    async failedCase({ court }: CourtFeed, failed: FailedCase, askedAt: Micros): Promise<void> {
      const { caseNumber, error } = failed;
      const about = { process: NAME, court: court.code, case: caseNumber };
      logger.warn({ ...about, err: error }, 'an entry of a feed could not be recorded; repeating at the next poll');
      const id = caseNumberId(court.code, caseNumber);
      try {
        // The entry may leave the feed first: until a complete look, it may be missing in the case.
        const known = (await readStore.load<CaseNumberDocument>(CASE_NUMBERS, [id])).get(id)?.document;
        const gap = { from: toInstant(failed.from), to: toInstant(failed.to) };
        const noted = { source: 'rss', askedAt: toInstant(askedAt), gap };
        if (known) await noteGap(ports, { stream: known.case, ...noted }, contextOf());
      } catch (err) {
        logger.warn({ ...about, err }, 'a gap of a case could not be noted; repeating at the next poll');
      }
    },
  };

  return { step, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: {
        readStore,
        clock,
        ...(ports.steady ? { steady: ports.steady } : {}),
        owner: ports.owner,
        name: NAME,
        durationMs: LEASE_MS,
      },
      signal,
      standByMs: STAND_BY_MS,
      async work(_lease, workSignal, progressed) {
        dueAt.clear();
        while (!workSignal.aborted) {
          const next = await step(clock.now(), workSignal);
          progressed();
          const ms = Math.max(0, next - clock.now()) / MICROS_PER_MS;
          await pause(Math.min(Math.max(ms, 50), LONGEST_PAUSE_MS), workSignal);
        }
      },
      failed: (error) => trouble.failed(error, 'feeds cannot be polled; retrying'),
    });
  }

  async function step(now: Micros, signal: AbortSignal = new AbortController().signal): Promise<Micros> {
    // The clock was set back: the cells decide.
    if (now < steppedAt) dueAt.clear();
    steppedAt = now;
    const waiting = feeds.filter((feed) => due(feed) <= now).sort((a, b) => due(a) - due(b));
    const worker = async (): Promise<void> => {
      for (let feed = waiting.shift(); feed && !signal.aborted; feed = waiting.shift()) await pollOnce(feed, signal);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, worker));
    return feeds.reduce((next, feed) => Math.min(next, due(feed)), now + interval);
  }

  async function pollOnce(feed: CourtFeed, signal: AbortSignal): Promise<void> {
    const { code } = feed.court;
    const now = clock.now();
    if (ports.isPaused(code)) {
      dueAt.set(code, now + PAUSED_FOR);
      return;
    }
    // If storage fails, the court is due again after the usual time, whatever its cell says.
    dueAt.set(code, now + interval);
    try {
      const { version, memory } = await readMemory(readStore, code);
      if (mustWait(memory, now)) {
        dueAt.set(code, memory.nextAt);
        return;
      }
      const lookedAt = memory.lookedAt ?? (await ports.lastLook?.(code)) ?? null;
      if (lookedAt === 'unknown') {
        dueAt.set(code, now + WAITS_FOR_MODELS);
        return;
      }
      const claimed = { ...memory, lookedAt, nextAt: now + interval, decidedAt: now };
      if (!(await writeMemory(readStore, code, version, claimed))) return;
      const { poll, memory: next } = await pollFeed(pollPorts, feed, claimed, signal);
      // An interrupted request says nothing about the court.
      if (signal.aborted && poll.fault !== null) return;
      await writeMemory(readStore, code, version + 1, { ...next, decidedAt: clock.now() });
      dueAt.set(code, next.nextAt);
      ports.polled?.(poll);
      report(feed, poll, next);
      trouble.recovered();
    } catch (error) {
      trouble.failed(error, 'what a feed showed could not be recorded; repeating the poll');
    }
  }

  function report({ court }: CourtFeed, poll: FeedPoll, memory: FeedMemory): void {
    const of = { source: 'rss', court: court.code } as const;
    if (poll.fault !== null) {
      if (memory.failures < FAILING_AFTER) return;
      ports.reportStanding({ ...of, standing: 'failing', why: poll.fault.fault });
      return;
    }
    if (poll.failedCases > 0 && memory.failures >= FAILING_AFTER) {
      ports.reportStanding({ ...of, standing: 'degraded', why: UNRECORDED });
      return;
    }
    const silent = memory.movedAt !== null && isSilent(court.timeZone, memory.movedAt, clock.now());
    ports.reportStanding(
      silent
        ? { ...of, standing: 'degraded', why: 'the feed has not moved for two hours of a working day' }
        : { ...of, standing: 'working', why: null },
    );
  }
}
