/**
 * Short reads: one stream, or the head of the log. A read is retried through a short outage, since repeating it is
 * harmless.
 */
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';
import { pause } from '../../runtime/pause.ts';
import type { Position, RecordedEvent } from '../event-log.ts';
import type { Lane } from './client.ts';
import { finalError, NoAnswer, type Right, unreachable } from './failures.ts';
import { positionText } from './positions.ts';
import { type ClientEvent, recordedEvent, unreadableEvent } from './recorded-events.ts';
import { backOff } from './waiting.ts';

/** Longest allowed silence of the event store in the middle of a read. */
const SILENCE_MS = 5000;
/** The same for a single event. Shorter than the time after which readiness reports the log down without a reason. */
const HEAD_SILENCE_MS = 3000;
const GIVE_UP_MS = 10_000;
const PAUSES = { first: 100, longest: 2000 };

export interface ReadOptions {
  readonly from?: number;
  readonly limit?: number;
}

/**
 * Events of a stream, oldest first; none if it does not exist.
 * @throws UnreadableEvent for an event that another program wrote, or that cannot be read
 */
export const readStream = (
  lane: Lane,
  closing: AbortSignal,
  stream: string,
  options: ReadOptions = {},
): Promise<readonly RecordedEvent[]> => readStreamAs(ownEvent, lane, closing, stream, options);

function ownEvent(event: ClientEvent): RecordedEvent {
  const recorded = recordedEvent(event);
  if (!recorded) throw unreadableEvent(event, 'another program wrote it');
  return recorded;
}

/** As `readStream`, with each event in another form. */
export async function readStreamAs<Event>(
  convert: (event: ClientEvent) => Event,
  lane: Lane,
  closing: AbortSignal,
  stream: string,
  { from = 0, limit }: ReadOptions = {},
): Promise<readonly Event[]> {
  if (limit !== undefined && limit <= 0) return [];
  return repeated(lane, closing, `reading ${stream}`, 'read streams', async (client) => {
    const events: Event[] = [];
    const reading = client.readStream(stream, {
      fromRevision: BigInt(from),
      requiresLeader: true,
      ...(limit !== undefined && { maxCount: limit }),
    });
    try {
      for await (const { event } of untilSilent(reading, `reading ${stream}`, SILENCE_MS)) {
        if (event) events.push(convert(event));
      }
    } catch (error) {
      if (error instanceof StreamNotFoundError) return [];
      throw error;
    }
    return events;
  });
}

/** Position of the newest event, the node's own events included; null in an empty log. */
export async function headOf(client: EventStoreDBClient): Promise<Position | null> {
  const reading = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
  let head: Position | null = null;
  for await (const { event } of untilSilent(reading, READING_THE_HEAD, HEAD_SILENCE_MS)) {
    if (event?.position) head = positionText(event.position);
  }
  return head;
}

/** Asks once, without retries. */
export const readHeadOnce = (lane: Lane): Promise<Position | null> =>
  lane.run(async (client) => {
    try {
      return await headOf(client);
    } catch (error) {
      lane.failed(client, error);
      throw error;
    }
  });

export const readHead = (lane: Lane, closing: AbortSignal): Promise<Position | null> =>
  repeated(lane, closing, READING_THE_HEAD, 'read $all', headOf);

const READING_THE_HEAD = 'reading the head of the log';

/** Retries a read for ten seconds. @throws StorageFailure */
async function repeated<Result>(
  lane: Lane,
  closing: AbortSignal,
  what: string,
  right: Right,
  read: (client: EventStoreDBClient) => Promise<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (let attempt = 0; ; attempt++) {
    let used: EventStoreDBClient | null = null;
    try {
      return await lane.run((client) => {
        used = client;
        return read(client);
      });
    } catch (error) {
      const final = finalError(error, right);
      if (final) throw final;
      if (used) lane.failed(used, error);
      const wait = backOff(attempt, PAUSES);
      if (closing.aborted || performance.now() + wait >= giveUpAt) throw unreachable(what, error);
      await pause(wait, closing);
    }
  }
}

/** The client's reads have no deadline, and a read that is left early keeps its call open until it is cancelled. */
async function* untilSilent<Event>(
  reading: StreamingRead<Event>,
  what: string,
  silenceMs: number,
): AsyncIterable<Event> {
  let ended = false;
  // Errors that come after the loop was left have no reader.
  reading.on('error', () => undefined);
  reading.on('end', () => {
    ended = true;
  });
  const silence = setTimeout(() => reading.destroy(new NoAnswer(what)), silenceMs);
  try {
    for await (const event of reading.iterator({ destroyOnReturn: false })) {
      silence.refresh();
      yield event as Event;
    }
  } finally {
    clearTimeout(silence);
    if (!ended) {
      void reading.cancel().catch(() => undefined);
      // Received data must still be read; until then the call does not end.
      reading.resume();
    }
  }
}
