/** Where the event log is, and how fast it grows. */
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { NodeStanding } from './status-nodes.ts';

export interface LogStatus {
  /** Null in an empty log. */
  readonly position: Position | null;
  /** Null while no node runs, since only nodes remember where the log was. */
  readonly rate: LogRate | null;
}

export interface LogRate {
  readonly events: number;
  /** Usually a minute; less after a start. */
  readonly seconds: number;
  /** Whether there were more events than were counted. */
  readonly more: boolean;
}

/** An engine that must read to count stops at this, too. */
const MOST_EVENTS = 10_000;

export async function logStatus(
  log: Pick<EventLog, 'head' | 'countAfter'>,
  nodes: readonly Pick<NodeStanding, 'state' | 'sample'>[],
  now: Micros,
): Promise<LogStatus> {
  const position = await log.head();
  const samples = nodes.flatMap(({ state, sample }) => (state === 'running' && sample ? [sample] : []));
  const oldest = samples.toSorted((a, b) => (a.at < b.at ? -1 : 1))[0];
  return { position, rate: oldest ? await rateSince(log, oldest, now) : null };
}

async function rateSince(
  log: Pick<EventLog, 'countAfter'>,
  { position, at }: { readonly position: Position; readonly at: Instant },
  now: Micros,
): Promise<LogRate | null> {
  const seconds = (now - toMicros(at)) / MICROS_PER_SECOND;
  // The clock was set back.
  if (seconds <= 0) return null;
  const events = await log.countAfter(position, MOST_EVENTS);
  return { events, seconds, more: events >= MOST_EVENTS };
}
