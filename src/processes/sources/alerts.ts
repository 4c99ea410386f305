/**
 * Keeps CourtListener's alerts for watched cases, within the number that the account may have, and renews those that end
 * (docs/design/sources.md#alerts). Under a lease; what is in force is in the log, so a kill repeats one request at most.
 */
import type { BaseLogger } from 'pino';
import type { AlertCommand, AlertEnd, Subscription } from '../../commands/source/alert.ts';
import type { Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { DocketAlerts, ListedAlert } from '../../sources/courtlistener/alerts.ts';
import { isFault } from '../../sources/courtlistener/client.ts';
import type { SourceCases } from '../../sources/courtlistener/source-cases.ts';
import type { Fault } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import { type AlertInForce, createAlertBook } from './alert-book.ts';
import { coreKey } from './alert-coverage.ts';
import type { CaseOfCourt } from './desk.ts';
import { decideAlert, recordAlert, type SubscribePorts, subscribeTo, WATCHED, type WantedAlert } from './subscribe.ts';

export interface CaseAlertsPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'readAll' | 'head'>;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  readonly alerts: DocketAlerts;
  readonly cases: Pick<SourceCases, 'idsOf'>;
  /** Every case that is watched, most important first. */
  watched(now: Micros): AsyncIterable<CaseOfCourt>;
  /** Whether `watched` knows all that is in the log. After a restore it is built anew, and shows fewer cases at first. */
  knowsAllWatched(): Promise<boolean>;
  /** Whether CourtListener may be asked now: nobody has paused it. */
  isAllowed(): boolean;
  /** Whether it may be asked about cases of a court. */
  covers(court: Court): boolean;
  /** How many alerts the account may have. */
  readonly limit: number;
}

export interface CaseAlerts {
  /** Does what is due. @returns when to come again */
  step(now: Micros, signal?: AbortSignal): Promise<Micros>;
  /** Steps under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'source-alerts';
const SOURCE = 'courtlistener';
const LEASE_MS = 15_000;
const STAND_BY_MS = 5_000;
const LONGEST_PAUSE_MS = 15_000;
const SHORTEST_PAUSE_MS = 100;
const MINUTE: Micros = 60 * MICROS_PER_SECOND;
const DAY: Micros = 1_440 * MINUTE;
/** How often the cases that are watched are compared with the alerts. */
const EVERY: Micros = 5 * MINUTE;
/** Until the read model of watched cases is asked again whether it knows all. */
const WAIT_FOR_WATCHED: Micros = MINUTE;
/** How often the account's own list is compared: it costs a request. */
const LIST_EVERY: Micros = DAY;
/** A case must be seen unwatched for so long before its alert ends: an alert that was wrongly ended loses filings. */
const ENDS_AFTER: Micros = DAY;
/** A docket that cannot have an alert is not asked about again before that. */
const REFUSED_FOR: Micros = DAY;
/** CourtListener ends an alert on a closed case after 180 days without news. */
const RENEW_AFTER: Micros = 150 * DAY;
/** After a fault that names no time. */
const REST: Micros = 5 * MINUTE;
const LONGEST_REST: Micros = 6 * 60 * MINUTE;

/** A fault of the source, which the next request would meet as well. */
class Stopped extends Error {
  constructor(readonly because: Fault) {
    super(because.reason);
  }
}

const NEVER = new AbortController().signal;

/** Whether the next step is due. If the clock was set back since the last one, its time means nothing any more. */
export const isStepDue = (now: Micros, last: { readonly steppedAt: Micros; readonly next: Micros }): boolean =>
  now >= last.next || now < last.steppedAt;

export function createCaseAlerts(ports: CaseAlertsPorts): CaseAlerts {
  const { log, readStore, clock, logger, owner, alerts, limit } = ports;
  const trouble = new Trouble(logger, { process: NAME });
  const own: SubscribePorts = { log, clock, alerts, actor: NAME };
  const book = createAlertBook({ log, readStore });
  /** Dockets that cannot have an alert, and until when not to ask again. */
  const refused = new Map<string, Micros>();
  /** Alerts of the account that this service did not make. */
  let foreign = 0;
  let isFull = false;
  /** Steps in a row that the source cut short. */
  let stops = 0;

  return { step, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: { readStore, clock, owner, name: NAME, durationMs: LEASE_MS },
      signal,
      standByMs: STAND_BY_MS,
      async work(lease, workSignal, progressed) {
        book.forget();
        let last = { steppedAt: clock.now(), next: clock.now() };
        while (!workSignal.aborted) {
          const now = clock.now();
          if (isStepDue(now, last)) {
            await lease.assertHeld();
            last = { steppedAt: now, next: await step(now, workSignal) };
            progressed();
            trouble.recovered();
          }
          const ms = (last.next - clock.now()) / 1_000;
          await pause(Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, ms)), workSignal);
        }
      },
      failed: (error) => trouble.failed(error, 'alerts of watched cases cannot be kept; retrying'),
    });
  }

  async function step(now: Micros, signal: AbortSignal = NEVER): Promise<Micros> {
    if (!ports.isAllowed()) return now + EVERY;
    await book.catchUp();
    try {
      await compareList(now, signal);
      const isKnown = await ports.knowsAllWatched();
      if (isKnown) await keep(now, signal);
      stops = 0;
      return now + (isKnown ? EVERY : WAIT_FOR_WATCHED);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return Math.max(
        now + MICROS_PER_SECOND,
        error.because.retryAt ?? now + Math.min(LONGEST_REST, REST * 2 ** stops++),
      );
    }
  }

  /** Compares the account's own list with the log, once a day. */
  async function compareList(now: Micros, signal: AbortSignal): Promise<void> {
    const { version, value } = await readStore.cell(NAME);
    const { listedAt, unwatched, ...kept } = readCell(value);
    foreign = kept.foreign;
    // A time ahead came from a clock that was wrong.
    if (listedAt <= now && now - listedAt < LIST_EVERY) return;
    const listed = await list(signal);
    for (const known of [...book.inForce.values()]) {
      const found = listed.find(({ docketId }) => docketId === known.sourceCaseId);
      if (found?.isOn && found.alertId === known.alertId) continue;
      // It is asked for again below, if the case is still watched.
      await end(known, 'disabled_by_source', SOURCE);
    }
    foreign = listed.filter(({ docketId, isOn }) => isOn && !book.inForce.has(docketId)).length;
    isFull = false;
    await readStore.compareAndSet(NAME, version, { listedAt: now, foreign, unwatched });
  }

  /** The alerts made for watched cases of which none is watched any more, and has not been for long enough. */
  async function unwatchedFor(long: Micros, keys: ReadonlySet<string>, now: Micros): Promise<readonly AlertInForce[]> {
    const { version, value } = await readStore.cell(NAME);
    const { listedAt, unwatched: before } = readCell(value);
    const idle = [...book.inForce.values()].filter(
      (known) => known.by === WATCHED && !keys.has(coreKey(known.court, known.caseNumber)),
    );
    // A time ahead came from a clock that was wrong.
    const since = (id: string): Micros => Math.min(before[id] ?? now, now);
    const unwatched = Object.fromEntries(idle.map(({ sourceCaseId: id }) => [id, since(id)]));
    const isSame = JSON.stringify(unwatched) === JSON.stringify(before);
    if (!isSame) await readStore.compareAndSet(NAME, version, { listedAt, foreign, unwatched });
    return idle.filter(({ sourceCaseId: id }) => now - since(id) >= long);
  }

  async function keep(now: Micros, signal: AbortSignal): Promise<void> {
    const keys = new Set<string>();
    const kept = new Set([...book.inForce.values()].map((known) => coreKey(known.court, known.caseNumber)));
    const missing: WantedAlert[] = [];
    for (const lost of book.lost.values()) {
      const court = findCourt(lost.court);
      if (lost.by !== WATCHED && court && ports.covers(court) && !isRefused(lost.sourceCaseId, now)) missing.push(lost);
    }
    for await (const { court, caseNumber } of ports.watched(now)) {
      const key = coreKey(court.code, caseNumber);
      keys.add(key);
      if (signal.aborted) return;
      if (kept.has(key) || !ports.covers(court) || isTaken(missing.length)) continue;
      for (const sourceCaseId of await ports.cases.idsOf(court, caseNumber)) {
        if (book.unsubscribed.has(sourceCaseId)) continue;
        if (isRefused(sourceCaseId, now) || missing.some((one) => one.sourceCaseId === sourceCaseId)) continue;
        missing.push({ sourceCaseId, court: court.code, caseNumber, by: WATCHED });
      }
    }
    if (signal.aborted) return;
    for (const known of await unwatchedFor(ENDS_AFTER, keys, now)) {
      if (signal.aborted) return;
      const because = await alerts.end(known.alertId, asking(signal));
      if (because) throw new Stopped(because);
      await end(known, 'no_longer_watched', WATCHED);
      isFull = false;
    }
    for (const known of [...book.inForce.values()]) {
      if (signal.aborted) return;
      if (now - toMicros(known.since) > RENEW_AFTER) await renew(known, signal);
    }
    for (const one of missing) {
      if (signal.aborted || isFull || isTaken()) return;
      await subscribe(one, now, signal);
    }
  }

  function isRefused(sourceCaseId: string, now: Micros): boolean {
    const until = refused.get(sourceCaseId) ?? 0;
    return until > now && until <= now + REFUSED_FOR;
  }

  /** Whether the account has as many alerts as it may, or will with so many more. */
  function isTaken(more = 0): boolean {
    return book.inForce.size + foreign + more >= limit;
  }

  async function subscribe(wanted: WantedAlert, now: Micros, signal: AbortSignal): Promise<void> {
    const answer = await subscribeTo(own, wanted, asking(signal));
    // Nothing is wrong with the source as a whole, so the others are not held up by this docket.
    if (isFault(answer) && answer.fault === 'unreadable') return refuse(wanted, answer.reason, now);
    if (isFault(answer)) throw new Stopped(answer);
    await book.catchUp();
    const fields = { docket: wanted.sourceCaseId, court: wanted.court };
    if ('full' in answer) {
      isFull = true;
      const alarm = 'docket_alerts_exhausted';
      logger.warn({ ...fields, said: answer.full, alarm }, 'CourtListener allows this account no more docket alerts');
    } else if ('refused' in answer) refuse(wanted, answer.refused, now);
  }

  function refuse({ sourceCaseId, court }: WantedAlert, said: string, now: Micros): void {
    refused.set(sourceCaseId, now + REFUSED_FOR);
    logger.warn(
      { docket: sourceCaseId, court, said },
      'CourtListener has no alert for this docket; asked again in a day',
    );
  }

  async function renew(alertOf: Subscription, signal: AbortSignal): Promise<void> {
    const renewed = await alerts.renew(alertOf.alertId, asking(signal));
    if (isFault(renewed)) throw new Stopped(renewed);
    if (renewed === null) return end(alertOf, 'disabled_by_source', SOURCE);
    await recordAlert(own, alertOf, renewed, 'Renew');
    await book.catchUp();
  }

  async function list(signal: AbortSignal): Promise<readonly ListedAlert[]> {
    const listed = await alerts.list(asking(signal));
    if (isFault(listed)) throw new Stopped(listed);
    return listed;
  }

  async function end(known: Subscription, why: AlertEnd, by: string): Promise<void> {
    if (why === 'disabled_by_source') {
      const fields = { docket: known.sourceCaseId, court: known.court, alarm: 'docket_alert_ended' };
      logger.warn(fields, 'CourtListener has ended a docket alert; it is asked for again if the case is watched');
    }
    await decide(known.sourceCaseId, { type: 'End', alertId: known.alertId, why, by });
  }

  async function decide(sourceCaseId: string, command: AlertCommand): Promise<void> {
    await decideAlert(own, sourceCaseId, command);
    await book.catchUp();
  }
}

/** What the lease's holder keeps. Without it the list is compared at once, and alerts end a day later. */
function readCell(value: JsonObject | null) {
  const { listedAt, foreign, unwatched } = value ?? {};
  const times = typeof unwatched === 'object' && unwatched !== null ? Object.entries(unwatched) : [];
  return {
    listedAt: typeof listedAt === 'number' ? listedAt : 0,
    foreign: typeof foreign === 'number' ? foreign : 0,
    unwatched: Object.fromEntries(times.filter((one): one is [string, Micros] => typeof one[1] === 'number')),
  };
}

const asking = (signal: AbortSignal) => ({ priority: 'watched', signal }) as const;
