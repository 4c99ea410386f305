/**
 * The one door to the log: loads, decides, and appends at exactly the revision that was read. `record` repeats an append
 * until its outcome is known; `handle` appends once, for callers that decide again anyway
 * (docs/design/event-log.md#unknown-outcomes). Commands and processes append nowhere else.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { decodeEvent } from '../events/codec.ts';
import type { DomainEvent } from '../events/event.ts';
import { type Clock, type Micros, toInstant } from '../runtime/instant.ts';
import { once } from '../runtime/once.ts';
import {
  type Append,
  type Appended,
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
import { currentTraceparent, inSpan } from '../tracing/span.ts';
import { type Decider, isRejection, type Rejection, rejected } from './decider.ts';

export interface Loaded<State> {
  readonly state: State;
  readonly head: StreamHead;
}

/** A complete stream, as it was read. */
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
  /** Waits between two attempts; a timer if omitted. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/** A command, and how persistently to record it. */
export interface Recording<State, Command, Event extends DomainEvent, Code extends string> {
  readonly decider: Decider<State, Command, Event, Code>;
  readonly stream: string;
  /** A function if the command contains the time at which its events are recorded. */
  readonly command: Command | ((now: Micros) => Command);
  readonly context: CommandContext;
  /** What is already known about the stream, to save a read. Wrong knowledge can only cause a conflict. */
  readonly known?: Loaded<State> | undefined;
  /** The contents that the events name, stored no later than the events. */
  readonly payloads?: readonly SealedPayload[];
  /** Pauses before an append with an unknown outcome is repeated unchanged, milliseconds. Empty: no repeats. */
  readonly repeatsMs?: readonly number[] | undefined;
  /** How often to decide on fresh state while other writers are first; once if omitted. */
  readonly decisions?: number;
}

/** The outcome of a command. */
export type Outcome<State, Event, Code extends string> =
  | {
      readonly recorded: Handled<State, Event>;
      /** The stream, if it was extended since; `recorded` is the state right after this command. */
      readonly since?: Found<State>;
    }
  /** A rule rejected the command, on the stream at this point. */
  | { readonly rejected: Code; readonly at: Loaded<State> }
  /** Other writers were first on every attempt: certainly not written. */
  | { readonly unwritten: 'overtaken'; readonly error: RevisionConflict; readonly found: Found<State> }
  /** The log failed, and certainly wrote nothing, now or later. */
  | { readonly unwritten: 'failed'; readonly error: StorageFailure }
  /** The events may or may not be recorded: no repeat of the append had an outcome. */
  | { readonly unknown: unknown };

/** Default pauses before an append with an unknown outcome is repeated, milliseconds. */
const APPEND_REPEATS_MS: readonly number[] = [50, 250, 1_000];

/**
 * Reads a stream and folds it.
 * @throws the errors of the log
 */
export const load = async <State, Command, Event extends DomainEvent, Code extends string>(
  log: Pick<EventLog, 'read'>,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
): Promise<Loaded<State>> => loadedOf(folded(decider, await log.read(stream)));

/** Folds a complete stream. */
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

/** Where the next append to a stream goes. @param recorded the complete stream */
export function headOf(recorded: readonly RecordedEvent[]): StreamHead {
  const last = recorded.at(-1);
  return last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM;
}

/**
 * Decides one command on one stream and records the result. An append with an unknown outcome is repeated unchanged;
 * nothing is decided in between. If the log reports that it was not written, the stream is read: an earlier repeat
 * without an outcome may have been written after all, and then the stream contains this very append, at its revision
 * and with its hash.
 * @throws the errors of the first read, and InvalidAppend; nothing was written then
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
    // After a failure, only check whether the command is still due: another writer may have executed it or made it
    // invalid.
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
      /** Null if there is nothing to record. */
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
  const recordedAt = toInstant(now);
  const prepared = prepareAppend({
    stream,
    head: at.head,
    events,
    context,
    recordedAt,
    traceparent: currentTraceparent(),
  });
  const head = headAfter(prepared);
  // Folded on demand: the state after a command may be large, and few callers need it.
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
  /** Certainly not written, unless the stream shows otherwise. */
  | { readonly refusal: RevisionConflict | StorageFailure }
  | { readonly unknown: unknown };

/**
 * Appends, and repeats the same append until its outcome is known.
 * @throws InvalidAppend if no attempt can have been written
 */
async function appendUntilKnown(
  { log, sleep = wait }: RecordPorts,
  append: Append,
  pauses: readonly number[] = APPEND_REPEATS_MS,
): Promise<Attempted> {
  let unknown: { readonly unknown: unknown } | null = null;
  for (let attempt = 0; ; attempt++) {
    try {
      return { position: (await appendInSpan(log, append)).position };
    } catch (error) {
      if (error instanceof RevisionConflict) return { refusal: error };
      // If an earlier attempt may have written it, a later one cannot rule that out.
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

/** One attempt. Its span names the family of the stream and never its name, which may be a caller's. */
const appendInSpan = (log: Pick<EventLog, 'append'>, append: Append): Promise<Appended> =>
  inSpan(
    'append',
    () => log.append(append),
    () => ({
      attributes: {
        'docket.stream.family': append.stream.split('-', 1)[0] ?? '',
        'docket.events': append.events.map(({ type }) => type),
      },
    }),
  );

const evolved = <State, Command, Event extends DomainEvent, Code extends string>(
  decider: Decider<State, Command, Event, Code>,
  state: State,
  events: readonly Event[],
): State => decider.evolveAll?.(state, events) ?? events.reduce(decider.evolve, state);

const loadedOf = <State>({ state, head }: Loaded<State>): Loaded<State> => ({ state, head });

const commandAt = <Command>(command: Command | ((now: Micros) => Command), now: Micros): Command =>
  typeof command === 'function' ? (command as (now: Micros) => Command)(now) : command;

/**
 * The recorded events or the rejecting rule, for callers that cannot handle the other outcomes.
 * @throws RevisionConflict if other writers were first, and the error that left the append unwritten or unknown
 */
export function handledOf<State, Event, Code extends string>(
  outcome: Outcome<State, Event, Code>,
): Handled<State, Event> | Rejection<Code> {
  return 'rejected' in outcome ? rejected(outcome.rejected) : recordedOf(outcome);
}

/**
 * As `handledOf`, for a command that no rule rejects.
 * @throws the errors of `handledOf`
 */
export function recordedOf<State, Event, Code extends string>(
  outcome: Exclude<Outcome<State, Event, Code>, { readonly rejected: Code }>,
): Handled<State, Event> {
  if ('recorded' in outcome) return outcome.recorded;
  throw 'unwritten' in outcome ? outcome.error : outcome.unknown;
}

/**
 * Whether a command that no rule rejects was recorded; false if other writers were first.
 * @throws the error that prevented it
 */
export function isWritten<State, Event>(outcome: Outcome<State, Event, never>): boolean {
  if ('unwritten' in outcome && outcome.unwritten === 'overtaken') return false;
  return !isRejection(handledOf(outcome));
}

/**
 * Decides one command on one stream and appends once. Reads nothing after a failure.
 * @param known what the caller already knows about the stream, to save a read. Wrong knowledge can only cause a
 * conflict
 * @throws RevisionConflict if other writers were first, and the errors of the log
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
  const position = decided.append && (await appendInSpan(ports.log, decided.append)).position;
  return decided.after(position);
}

/** As `handle`, but decides again on fresh state while other writers are first: ten times by default. */
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
