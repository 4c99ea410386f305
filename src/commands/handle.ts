/** The only place where commands meet the log: load, decide, append expecting exactly what was read. */
import { decodeEvent } from '../events/codec.ts';
import type { DomainEvent } from '../events/event.ts';
import { type Clock, toInstant } from '../runtime/instant.ts';
import {
  type CommandContext,
  type EventLog,
  NO_STREAM,
  type Position,
  type RecordedEvent,
  RevisionConflict,
  type StreamHead,
} from '../storage/event-log.ts';
import { headAfter, prepareAppend } from '../storage/prepare-append.ts';
import { type Decider, isRejection, type Rejection } from './decider.ts';

export interface Loaded<State> {
  readonly state: State;
  readonly head: StreamHead;
}

export interface Handled<State, Event> extends Loaded<State> {
  readonly events: readonly Event[];
  /** Position of the last event appended; null if the command changed nothing. */
  readonly position: Position | null;
}

/** Reads a stream and folds it into its state. @throws what the log throws */
export const load = async <State, Command, Event extends DomainEvent, Code extends string>(
  log: Pick<EventLog, 'read'>,
  decider: Decider<State, Command, Event, Code>,
  stream: string,
): Promise<Loaded<State>> => folded(decider, await log.read(stream));

/** Folds a stream, all of it, into its state. */
export function folded<State, Command, Event extends DomainEvent, Code extends string>(
  decider: Decider<State, Command, Event, Code>,
  recorded: readonly RecordedEvent[],
): Loaded<State> {
  const last = recorded.at(-1);
  return {
    state: recorded.reduce((state, event) => decider.evolve(state, decodeEvent(event) as Event), decider.initialState),
    head: last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM,
  };
}

/**
 * Decides one command on one stream and records the outcome.
 * @param known what a caller already knows of the stream, to save the read; wrong knowledge can only conflict
 * @throws RevisionConflict if somebody else wrote first
 */
export async function handle<State, Command, Event extends DomainEvent, Code extends string>(
  { log, clock }: { readonly log: EventLog; readonly clock: Clock },
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  known?: Loaded<State>,
): Promise<Handled<State, Event> | Rejection<Code>> {
  const { state, head } = known ?? (await load(log, decider, stream));
  const events = decider.decide(state, command);
  if (isRejection(events)) return events as Rejection<Code>;
  if (events.length === 0) return { state, head, events, position: null };
  const append = prepareAppend({ stream, head, events, context, recordedAt: toInstant(clock.now()) });
  const { position } = await log.append(append);
  return { state: events.reduce(decider.evolve, state), head: headAfter(append), events, position };
}

/** Decides again on fresh state as long as others write first: for commands that may lose a race and try again. */
export async function handleWithRetry<State, Command, Event extends DomainEvent, Code extends string>(
  ports: { readonly log: EventLog; readonly clock: Clock },
  decider: Decider<State, Command, Event, Code>,
  stream: string,
  command: Command,
  context: CommandContext,
  attempts = 10,
): Promise<Handled<State, Event> | Rejection<Code>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await handle(ports, decider, stream, command, context);
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt === attempts) throw error;
    }
  }
}
