/**
 * One append, repeated unchanged until its outcome is known (docs/design/event-log.md#unknown-outcomes). Only the exact
 * expected revision makes that safe: a repeat of a written append returns the original outcome, a repeat of an
 * unwritten one is written now.
 */
import { type AppendResult, type EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { validate as isUuid } from 'uuid';
import { pause } from '../../runtime/pause.ts';
import { checkAppend } from '../checked-append.ts';
import { type Append, type Appended, InvalidAppend, type Position } from '../event-log.ts';
import type { Lane } from './client.ts';
import { finalAppendError, unreachable } from './failures.ts';
import { positionText } from './positions.ts';
import { backOff, within } from './waiting.ts';

/** The node itself gives up after two seconds; after that, no answer is to be expected. */
const ATTEMPT_MS = 3000;
/** The client's own deadline expires first, so that the call ends on both sides. */
const DEADLINE_MS = ATTEMPT_MS - 250;
/** After that the caller gets the error. To continue, it reads the stream first or repeats the append. */
const GIVE_UP_MS = 20_000;
/** A node drops a repeat that overtakes its original, so the first pause is longer than an append needs. */
const PAUSES = { first: 100, longest: 2000 };

export interface Appending {
  readonly lane: Lane;
  /** Aborts when the log is closed. */
  readonly closing: AbortSignal;
  /** Finds the position of an event, for an outcome that comes without one. */
  readonly positionOf: (stream: string, revision: number, id: string) => Promise<Position>;
}

/**
 * @throws RevisionConflict
 * @throws InvalidAppend
 * @throws StorageFailure if the outcome is not known after 20 seconds, or the event store rejects the append
 */
export async function appendUntilKnown(appending: Appending, append: Append): Promise<Appended> {
  checkAppend(append);
  const { stream, expected, events } = append;
  for (const { id } of events) {
    // The client would accept it and throw two seconds later, where nothing can catch the error.
    if (!isUuid(id)) throw new InvalidAppend(`an append to ${stream} has an event id that is not a UUID: ${id}`);
  }
  const last = events.at(-1);
  const revision = expected + events.length;
  const { position } = await outcomeOf(appending, append);
  // A repeat can succeed without returning a position.
  const known = position ? positionText(position) : await appending.positionOf(stream, revision, last?.id ?? '');
  return { revision, position: known };
}

async function outcomeOf({ lane, closing }: Appending, append: Append): Promise<AppendResult> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (let attempt = 0; ; attempt++) {
    let used: EventStoreDBClient | null = null;
    try {
      return await lane.run((client) => {
        used = client;
        return within(ATTEMPT_MS, `an append to ${append.stream}`, send(client, append));
      });
    } catch (error) {
      const final = finalAppendError(error, append, attempt === 0);
      if (final) throw final;
      if (used) lane.failed(used, error);
      const wait = backOff(attempt, PAUSES);
      if (closing.aborted || performance.now() + wait >= giveUpAt) {
        throw unreachable(`the outcome of an append to ${append.stream} is unknown`, error);
      }
      await pause(wait, closing);
    }
  }
}

const send = (client: EventStoreDBClient, { stream, expected, events }: Append): Promise<AppendResult> =>
  client.appendToStream(
    stream,
    events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data, metadata: { ...metadata } })),
    {
      expectedRevision: expected === -1 ? NO_STREAM : BigInt(expected),
      requiresLeader: true,
      deadline: DEADLINE_MS,
    },
  );
