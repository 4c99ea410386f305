/**
 * The one door to the log: load, decide, append at exactly the revision that was read, and repeat that append until its
 * outcome is known (docs/design/event-log.md#unknown-outcomes). Commands and processes append nowhere else.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { decodeEvent } from '../events/codec.ts';
import type { DomainEvent } from '../events/event.ts';
import { type Clock, type Micros, toInstant } from '../runtime/instant.ts';
import { once } from '../runtime/once.ts';
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
  | {
      readonly recorded: Handled<State, Event>;
      /** The stream, if others have written since: `recorded` is what this command left. */
      readonly since?: Found<State>;
    }
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
 * nothing is decided in between. Where the log says that it was not written, the stream has the last word: it may hold
 * this very append, at its revision and with its hash, where an attempt that gave no answer was written after all.
 * @throws what the first read throws, and InvalidAppend; then nothing was written
 */
export async function record<State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  recording: Recording<State, Command, Event, Code>,
): Promise<Outcome<State, Event, Code>> {
  const { log } = ports;
  const { decider, stream, known, decisions = 1 } = recording;
  let at = known ?? (await load(log, decider, stream));
  let failure: StorageFailure | null = null;
  for (let decision = 1; ; decision++) {
    const decided = decideOn(ports, recording, at);
    if (isRejection(decided)) return { rejected: decided.rejected, at };
    if (!decided.append) return { recorded: decided.after(null) };
    // After a failure it is only asked whether the command is still due: others may have done it, or ruled it out.
    if (failure) return { unwritten: 'failed', error: failure };
    const { append, after } = decided;
    const attempted = await appendUntilKnown(ports, append, recording.repeatsMs);
    if ('position' in attempted) return { recorded: after(attempted.position) };
    if ('unknown' in attempted) return attempted;
    const { refusal } = attempted;
    const isConflict = refusal instanceof RevisionConflict;
    let found: Found<State>;
    try {
      found = folded(decider, await log.read(stream));
    } catch (error) {
      return isConflict ? { unknown: error } : { unwritten: 'failed', error: refusal };
    }
    const { head } = after(null);
    const own = found.recorded.find(
      ({ revision, metadata: { hash } }) => revision === head.revision && hash === head.hash,
    );
    if (own) return { recorded: after(own.position), ...(own === found.recorded.at(-1) ? {} : { since: found }) };
    if (isConflict && decision >= decisions) return { unwritten: 'overtaken', error: refusal, found };
    if (!isConflict) failure = refusal;
    at = found;
  }
}

type Decided<State, Event, Code extends string> =
  | Rejection<Code>
  | {
      /** Null where nothing is to be done. */
      readonly append: Append | null;
      readonly after: (position: Position | null) => Handled<State, Event>;
    };

function decideOn<State, Command, Event extends DomainEvent, Code extends string>(
  { clock }: Pick<RecordPorts, 'clock'>,
  { decider, stream, command, context, payloads }: Recording<State, Command, Event, Code>,
  at: Loaded<State>,
): Decided<State, Event, Code> {
  const now = clock.now();
  const events = decider.decide(at.state, commandAt(command, now));
  if (isRejection(events)) return rejected(events.rejected as Code);
  if (events.length === 0) return { append: null, after: (position) => ({ ...loadedOf(at), events, position }) };
  const prepared = prepareAppend({ stream, head: at.head, events, context, recordedAt: toInstant(now) });
  const head = headAfter(prepared);
  // Folded once it is asked for: the state after a command may be large, and most callers do not look at it.
  const state = once(() => evolved(decider, at.state, events));
  const after = (position: Position | null): Handled<State, Event> => ({
    get state() {
      return state();
    },
    head,
    events,
    position,
  });
  return { append: payloads ? { ...prepared, payloads } : prepared, after };
}

type Attempted =
  | { readonly position: Position }
  /** Certainly not written, unless the stream says otherwise. */
  | { readonly refusal: RevisionConflict | StorageFailure }
  | { readonly unknown: unknown };

/** Appends, and repeats the same append until its outcome is known. @throws InvalidAppend where no attempt may be written */
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
      if (error instanceof RevisionConflict) return { refusal: error };
      // What one attempt may have written, no later one can deny.
      if (error instanceof InvalidAppend) {
        if (unknown) return unknown;
        throw error;
      }
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
 * Decides one command on one stream and appends once. Nothing is read after a failure.
 * @param known what a caller already knows of the stream, to save the read; wrong knowledge can only conflict
 * @throws RevisionConflict if others wrote first, and what the log throws
 */
export async function handle<State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  known?: Loaded<State>,
): Promise<Handled<State, Event> | Rejection<Code>> {
  const at = known ?? (await load(ports.log, decider, stream));
  const decided = decideOn(ports, { decider, stream, command, context }, at);
  if (isRejection(decided)) return decided;
  const position = decided.append && (await ports.log.append(decided.append)).position;
  return decided.after(position);
}

/** As `handle`, and decides again on fresh state as long as others write first, ten times where nothing is said. */
export async function handleWithRetry<State, Command, Event extends DomainEvent, Code extends string>(
  ports: RecordPorts,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  { known, decisions = 10 }: { readonly known?: Loaded<State>; readonly decisions?: number } = {},
): Promise<Handled<State, Event> | Rejection<Code>> {
  for (let decision = 1; ; decision++) {
    try {
      return await handle(ports, decider, stream, command, context, decision === 1 ? known : undefined);
    } catch (error) {
      if (!(error instanceof RevisionConflict) || decision >= decisions) throw error;
    }
  }
}
