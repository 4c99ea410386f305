/** How ingests share a case clock: one at a time, and none waits forever for one that died. */
import { type CaseClock, caseClockId, clear, readClock, writeClock } from '../../dockets/case-clock.ts';
import { CASES } from '../../dockets/case-document.ts';
import { DocketChecked, DocketForgotten } from '../../events/docket.ts';
import type { DomainEvent } from '../../events/event.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import {
  type CommandContext,
  type EventLog,
  type Position,
  type RecordedEvent,
  RevisionConflict,
} from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { folded, type Handled, type Loaded, type Recording, record } from '../handle.ts';
import { docket } from './docket.ts';

export interface IngestPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  /** A unique id for each ingest. */
  newId(): string;
  sleep(ms: number): Promise<void>;
  /**
   * Resolves once the projection `cases` has reached a position. If omitted, the case document is watched instead,
   * because another process runs the projection.
   */
  waitUntilProjected?(position: Position): Promise<void>;
  /** How long a claim on a case clock may show no progress before its ingest counts as dead; default 5 s. */
  readonly abandonAfterMs?: number;
  /** How long to wait for the projection; default 30 s. */
  readonly visibleWithinMs?: number;
}

/** The append's outcome is unknown. Its claim on the case clock stays until a later ingest ends it. */
export class AppendOutcomeUnknown extends Error {
  readonly code = 'append_outcome_unknown';
  constructor(stream: string, options: ErrorOptions) {
    super(`it is not known whether an append to ${stream} was written; repeat the ingest`, options);
    this.name = 'AppendOutcomeUnknown';
  }
}

/** The events are recorded, but answers do not show them yet. */
export class ProjectionBehind extends Error {
  readonly code = 'projection_behind';
  constructor(position: Position) {
    super(`the projection of cases has not reached position ${position}; see that it runs`);
    this.name = 'ProjectionBehind';
  }
}

/** An ingest can wait: its caller waits for a file, not for an answer. */
const REPEATS_MS = Array.from({ length: 29 }, (_, repeat) => Math.min(20 * 2 ** (repeat + 1), 1_000));

/**
 * Records a command, with many retries.
 * @throws RevisionConflict if another writer was first, AppendOutcomeUnknown, and Error if a rule rejects the command
 */
export async function recordPatiently<State, Command, Event extends DomainEvent, Code extends string>(
  ports: Pick<IngestPorts, 'log' | 'clock' | 'sleep'>,
  recording: Omit<Recording<State, Command, Event, Code>, 'repeatsMs'> & { readonly known: Loaded<State> },
): Promise<Handled<State, Event>> {
  const { log, clock } = ports;
  const { stream, known } = recording;
  const sleep = (milliseconds: number) => ports.sleep(milliseconds);
  const outcome = await record({ log, clock, sleep }, { ...recording, repeatsMs: REPEATS_MS });
  if ('recorded' in outcome) return outcome.recorded;
  if ('unwritten' in outcome && outcome.unwritten === 'overtaken') throw outcome.error;
  if ('rejected' in outcome) {
    const { rejected, at } = outcome;
    if (at === known) throw new Error(`a command on ${stream} breaks a rule: ${rejected}`);
    throw new RevisionConflict(stream, known.head.revision, at.head.revision);
  }
  throw new AppendOutcomeUnknown(stream, { cause: 'unwritten' in outcome ? outcome.error : outcome.unknown });
}

/** Waits until the case document shows everything up to a position in its docket's stream. */
export async function waitUntilVisible(ports: IngestPorts, stream: string, position: Position | null): Promise<void> {
  if (position === null) return;
  if (ports.waitUntilProjected) return ports.waitUntilProjected(position);
  const limit = ports.visibleWithinMs ?? 30_000;
  for (let waited = 0, pause = 5; ; waited += pause, pause = Math.min(pause * 2, 100)) {
    const shown = (await ports.readStore.load(CASES, [stream])).get(stream);
    if (shown && shown.position >= position) return;
    if (waited >= limit) throw new ProjectionBehind(position);
    await ports.sleep(pause);
  }
}

/**
 * Ends an ingest's claim, unless another process has. Call it only once the case document shows what was appended: the
 * document's position becomes the minimum that every later answer must show.
 */
export async function clearPending(ports: IngestPorts, stream: string, ingestId: string): Promise<void> {
  const shown = (await ports.readStore.load(CASES, [stream])).get(stream)?.position ?? null;
  for (;;) {
    const cell = await ports.readStore.cell(caseClockId(stream));
    const clock = readClock(cell.value);
    if (clock?.pending?.ingestId !== ingestId) return;
    if (await ports.readStore.compareAndSet(caseClockId(stream), cell.version, writeClock(clear(clock, shown)))) return;
  }
}

/**
 * Waits for the ingest that holds the case clock, if any, and ends its claim once it has finished or died. The append
 * of a dead ingest may still arrive. An event appended at the revision that was read makes it conflict permanently, and
 * the claim is cleared only once the case document shows that event. An ingest counts as dead after a period without
 * progress that we measure ourselves; clocks of two machines are never compared. A wrong guess costs the other ingest
 * one retry.
 */
export async function endPending(ports: IngestPorts, stream: string, context: CommandContext): Promise<void> {
  const patience = ports.abandonAfterMs ?? 5_000;
  let watched = '';
  let quiet = 0;
  for (let pause = 5; ; pause = Math.min(pause * 2, 250)) {
    const pending = (await clockOf(ports, stream))?.pending ?? null;
    if (!pending) return;
    const events = await ports.log.read(stream);
    // Nothing may be recorded after it, so no append of an ingest can arrive.
    if (events.some(({ type }) => type === DocketForgotten.type)) return;
    const end = events.find((event) => event.type === DocketChecked.type && event.data.ingestId === pending.ingestId);
    if (end) {
      await waitUntilVisible(ports, stream, end.position);
      await clearPending(ports, stream, pending.ingestId);
      return;
    }
    const sign = `${pending.ingestId} ${events.length}`;
    quiet = sign === watched ? quiet : 0;
    watched = sign;
    if (quiet >= patience) {
      const abandoned = await abandon(ports, stream, events, pending.ingestId, context);
      if (abandoned !== null) {
        await waitUntilVisible(ports, stream, abandoned);
        await clearPending(ports, stream, pending.ingestId);
        return;
      }
      quiet = 0;
      continue;
    }
    await ports.sleep(pause);
    quiet += pause;
  }
}

async function clockOf({ readStore }: IngestPorts, stream: string): Promise<CaseClock | null> {
  return readClock((await readStore.cell(caseClockId(stream))).value);
}

/**
 * Returns the position of the event that makes the dead ingest's append conflict; null if another event was appended in
 * the meantime.
 */
async function abandon(
  ports: IngestPorts,
  stream: string,
  events: readonly RecordedEvent[],
  dead: string,
  context: CommandContext,
): Promise<Position | null> {
  try {
    const { position } = await recordPatiently(ports, {
      decider: docket,
      stream,
      command: (now) => ({ type: 'AbandonIngest', at: toInstant(now) }) as const,
      context: { ...context, commandId: `${context.commandId}\nabandon ${dead}` },
      known: folded(docket, events),
    });
    return position;
  } catch (error) {
    if (error instanceof RevisionConflict) return null;
    throw error;
  }
}
