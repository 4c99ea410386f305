/**
 * Reads the events of the log on EventStoreDB as they are stored. Events of other programs are skipped, as the log
 * itself skips them; an event that looks like ours and is broken is given as it is.
 */
import { isTooDeep } from '../../events/canonical-json.ts';
import type { Json } from '../../events/event.ts';
import { isOwnEvent } from '../../events/own-event.ts';
import { pause } from '../../runtime/pause.ts';
import type { Position } from '../event-log.ts';
import { isEventMetadata } from '../event-metadata.ts';
import type { RawBatch, RawEvent, RawEventLog } from '../raw-events.ts';
import { Lane } from './client.ts';
import { readConnectionString } from './connection-string.ts';
import { finalError, NoAnswer, unreachable } from './failures.ts';
import { positionText, START_OF_LOG } from './positions.ts';
import { type ClientEvent, isObject } from './recorded-events.ts';
import { readHead, readStreamAs } from './stream-reading.ts';
import { SubscriptionReader } from './subscription-reader.ts';
import { backOff } from './waiting.ts';

const MOST_EVENTS = 500;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** The server sends something at least this often while it has more. */
const SILENCE_MS = 10_000;
const GIVE_UP_MS = 15_000;
const PAUSES = { first: 50, longest: 4000 };

/** @throws InvalidConnectionString, or StorageFailure if there is no answer */
export async function openEventStoreRaw(url: string): Promise<RawEventLog> {
  const log = new EventStoreRawEvents(new Lane(readConnectionString(url)));
  try {
    await log.head();
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

class EventStoreRawEvents implements RawEventLog {
  readonly gapless = false;
  readonly #lane: Lane;
  readonly #closing = new AbortController();

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  head(): Promise<Position | null> {
    return readHead(this.#lane, this.#closing.signal);
  }

  async *read(after: Position | null, upTo: Position): AsyncIterable<RawBatch> {
    let position = after ?? START_OF_LOG;
    let progressAt = performance.now();
    for (let failures = 0; position < upTo; failures++) {
      try {
        for await (const batch of this.#readOnce(position, upTo)) {
          position = batch.upTo;
          yield batch;
          progressAt = performance.now();
          failures = 0;
        }
        return;
      } catch (error) {
        const final = finalError(error, 'read $all');
        if (final) throw final;
        if (performance.now() - progressAt > GIVE_UP_MS) throw unreachable('reading the log', error);
        await pause(backOff(failures, PAUSES), this.#closing.signal);
      }
    }
  }

  /** One attempt. @throws the error that dropped it */
  async *#readOnce(after: Position, upTo: Position): AsyncIterable<RawBatch> {
    const { client } = this.#lane;
    const reader = new SubscriptionReader(client, after, { by: 'all' });
    let from = after;
    let events: RawEvent[] = [];
    let characters = 0;
    const batch = (reached: Position): RawBatch => {
      const full = { after: from, upTo: reached, events };
      from = reached;
      events = [];
      characters = 0;
      return full;
    };
    try {
      for (;;) {
        const taken = reader.take();
        if (!taken) {
          const waited = performance.now();
          await reader.changed(SILENCE_MS);
          if (performance.now() - waited >= SILENCE_MS) throw new NoAnswer('reading the log');
          continue;
        }
        if (taken.kind === 'dropped') throw taken.error;
        if (taken.kind === 'caughtUp') return yield batch(upTo);
        if (taken.kind === 'checkpoint') {
          if (taken.position >= upTo) return yield batch(upTo);
          continue;
        }
        const { position } = taken.event;
        const reached = position ? positionText(position) : null;
        if (reached !== null && reached > upTo) return yield batch(upTo);
        // A resumed read begins with the event that it has already seen.
        if (reached !== null && reached <= after) continue;
        const event = rawEvent(taken.event);
        if (event) {
          events.push(event);
          characters += event.data.length + event.metadata.length;
        }
        if (reached === upTo) return yield batch(upTo);
        if (reached !== null && (events.length >= MOST_EVENTS || characters >= MOST_CHARACTERS)) yield batch(reached);
      }
    } catch (error) {
      this.#lane.failed(client, error);
      throw error;
    } finally {
      reader.close();
    }
  }

  /** The engine itself gives positions. */
  async misplaced(): Promise<readonly []> {
    return [];
  }

  async find(stream: string, revision: number): Promise<RawEvent | null> {
    const range = { from: revision, limit: 1 };
    const [event] = await readStreamAs(asStored, this.#lane, this.#closing.signal, stream, range);
    return event?.revision === revision ? event : null;
  }

  share(position: Position, head: Position): number {
    const commit = (text: Position): number => Number(text.slice(0, 20));
    return Math.min(1, commit(position) / Math.max(1, commit(head)));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#lane.close();
  }
}

/** Null for an event of another program. */
function rawEvent(event: ClientEvent): RawEvent | null {
  const { streamId, type, metadata } = event;
  const isOurs = (isObject(metadata) && isEventMetadata(metadata)) || isOwnEvent(streamId, type);
  return isOurs ? asStored(event) : null;
}

const asStored = ({ id, streamId, revision, position, type, data, metadata }: ClientEvent): RawEvent => ({
  position: position ? positionText(position) : START_OF_LOG,
  stream: streamId,
  revision: Number(revision),
  id,
  type,
  metadata: textOf(metadata),
  data: textOf(data),
});

/** The client parses what is declared to be JSON, and gives bytes otherwise. What is too deep is no event of ours. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  return ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    : isTooDeep(value as Json)
      ? ''
      : JSON.stringify(value);
}
