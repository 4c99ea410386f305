/**
 * The one door to the log: load, decide, append at exactly the revision that was read, and repeat that append until its
 * outcome is known (docs/design/event-log.md#unknown-outcomes). Commands and processes append nowhere else.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { decodeEvent } from '../events/codec.ts';
import type { DomainEvent } from '../events/event.ts';
import { type Clock, type Micros, toInstant } from '../runtime/instant.ts';
import {
  type Append,
  type CommandContext,
  type EventLog,
  InvalidAppend,
  NO_STREAM,
  type Position,
  type RecordedEvent,
  RevisionConflict,
  type StreamHead,
} from '../storage/event-log.ts';
import type { SealedPayload } from '../storage/payload-store.ts';
import { headAfter, prepareAppend } from '../storage/prepare-append.ts';
import { isUnwritten, type StorageFailure } from '../storage/storage-failure.ts';
import { type Decider, isRejection, type Rejection, rejected } from './decider.ts';

export interface Loaded<State> {
  readonly state: State;
  readonly head: StreamHead;
}

/** A stream as it was read, whole. */
export interface Found<State> extends Loaded<State> {
  readonly recorded: readonly RecordedEvent[];
}

export interface Handled<State, Event> extends Loaded<State> {
  readonly events: readonly Event[];
  /** Position of the last event appended; null if the command changed nothing. */
  readonly position: Position | null;
}

export interface RecordPorts {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly clock: Clock;
  /** Between two attempts; a timer's where left out. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/** A command, and how far to go to have it recorded. */
export interface Recording<State, Command, Event extends DomainEvent, Code extends string> {
  readonly decider: Decider<State, Command, Event, Code>;
  readonly stream: string;
  /** Made of the time that its events are recorded with, where it names that time itself. */
  readonly command: Command | ((now: Micros) => Command);
  readonly context: CommandContext;
  /** What is known of the stream already, to save the read; wrong knowledge can only conflict. */
  readonly known?: Loaded<State> | undefined;
  /** What the events name, stored no later than they are. */
  readonly payloads?: readonly SealedPayload[];
  /** Pauses before an append of unknown outcome is repeated unchanged, milliseconds; none: it is made once. */
  readonly repeatsMs?: readonly number[] | undefined;
  /** How often to decide at most, each time on fresh state, as long as others write first; once where left out. */
  readonly decisions?: number;
}

/** What became of a command. */
export type Outcome<State, Event, Code extends string> =
  | { readonly recorded: Handled<State, Event> }
  /** A rule said no, on the stream as it was at this point. */
  | { readonly rejected: Code; readonly at: Loaded<State> }
  /** Others wrote first, each time that it was decided: certainly not written. */
  | { readonly unwritten: 'overtaken'; readonly error: RevisionConflict; readonly found: Found<State> }
  /** The log failed and is certain that nothing was written, nor ever will be. */
  | { readonly unwritten: 'failed'; readonly error: StorageFailure }
  /** It may be recorded or not: the log did not say, however often it was asked. */
  | { readonly unknown: unknown };

/** Pauses before an append of unknown outcome is repeated, milliseconds, where a caller names none. */
export const APPEND_REPEATS_MS: readonly number[] = [50, 250, 1_000];

/** Reads a stream and folds it into its state. @throws what the log throws */
export const load = async <State, Command, Event extends DomainEvent, Code extends string>(
  log: Pick<EventLog, 'read'>,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
): Promise<Loaded<State>> => loadedOf(folded(decider, await log.read(stream)));

/** Folds a stream, all of it, into its state. */
export function folded<State, Command, Event extends DomainEvent, Code extends string>(
  decider: Decider<State, Command, Event, Code>,
  recorded: readonly RecordedEvent[],
): Found<State> {
  return {
    state: evolved(
      decider,
      decider.initialState,
      recorded.map((event) => decodeEvent(event) as Event),
    ),
    head: headOf(recorded),
    recorded,
  };
}

/** Where the next append to a stream goes. @param recorded all of it */
export function headOf(recorded: readonly RecordedEvent[]): StreamHead {
  const last = recorded.at(-1);
  return last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM;
}

/**
 * Decides one command on one stream and records the outcome. An append of unknown outcome is repeated unchanged, and
 * nothing is decided in between. Where the log says that it was not written, the stream has the last word: it may show
 * this very append, by the hash of its last event, where an attempt that gave no answer was recorded after all.
 * @throws what the first read throws, and InvalidAppend; then nothing was written
 */
export async function record<State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  recording: Recording<State, Command, Event, Code>,
): Promise<Outcome<State, Event, Code>> {
  const { log, clock } = ports;
  const { decider, stream, command, context, known, payloads, decisions = 1 } = recording;
  let at = known ?? (await load(log, decider, stream));
  let failure: StorageFailure | null = null;
  for (let decision = 1; ; decision++) {
    const now = clock.now();
    const decided = decider.decide(at.state, commandAt(command, now));
    if (isRejection(decided)) return { rejected: decided.rejected as Code, at };
    const events = decided;
    if (events.length === 0) return { recorded: { ...loadedOf(at), events, position: null } };
    if (failure) return { unwritten: 'failed', error: failure };
    const prepared = prepareAppend({ stream, head: at.head, events, context, recordedAt: toInstant(now) });
    const append: Append = payloads ? { ...prepared, payloads } : prepared;
    const after = headAfter(append);
    const recorded = (position: Position): Outcome<State, Event, Code> => ({
      recorded: { state: evolved(decider, at.state, events), head: after, events, position },
    });
    const attempted = await appendUntilKnown(ports, append, recording.repeatsMs);
    if ('position' in attempted) return recorded(attempted.position);
    if ('unknown' in attempted) return attempted;
    const { refusal } = attempted;
    const isConflict = refusal instanceof RevisionConflict;
    let found: Found<State>;
    try {
      found = folded(decider, await log.read(stream));
    } catch (error) {
      return isConflict ? { unknown: error } : { unwritten: 'failed', error: refusal };
    }
    const own = found.recorded.find(
      ({ revision, metadata: { hash } }) => revision === after.revision && hash === after.hash,
    );
    if (own) return recorded(own.position);
    if (isConflict && decision >= decisions) return { unwritten: 'overtaken', error: refusal, found };
    // Of a log that failed it is only asked whether the command is still due: others may have done it, or ruled it out.
    if (!isConflict) failure = refusal;
    at = found;
  }
}

type Attempted =
  | { readonly position: Position }
  /** Certainly not written, unless the stream says otherwise. */
  | { readonly refusal: RevisionConflict | StorageFailure }
  | { readonly unknown: unknown };

/** Appends, and repeats the same append until its outcome is known. @throws InvalidAppend */
async function appendUntilKnown(
  { log, sleep = wait }: RecordPorts,
  append: Append,
  pauses: readonly number[] = APPEND_REPEATS_MS,
): Promise<Attempted> {
  let unknown: { readonly unknown: unknown } | null = null;
  for (let attempt = 0; ; attempt++) {
    try {
      return { position: (await log.append(append)).position };
    } catch (error) {
      if (error instanceof InvalidAppend) throw error;
      if (error instanceof RevisionConflict) return { refusal: error };
      // What one attempt may have written, no later one can deny.
      if (!isUnwritten(error)) unknown ??= { unknown: error };
      const pause = pauses[attempt];
      if (pause === undefined) return unknown ?? (isUnwritten(error) ? { refusal: error } : { unknown: error });
      await sleep(pause);
    }
  }
}

const evolved = <State, Command, Event extends DomainEvent, Code extends string>(
  decider: Decider<State, Command, Event, Code>,
  state: State,
  events: readonly Event[],
): State => decider.evolveAll?.(state, events) ?? events.reduce(decider.evolve, state);

const loadedOf = <State>({ state, head }: Loaded<State>): Loaded<State> => ({ state, head });

const commandAt = <Command>(command: Command | ((now: Micros) => Command), now: Micros): Command =>
  typeof command === 'function' ? (command as (now: Micros) => Command)(now) : command;

/**
 * What was recorded, or the rule that forbade it, for callers that can do nothing about the rest.
 * @throws RevisionConflict if others wrote first, and what kept the log from saying that it was written
 */
export function handledOf<State, Event, Code extends string>(
  outcome: Outcome<State, Event, Code>,
): Handled<State, Event> | Rejection<Code> {
  return 'rejected' in outcome ? rejected(outcome.rejected) : recordedOf(outcome);
}

/** As `handledOf`, of a command that no rule forbade. @throws what `handledOf` throws */
export function recordedOf<State, Event, Code extends string>(
  outcome: Exclude<Outcome<State, Event, Code>, { readonly rejected: Code }>,
): Handled<State, Event> {
  if ('recorded' in outcome) return outcome.recorded;
  throw 'unwritten' in outcome ? outcome.error : outcome.unknown;
}

/** Whether a command that no rule forbids was recorded; false where others wrote first. @throws what kept the log from it */
export function isWritten<State, Event>(outcome: Outcome<State, Event, never>): boolean {
  if ('unwritten' in outcome && outcome.unwritten === 'overtaken') return false;
  return !isRejection(handledOf(outcome));
}

/**
 * Decides one command on one stream and records the outcome by one append, which is not repeated.
 * @param known what a caller already knows of the stream, to save the read; wrong knowledge can only conflict
 * @throws RevisionConflict if somebody else wrote first
 */
export const handle = async <State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  known?: Loaded<State>,
): Promise<Handled<State, Event> | Rejection<Code>> =>
  handledOf(await record(ports, { decider, stream, command, context, known, repeatsMs: [] }));

/** As `handle`, and decides again on fresh state as long as others write first. */
export const handleWithRetry = async <State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  decisions = 10,
): Promise<Handled<State, Event> | Rejection<Code>> =>
  handledOf(await record(ports, { decider, stream, command, context, decisions, repeatsMs: [] }));
