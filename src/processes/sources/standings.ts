/**
 * Whether sources work, as this node sees it, and in the log (docs/design/sources.md#standing). Only a change that lasts
 * is recorded: a source that fails now and then must not fill the log.
 */
import { randomUUID } from 'node:crypto';
import { record } from '../../commands/handle.ts';
import { partOfSource, source as rules, type Standing } from '../../commands/source/source.ts';
import { type LiveSourceName, sourceStream } from '../../events/source.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { Trouble, type TroubleLogger } from '../../storage/trouble.ts';
import { reportStanding } from './standing-alarms.ts';

export interface StandingReport {
  readonly source: LiveSourceName;
  /** Null: all its courts. */
  readonly court: string | null;
  readonly standing: Standing;
  /** In the words of `SourceFault`, or a short sentence without changing numbers; null if it works. */
  readonly why: string | null;
}

export interface StandingsOptions {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly clock: Clock;
  readonly logger: TroubleLogger;
}

export interface Standings {
  /** What this node sees now. Cheap: call it after every look and every poll. */
  report(report: StandingReport): void;
  /** What this node saw last; working if it saw nothing. */
  of(source: LiveSourceName, court: string | null): Pick<StandingReport, 'standing' | 'why'>;
  /** Records what has lasted. @returns when to come again; null if nothing waits */
  step(now: Micros): Promise<Micros | null>;
  /** Records until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** How long a source must have failed before that is recorded. What needs an operator is recorded at once. */
export const LASTING = 30 * MICROS_PER_SECOND;
/** Another node may have recorded something else and stopped: after this time, a report is compared with the log again. */
const COMPARED_EVERY = 600 * MICROS_PER_SECOND;
const AGAIN = 5 * MICROS_PER_SECOND;
const LOOK_MS = 1_000;
/** Other nodes write to the same stream. */
const DECISIONS = 5;

interface Seen {
  readonly report: StandingReport;
  readonly since: Micros;
  /** When it is to be compared with the log; null: the log says so. */
  dueAt: Micros | null;
  comparedAt: Micros;
}

export function createStandings({ log, clock, logger }: StandingsOptions): Standings {
  const seen = new Map<string, Seen>();
  const trouble = new Trouble(logger, { process: 'source-standings' });
  const keyOf = (source: LiveSourceName, court: string | null): string => `${source}/${partOfSource(court)}`;

  function report(next: StandingReport): void {
    const key = keyOf(next.source, next.court);
    const now = clock.now();
    const before = seen.get(key);
    if (before && before.report.standing === next.standing && before.report.why === next.why) {
      if (before.dueAt === null && Math.abs(now - before.comparedAt) >= COMPARED_EVERY) before.dueAt = now;
      return;
    }
    const atOnce = next.standing === 'working' || next.standing === 'misconfigured';
    seen.set(key, { report: next, since: now, dueAt: atOnce ? now : now + LASTING, comparedAt: now });
  }

  async function compare(entry: Seen, now: Micros): Promise<void> {
    const { source, court, standing, why } = entry.report;
    const stream = court === null ? sourceStream.itself(source) : sourceStream.court(source, court);
    const commandId = randomUUID();
    const outcome = await record(
      { log, clock },
      {
        decider: rules,
        stream,
        command: {
          type: 'ReportStanding',
          report: { source, court, standing, why, at: toInstant(Math.min(entry.since, now)) },
        } as const,
        context: { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'sources' },
        decisions: DECISIONS,
      },
    );
    if ('recorded' in outcome) {
      if (outcome.recorded.events.length > 0) reportStanding(logger, entry.report);
      entry.dueAt = null;
      entry.comparedAt = now;
    } else if ('unknown' in outcome) throw outcome.unknown;
    else if ('error' in outcome) throw outcome.error;
  }

  async function step(now: Micros): Promise<Micros | null> {
    for (const entry of [...seen.values()]) {
      // Nothing is put off for longer than `LASTING`: a later time is of a clock that was ahead and is set back.
      if (entry.dueAt === null || (entry.dueAt > now && entry.dueAt <= now + LASTING)) continue;
      try {
        await compare(entry, now);
        trouble.recovered();
      } catch (error) {
        entry.dueAt = now + AGAIN;
        trouble.failed(error, 'the standing of a source cannot be recorded; retrying');
      }
    }
    return [...seen.values()].reduce(
      (next: Micros | null, { dueAt }) => (dueAt === null || (next !== null && next <= dueAt) ? next : dueAt),
      null,
    );
  }

  return {
    report,
    of(source, court) {
      const { standing, why } = seen.get(keyOf(source, court))?.report ?? { standing: 'working', why: null };
      return { standing, why };
    },
    step,
    async run(signal) {
      while (!signal.aborted) {
        await step(clock.now());
        await pause(LOOK_MS, signal);
      }
    },
  };
}
