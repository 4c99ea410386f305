/**
 * Carries out orders to look at known cases from their beginning (docs/design/sources.md#backfill), one after the other,
 * with what budget is left. One node does it. What is left to do follows from the log; the cell only saves a walk.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { record } from '../../commands/handle.ts';
import { backfill } from '../../commands/source/backfill.ts';
import { courts } from '../../courts/registry.ts';
import type { LiveSourceName } from '../../events/source.ts';
import { sourceStream } from '../../events/source.ts';
import { BACKFILLS, type Backfill, WATCHED_CASES } from '../../projections/watched-cases.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { FAULTS_BEFORE_ANY_CASE } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import type { SourceDesk } from './desk.ts';
import { type KnownCase, knownCasesOf } from './watched.ts';

export interface BackfillOptions {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly readStore: ReadStore;
  readonly desk: Pick<SourceDesk, 'look' | 'sourcesFor'>;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface BackfillProcess {
  /** Goes on with the oldest open order. @returns when to come again */
  step(now: Micros, signal?: AbortSignal): Promise<Micros>;
  /** Steps under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** How far an order has come. */
export interface BackfillProgress extends Backfill {
  readonly backfillId: string;
  /** Known cases of its courts that were passed, and all of them. */
  readonly passed: number;
  readonly cases: number;
}

/** The position of a walk: cases up to `after` of `court` are done, and all courts before it. */
interface Walk {
  readonly court: string | null;
  readonly after: string | null;
  readonly passed: number;
  readonly looked: number;
}

const NAME = 'source-backfill';
/** Held by the node that carries out orders. */
export const BACKFILL_LEASE = NAME;
const LEASE_MS = 15_000;
const STAND_BY_MS = 5_000;
const MOST_ORDERS = 1_000;
const LOOKS_PER_STEP = 25;
const MOST_COUNTED = 10_000_000;
/** Without an order, and after a fault of the source that names no time. */
const REST: Micros = 30 * MICROS_PER_SECOND;
const LONGEST_PAUSE_MS = 5_000;
const SHORTEST_PAUSE_MS = 20;
/** Looks in a row that may break off at one case before it is passed over, to be looked at again by cadence. */
const MOST_TRIES = 3;

export function createBackfill(options: BackfillOptions): BackfillProcess {
  const { log, readStore, desk, clock, logger, owner } = options;
  const trouble = new Trouble(logger, { process: NAME });
  let tries = { stream: '', count: 0 };
  return { step, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: { readStore, clock, owner, name: NAME, durationMs: LEASE_MS },
      signal,
      standByMs: STAND_BY_MS,
      async work(lease, workSignal, progressed) {
        while (!workSignal.aborted) {
          await lease.assertHeld();
          const next = await step(clock.now(), workSignal);
          progressed();
          trouble.recovered();
          const ms = (next - clock.now()) / 1_000;
          await pause(Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, ms)), workSignal);
        }
      },
      failed: (error) => trouble.failed(error, 'a backfill cannot go on; retrying'),
    });
  }

  async function step(now: Micros, signal: AbortSignal = NEVER): Promise<Micros> {
    const [oldest] = await openBackfills(readStore);
    if (!oldest) return now + REST;
    const { id, document: order } = oldest;
    const courtsOf = courtsToWalk(order, desk);
    let { version, value } = await readStore.cell(cellId(id));
    let walk = readWalk(value);
    for (let looks = 0; looks < LOOKS_PER_STEP && !signal.aborted; ) {
      const page = await nextPage(readStore, courtsOf, walk);
      if (!page) {
        await end(id, walk.looked);
        return clock.now();
      }
      for (const known of page.cases) {
        const isDue = isLeft(order, known, desk.sourcesFor(known.court));
        if (isDue) {
          if (looks >= LOOKS_PER_STEP || signal.aborted) return clock.now();
          looks++;
          const waitUntil = await lookAt(known, signal);
          if (waitUntil !== null) return waitUntil;
        }
        walk = {
          court: page.court,
          after: known.stream,
          passed: walk.passed + 1,
          looked: walk.looked + (isDue ? 1 : 0),
        };
        if (isDue && !(await readStore.compareAndSet(cellId(id), version++, { ...walk }))) return clock.now();
      }
      if (page.cases.length === 0) walk = { ...walk, court: page.court, after: LAST };
      if (!(await readStore.compareAndSet(cellId(id), version++, { ...walk }))) return clock.now();
    }
    return clock.now();
  }

  /** @returns until when the order waits; null if it continues with the next case */
  async function lookAt({ court, caseNumber, stream }: KnownCase, signal: AbortSignal): Promise<Micros | null> {
    const tried = (): number => {
      tries = { stream, count: tries.stream === stream ? tries.count + 1 : 1 };
      return tries.count;
    };
    const look = await desk.look({ court, caseNumber }, { priority: 'backfill', signal }).catch((error: unknown) => {
      // If storage has failed, so does what comes next.
      if (tried() < MOST_TRIES) throw error;
      logger.warn({ process: NAME, stream, err: error }, 'a case of a backfill is passed over');
      return null;
    });
    const because = look && 'because' in look ? look.because : null;
    if (!because || because.fault === 'no_entries') return null;
    const waits = Math.max(clock.now() + MICROS_PER_SECOND, because.retryAt ?? clock.now() + REST);
    if (FAULTS_BEFORE_ANY_CASE.has(because.fault)) return waits;
    return tried() >= MOST_TRIES ? null : waits;
  }

  async function end(backfillId: string, looked: number): Promise<void> {
    const commandId = randomUUID();
    const outcome = await record(
      { log, clock },
      {
        decider: backfill,
        stream: sourceStream.backfill(backfillId),
        command: { type: 'End', ending: { backfillId, outcome: 'completed', looked } },
        context: { commandId, requestId: null, correlationId: commandId, causationId: null, actor: NAME },
        decisions: 5,
      },
    );
    if ('unknown' in outcome) throw outcome.unknown;
    if ('unwritten' in outcome) throw outcome.error;
    if ('recorded' in outcome && outcome.recorded.events.length > 0) {
      logger.info({ process: NAME, backfillId, looked }, 'a backfill is complete');
    }
  }
}

/** Every order with its progress, the newest first. */
export async function backfillProgress(
  readStore: Pick<ReadStore, 'find' | 'count' | 'cell'>,
  desk: Pick<SourceDesk, 'sourcesFor'>,
): Promise<readonly BackfillProgress[]> {
  const found = await readStore.find<Backfill>({ collection: BACKFILLS, limit: MOST_ORDERS });
  const orders = [...found].sort((a, b) => (a.document.orderedAt < b.document.orderedAt ? 1 : -1));
  const progress: BackfillProgress[] = [];
  for (const { id, document } of orders) {
    const walk = readWalk((await readStore.cell(cellId(id))).value);
    let cases = 0;
    for (const court of courtsToWalk(document, desk)) {
      cases += await readStore.count({ collection: WATCHED_CASES, equals: { court }, limit: MOST_COUNTED });
    }
    const looked = document.status === 'open' ? walk.looked : document.looked;
    progress.push({ ...document, backfillId: id, passed: walk.passed, looked, cases });
  }
  return progress;
}

async function openBackfills(readStore: Pick<ReadStore, 'find'>) {
  const found = await readStore.find<Backfill>({
    collection: BACKFILLS,
    equals: { status: 'open' },
    limit: MOST_ORDERS,
  });
  return [...found].sort((a, b) => (a.document.orderedAt < b.document.orderedAt ? -1 : 1));
}

/** In the order of their codes, so that a walk that continues finds its place although the registry has changed. */
const courtsToWalk = ({ courts: named }: Backfill, desk: Pick<SourceDesk, 'sourcesFor'>): readonly string[] =>
  courts
    .filter((court) => (named === null || named.includes(court.code)) && desk.sourcesFor(court).length > 0)
    .map(({ code }) => code)
    .sort();

/** Whether the order still has to look at the case: without a day, if no source of its own ever showed it whole. */
function isLeft(order: Backfill, { checks, activeAt }: KnownCase, sources: readonly LiveSourceName[]): boolean {
  const own = checks.filter(({ source }) => (sources as readonly string[]).includes(source));
  const { since, orderedAt } = order;
  if (since === null) return own.every(({ completeAt }) => completeAt === null);
  if (activeAt === null || activeAt.slice(0, 10) < since) return false;
  return own.every(({ completeAt }) => completeAt === null || completeAt < orderedAt);
}

/** After every stream of a court. */
const LAST = '\u{10ffff}';

async function nextPage(
  readStore: Pick<ReadStore, 'find' | 'load'>,
  codes: readonly string[],
  walk: Walk,
): Promise<{ readonly court: string; readonly cases: readonly KnownCase[] } | null> {
  const court = codes.find(
    (code) => walk.court === null || code > walk.court || (code === walk.court && walk.after !== LAST),
  );
  if (court === undefined) return null;
  const after = court === walk.court ? walk.after : null;
  return { court, cases: await knownCasesOf(readStore, court, after) };
}

function readWalk(value: Readonly<Record<string, unknown>> | null): Walk {
  const text = (name: string): string | null => (typeof value?.[name] === 'string' ? value[name] : null);
  const number = (name: string): number => (typeof value?.[name] === 'number' ? value[name] : 0);
  return { court: text('court'), after: text('after'), passed: number('passed'), looked: number('looked') };
}

const cellId = (backfillId: string): string => `${NAME}-${backfillId}`;
const NEVER = new AbortController().signal;
