/**
 * The watch over cases (docs/design/sources.md#watched-cases): looks at each watched case before it is stale, most urgent
 * first, with what the budget of its source leaves. One node does it. All that it knows is in the log, so a kill loses
 * nothing but the look under way, which the source's own cursor continues.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { record } from '../../commands/handle.ts';
import { want } from '../../commands/source/wanted.ts';
import { docketStream } from '../../events/docket.ts';
import { type LiveSourceName, sourceStream } from '../../events/source.ts';
import { WATCHED_CASES } from '../../projections/watched-cases.ts';
import { type Clock, type Instant, latest, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { FAULTS_BEFORE_ANY_CASE, type Fault, type Look, type SourceFault } from '../../sources/source.ts';
import { paceOf, urgency } from '../../sources/watch-plan.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import { type AgendaItem, type AgendaOptions, backOff, readAgenda } from './agenda.ts';
import type { SourceDesk } from './desk.ts';
import { type RatesOf, reportOf, standingOf, type WatchStanding } from './freshness.ts';
import { FreshnessAlarm } from './freshness-alarm.ts';
import { LookBackOff } from './look-back-off.ts';
import { watchedSince } from './watched.ts';

export interface CaseWatchOptions {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly readStore: ReadStore;
  readonly desk: SourceDesk;
  readonly coverage?: AgendaOptions['coverage'];
  readonly rates: RatesOf;
  /** `config.sources.watchDays`. */
  readonly watchDays: number;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** How often the read model is read, microseconds; a minute if omitted. */
  readonly agendaEvery?: Micros;
  /** Called with each reading, for metrics; null once this node no longer keeps cases fresh. */
  observe?(standing: WatchStanding | null): void;
}

export interface CaseWatch {
  /** Looks at what is due. @returns when to come again */
  step(now: Micros, signal?: AbortSignal): Promise<Micros>;
  /** Steps under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'case-watch';
const LEASE_MS = 15_000;
const STAND_BY_MS = 5_000;
const MINUTE: Micros = 60 * MICROS_PER_SECOND;
/** Bounds a step, so that a loop of them notices a lost lease. */
const LOOKS_PER_STEP = 25;
/** After an error of storage, and after a fault of the source that names no time. */
const REST: Micros = 30 * MICROS_PER_SECOND;
/** No budget is closed for longer than its longest window, a day. */
const LONGEST_REST: Micros = 25 * 60 * MINUTE;
/** Even if the source's time is already over. */
const SHORTEST_REST: Micros = MICROS_PER_SECOND;
/** While every source rests, a case of another one may come to be watched. */
const RESTING_TIMES = 15;
const CASES_A_READING = 10_000;
const LONGEST_PAUSE_MS = 15_000;
const SHORTEST_PAUSE_MS = 20;

/** The whole source rests. */
const OF_SOURCE: ReadonlySet<SourceFault> = new Set<SourceFault>([
  ...FAULTS_BEFORE_ANY_CASE,
  'connection',
  'timeout',
  'unavailable',
]);

interface Lane {
  /** Due, most urgent first. */
  queue: AgendaItem[];
  restsUntil: Micros;
  /** After each look. */
  pace: Micros;
}

export function createCaseWatch(options: CaseWatchOptions): CaseWatch {
  const { log, readStore, desk, rates, watchDays, clock, logger, owner, agendaEvery = MINUTE } = options;
  const trouble = new Trouble(logger, { process: NAME });
  const budgets = new FreshnessAlarm(logger);
  const away = new LookBackOff(readStore);
  const lanes = new Map<LiveSourceName, Lane>();
  /** Complete looks of this process that the read model may not show yet. */
  const looked = new Map<string, Instant>();
  const failures = new Map<string, number>();
  let readAt = Number.NEGATIVE_INFINITY;
  let size = 0;
  /** Reading a hundred thousand cases takes seconds. */
  const rereadEvery = (): Micros => agendaEvery * Math.ceil((size + 1) / CASES_A_READING);

  return { step, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: { readStore, clock, owner, name: NAME, durationMs: LEASE_MS },
      signal,
      standByMs: STAND_BY_MS,
      async work(lease, workSignal, progressed) {
        readAt = Number.NEGATIVE_INFINITY;
        while (!workSignal.aborted) {
          await lease.assertHeld();
          const next = await step(clock.now(), workSignal);
          progressed();
          const ms = (next - clock.now()) / 1_000;
          await pause(Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, ms)), workSignal);
        }
      },
      failed: (error) => trouble.failed(error, 'watched cases cannot be looked at; retrying'),
      ended: () => options.observe?.(null),
    });
  }

  async function step(now: Micros, signal: AbortSignal = NEVER): Promise<Micros> {
    // A clock that was ahead must not stop a source until then.
    for (const lane of lanes.values()) if (lane.restsUntil > now + LONGEST_REST) lane.restsUntil = now;
    const isAwake = lanes.size === 0 || [...lanes.values()].some(({ restsUntil }) => restsUntil <= now);
    const every = (isAwake ? 1 : RESTING_TIMES) * rereadEvery();
    if (Math.abs(now - readAt) >= every) await read(now);
    const next = await Promise.all([...lanes.values()].map((lane) => work(lane, now, signal)));
    const rereadAt = readAt + (lanes.size === 0 ? 1 : RESTING_TIMES) * rereadEvery();
    return Math.max(now, Math.min(rereadAt, ...next));
  }

  async function read(now: Micros): Promise<void> {
    const agenda = await readAgenda(options, { now, watchDays });
    const ended = await endWants(
      agenda.items.filter(({ isWanted }) => isWanted),
      now,
    );
    const kept = agenda.items.filter((item) => !ended.has(item)).map(withOwnLook);
    readAt = now;
    size = kept.length;
    const streams = new Set(kept.map(({ stream }) => stream));
    away.keepOnly(streams);
    for (const known of [looked, failures]) for (const one of known.keys()) if (!streams.has(one)) known.delete(one);
    for (const lane of lanes.values()) lane.queue = [];
    const due = kept
      .map((item) => ({ item, urgency: urgency(item, now) }))
      .filter((one) => one.urgency >= 1 && one.item.notBefore <= now)
      .sort((a, b) => b.urgency - a.urgency);
    for (const item of inTurns(due.map(({ item }) => item))) laneOf(item.source).queue.push(item);
    const report = reportOf({ ...agenda, items: kept }, rates, now);
    budgets.observe(report, now);
    for (const [source, lane] of lanes) {
      const plan = report.sources[source];
      lane.pace = plan ? paceOf(plan) : 0;
    }
    options.observe?.(standingOf(kept, agenda.unasked, report, now));
  }

  /** Those that were wanted for too long, or that something else than a look has brought, such as a push. */
  async function endWants(wanted: readonly AgendaItem[], now: Micros): Promise<ReadonlySet<AgendaItem>> {
    const oldest = watchedSince({ now, watchDays });
    const streamOf = ({ court, caseNumber }: AgendaItem): string => docketStream(court.code, caseNumber);
    const known = await readStore.load(WATCHED_CASES, wanted.map(streamOf));
    const ended = new Set<AgendaItem>();
    for (const item of wanted) {
      const why = known.has(streamOf(item)) ? 'found' : item.since < oldest ? 'expired' : null;
      if (why === null) continue;
      ended.add(item);
      await endWant(item, why).catch((error: unknown) =>
        trouble.failed(error, 'the end of a wanted case cannot be recorded; retrying'),
      );
    }
    return ended;
  }

  function withOwnLook(item: AgendaItem): AgendaItem {
    const own = looked.get(item.stream);
    if (own === undefined) return item;
    if (item.completeAt !== null && item.completeAt >= own) {
      looked.delete(item.stream);
      return item;
    }
    return { ...item, completeAt: own };
  }

  function laneOf(source: LiveSourceName): Lane {
    const lane = lanes.get(source) ?? { queue: [], restsUntil: 0, pace: 0 };
    lanes.set(source, lane);
    return lane;
  }

  /** @returns when to come again for this source */
  async function work(lane: Lane, now: Micros, signal: AbortSignal): Promise<Micros> {
    for (let looks = 0; looks < LOOKS_PER_STEP && !signal.aborted; looks++) {
      if (lane.restsUntil > now) return lane.restsUntil;
      const item = lane.queue.shift();
      // What gets due meanwhile is found when the read model is read again.
      if (!item) return readAt + rereadEvery();
      try {
        if ((await away.until(item.stream, now)) > now) continue;
        await lookAt(item, lane, signal);
        if (lane.pace > 0) lane.restsUntil = Math.max(lane.restsUntil, clock.now() + lane.pace);
        trouble.recovered();
      } catch (error) {
        lane.restsUntil = clock.now() + REST;
        trouble.failed(error, 'a watched case cannot be looked at; retrying');
      }
    }
    return now;
  }

  async function lookAt(item: AgendaItem, lane: Lane, signal: AbortSignal): Promise<void> {
    const { court, caseNumber, stream } = item;
    const begun = clock.now();
    const priority = item.isWanted ? 'wanted' : 'watched';
    const look = await desk.look({ court, caseNumber }, { priority, signal });
    const now = clock.now();
    if (item.isWanted && 'stream' in look) await endWant(item, 'found');
    if (look.look === 'complete' || look.look === 'unchanged') {
      failures.delete(stream);
      looked.set(stream, latest(looked.get(stream) ?? toInstant(begun), toInstant(begun)));
      return;
    }
    await afterShortfall(item, lane, look, now);
  }

  async function afterShortfall(item: AgendaItem, lane: Lane, look: Look, now: Micros): Promise<void> {
    const because: Fault | null = 'because' in look ? look.because : null;
    if (because?.fault === 'budget' && item.isWanted) {
      // Their share is used up, which says nothing about the share of known cases. The next reading has them again.
      lane.queue = lane.queue.filter(({ isWanted }) => !isWanted);
      return;
    }
    if (because && isOfSource(because, item.source)) {
      lane.restsUntil = Math.max(now + SHORTEST_REST, because.retryAt ?? now + REST);
      if (because.fault === 'paused') return;
      // After a fault that may be of this case it goes to the end of the line, or it would hold up all the others.
      if (FAULTS_BEFORE_ANY_CASE.has(because.fault)) {
        // It is still the most urgent, and is continued first.
        lane.queue.unshift(item);
        return;
      }
    }
    const failed = (failures.get(item.stream) ?? 0) + 1;
    failures.set(item.stream, failed);
    // A wanted case has its own, growing pause; so a source is not asked all day about a number that it does not know.
    await away.leave(item.stream, now, item.isWanted ? item.every : backOff(failed));
  }

  function isOfSource({ fault }: Fault, source: LiveSourceName): boolean {
    // One court of it may be paused alone.
    return OF_SOURCE.has(fault) && (fault !== 'paused' || desk.standing(source).isPaused);
  }

  async function endWant({ court, caseNumber }: AgendaItem, why: 'found' | 'expired'): Promise<void> {
    const commandId = randomUUID();
    const outcome = await record(
      { log, clock },
      {
        decider: want,
        stream: sourceStream.wanted(court.code, caseNumber),
        command: { type: 'End', court: court.code, caseNumber, why },
        context: { commandId, requestId: null, correlationId: commandId, causationId: null, actor: NAME },
        decisions: 5,
      },
    );
    if ('unknown' in outcome) throw outcome.unknown;
    if ('unwritten' in outcome) throw outcome.error;
  }
}

/** Numbers that may not exist get one look of four, however many were asked for. */
const WANTED_EVERY = 4;

function inTurns(due: readonly AgendaItem[]): readonly AgendaItem[] {
  const wanted = due.filter(({ isWanted }) => isWanted);
  const known = due.filter(({ isWanted }) => !isWanted);
  const turns: AgendaItem[] = [];
  let [w, k] = [0, 0];
  while (turns.length < due.length) {
    const isWantedsTurn = turns.length % WANTED_EVERY === WANTED_EVERY - 1 || k >= known.length;
    const next = isWantedsTurn && w < wanted.length ? wanted[w++] : known[k++];
    if (next) turns.push(next);
  }
  return turns;
}

const NEVER = new AbortController().signal;
