/**
 * Refresh on query (docs/design/sources.md#refresh): a case that is stale or unknown is asked for at its source while the
 * paid query waits. Answers of fresh cases are not touched.
 */
import { randomUUID } from 'node:crypto';
import { looksAt } from '../../commands/docket/looks.ts';
import { folded, handleWithRetry } from '../../commands/handle.ts';
import { want } from '../../commands/source/wanted.ts';
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Court } from '../../courts/court.ts';
import { type ErrorCode, isProblem, type Problem, problem } from '../../errors.ts';
import { type LiveSourceName, sourceStream } from '../../events/source.ts';
import type { Freshness } from '../../projections/freshness.ts';
import type { OfDocket } from '../../queries/case-answer.ts';
import { headAlone } from '../../queries/head-alone.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { freshFor } from '../../sources/cadence.ts';
import type { Fault, Look, Priority } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { Trouble, type TroubleLogger } from '../../storage/trouble.ts';
import type { CaseOfCourt, SourceDesk } from './desk.ts';
import type { Asker, UnpaidLooks } from './unpaid-looks.ts';

/** How long a query waits for sources: its deadline of 20 s less what composing its answer may take. */
const LOOK_MS = 15_000;
/** How long a look may go on after its query has been answered. */
const GOES_ON_MS = 120_000;
/** Looks of one node that queries wait for or have left behind. Beyond it queries answer with what is known. */
const MOST_LOOKS = 256;
/** When to ask again for a case that a source may have tomorrow. */
const WANTED_RETRY_SECONDS = 3_600;
const UNAVAILABLE_RETRY_SECONDS = 30;
const MAX_RETRY_SECONDS = 86_400;

export interface RefreshCall extends Asker {
  readonly requestId: string;
  /** Aborted at the query's deadline, and when nobody waits for it. */
  readonly signal: AbortSignal;
}

export interface AskedFor {
  readonly court: Court;
  /** As sent. */
  readonly caseId: string;
}

export type Answered = OfDocket;

/** What came of the sources, for one case. */
export interface LookedUp {
  /** Whether reading again may show more. */
  readonly readAgain: boolean;
  /** The answer if nothing is known of the case; null if a source has shown it. */
  readonly otherwise: Problem | null;
}

export interface Refresh {
  /** How long a query waits for sources, milliseconds from its start. */
  readonly lookMs: number;
  /** The source that is asked about an unknown case of a court first; null if there is none. */
  sourceOf(court: Court): LiveSourceName | null;
  /** Whether what was read makes a look necessary. */
  needsLook(asked: AskedFor, read: Answered | Problem): boolean;
  /**
   * Asks the sources about a case for which `needsLook`. Never rejects.
   * @param until on `performance`'s clock, milliseconds
   */
  look(asked: AskedFor, read: Answered | Problem, call: RefreshCall, until: number): Promise<LookedUp>;
  /** Ends all looks. */
  stop(): void;
}

/** Reads, asks the sources if that is necessary, and reads again if they may have shown anything. */
export async function refreshed<Answer extends Answered>(
  refresh: Refresh | undefined,
  asked: AskedFor,
  call: RefreshCall,
  read: () => Promise<Answer | Problem>,
): Promise<Answer | Problem> {
  if (refresh === undefined) return read();
  const until = performance.now() + refresh.lookMs;
  const first = await read();
  if (!refresh.needsLook(asked, first)) return first;
  const looked = await refresh.look(asked, first, call, until);
  call.signal.throwIfAborted();
  return afterLook(looked, first, looked.readAgain ? await read() : first);
}

/** @param again what was read after the look; `first` if nothing was */
export function afterLook<Answer extends object>(
  { otherwise }: LookedUp,
  first: Answer | Problem,
  again: Answer | Problem,
): Answer | Problem {
  if (!isProblem(again)) return again;
  // A case that was known before stays known, unless an order has removed it meanwhile.
  if (!isProblem(first)) return again.problem === 'case_not_found' ? again : first;
  return otherwise ?? again;
}

export interface RefreshOptions {
  readonly desk: Pick<SourceDesk, 'look' | 'sourcesFor'>;
  readonly log: Pick<EventLog, 'append' | 'read'>;
  /** Of the read model of cases. */
  readonly freshness: Freshness;
  readonly unpaid: UnpaidLooks;
  readonly clock: Clock;
  readonly logger: TroubleLogger;
  readonly lookMs?: number | undefined;
}

export function createRefresh(options: RefreshOptions): Refresh {
  const { desk, log, freshness, unpaid, clock, logger, lookMs = LOOK_MS } = options;
  const trouble = new Trouble(logger, { component: 'refresh' });
  const running = new Map<string, Promise<Look>>();
  const stopping = new AbortController();

  /** Begins a look that continues when its query has ended. */
  function begin(key: string, asked: CaseOfCourt, priority: Priority, giveBack: GiveBack): Promise<Look> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), GOES_ON_MS);
    const leave = onAbort(stopping.signal, () => controller.abort());
    const deadline = clock.now() + GOES_ON_MS * MICROS_PER_MS;
    const look = desk
      .look(asked, { priority, signal: controller.signal, deadline })
      .then(async (shown) => {
        if (hasShown(shown)) await giveBack();
        trouble.recovered();
        return shown;
      })
      .catch((error: unknown): Look => {
        trouble.failed(error, 'a look at a source could not be recorded');
        return { look: 'failed', because: { fault: 'interrupted', reason: 'it could not be recorded', retryAt: null } };
      })
      .finally(() => {
        clearTimeout(timer);
        leave();
        running.delete(key);
      });
    running.set(key, look);
    return look;
  }

  /** Notes a case that no source has, so that it is looked for later. */
  async function wanted({ court, caseNumber }: CaseOfCourt, call: RefreshCall, read: Problem): Promise<LookedUp> {
    const stream = sourceStream.wanted(court.code, caseNumber);
    const known = folded(want, await log.read(stream));
    if (!known.state.wanted) {
      if (!(await unpaid.mayWant(call))) return settled(read);
      const { requestId } = call;
      const context = {
        commandId: randomUUID(),
        requestId,
        correlationId: requestId,
        causationId: null,
        actor: 'http',
      };
      const command = { type: 'Want', by: 'query', court: court.code, caseNumber } as const;
      await handleWithRetry({ log, clock }, want, stream, command, context, { known });
    }
    return settled({ ...read, details: { ...read.details, enqueued: true, retry_after: WANTED_RETRY_SECONDS } });
  }

  async function look(asked: AskedFor, read: Answered | Problem, call: RefreshCall, until: number): Promise<LookedUp> {
    const { court } = asked;
    const isKnown = !isProblem(read);
    const caseNumber = isKnown ? read.caseNumber : parseCaseNumber(court, asked.caseId)?.canonical;
    if (caseNumber === undefined) return settled(isKnown ? null : read);
    const one = { court, caseNumber };
    const key = `${court.code} ${caseNumber}`;
    let giveBack: GiveBack = nothingToGiveBack;
    let isLate = false;
    if (!isKnown && !running.has(key)) {
      // The sources are not asked about a docket that an order removed.
      if ((await looksAt(log, court, caseNumber))?.isForgotten) return settled(read);
      const counted = await unpaid.begin(call);
      if (counted === null) {
        return read.problem === 'case_not_found' ? wanted(one, call, read) : settled(read);
      }
      // A caller who disconnects, or is answered before the look ends, does not pay: a case that was found counts as well.
      giveBack = async () => (isLate || call.signal.aborted ? undefined : counted());
    } else if (isKnown && !(await unpaid.hasRoom(call))) return settled(null);
    const joined = running.get(key);
    if (joined) await giveBack();
    else if (running.size >= MOST_LOOKS) {
      await giveBack();
      return { readAgain: false, otherwise: unavailable(null, clock.now()) };
    }
    const shown = await inTime(
      joined ?? begin(key, one, isKnown ? 'paid' : 'unknown_case', giveBack),
      until,
      call.signal,
    );
    isLate = shown === null;
    if (isKnown && call.signal.aborted) await unpaid.begin(call);
    if (shown === null) return { readAgain: true, otherwise: unavailable(null, clock.now()) };
    if (hasShown(shown)) {
      // Otherwise a known case would be read as it was before the look.
      await freshness.showsEverything();
      return { readAgain: true, otherwise: null };
    }
    if (shown.look === 'failed') return { readAgain: isKnown, otherwise: unavailable(shown.because, clock.now()) };
    if (isKnown || read.problem !== 'case_not_found') return { readAgain: isKnown, otherwise: isKnown ? null : read };
    return wanted(one, call, read);
  }

  return {
    lookMs,
    sourceOf: (court) => desk.sourcesFor(court)[0] ?? null,
    needsLook({ court, caseId }, read) {
      if (desk.sourcesFor(court).length === 0) return false;
      if (!isProblem(read)) return isStale(court, read, clock.now());
      return ASKED_ABOUT.has(read.problem) && parseCaseNumber(court, caseId) !== null;
    },
    look: (asked, read, call, until) =>
      look(asked, read, call, until).catch((error: unknown) => {
        trouble.failed(error, 'sources could not be asked for a query');
        return { readAgain: false, otherwise: unavailable(null, clock.now()) };
      }),
    stop: () => stopping.abort(),
  };
}

type GiveBack = () => Promise<void>;
const nothingToGiveBack: GiveBack = async () => {};

/** Unknown, or its baseline was begun by a process that has ended: a look finishes it. */
const ASKED_ABOUT: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['case_not_found', 'court_unavailable']);

/** Whether the newest look at the whole docket is older than the cadence of the case, or something is missing since. */
function isStale(court: Court, { wholeAsOf, isComplete, activeAt, closed }: Answered, now: Micros): boolean {
  if (wholeAsOf === null || !isComplete) return true;
  return now - toMicros(wholeAsOf) >= freshFor(court, { activeAt, closed, covered: false }, now);
}

const hasShown = ({ look }: Look): boolean => look === 'complete' || look === 'partial' || look === 'unchanged';

/** A query whose turn did not come: nothing is said of its case. */
export const notInTime = (): LookedUp => ({ readAgain: false, otherwise: unavailable(null, 0) });

const settled = (otherwise: Problem | null): LookedUp => ({ readAgain: false, otherwise });

function unavailable(because: Fault | null, now: Micros): Problem {
  if (because?.fault === 'no_entries') return headAlone();
  const retryAt = because?.retryAt ?? null;
  const wait = retryAt === null ? UNAVAILABLE_RETRY_SECONDS : Math.ceil((retryAt - now) / MICROS_PER_SECOND);
  return problem('court_unavailable', { retry_after: Math.min(Math.max(1, wait), MAX_RETRY_SECONDS) });
}

/** Null if the look has not ended in time; it continues. */
async function inTime(look: Promise<Look>, until: number, signal: AbortSignal): Promise<Look | null> {
  let timer: NodeJS.Timeout | undefined;
  let leave: (() => void) | undefined;
  const late = new Promise<null>((resolve) => {
    const end = () => resolve(null);
    timer = setTimeout(end, Math.max(0, until - performance.now()));
    leave = onAbort(signal, end);
  });
  return Promise.race([look, late]).finally(() => {
    clearTimeout(timer);
    leave?.();
  });
}
