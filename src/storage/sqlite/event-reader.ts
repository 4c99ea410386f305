/** Reads the log in order, in slices small enough for the main thread and for memory. */

import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { EventFilter, EventLeaf, RecordedEvent } from '../event-log.ts';
import { FOREIGN_METADATA } from '../event-metadata.ts';
import type { Database } from './driver.ts';
import { EVENT_COLUMNS, type EventRow, positionText, recordedEvent } from './event-rows.ts';

/** How many rows at most one slice examines, matching or not: a few milliseconds. */
const ROWS_LOOKED_AT = 5000;
const MOST_EVENTS = 500;
/** A slice ends with the event that exceeds this size; one event is at most `MAX_APPEND_BYTES`. */
const MOST_CHARACTERS = 2 * 1024 * 1024;

export interface Slice<Event = RecordedEvent> {
  readonly events: readonly Event[];
  /** Everything up to here was examined. */
  readonly upTo: number;
}

/**
 * Returns the matching events after one position, up to another one that exists.
 * @throws UnreadableEvent if the next event cannot be read
 */
export type EventReader<Event = RecordedEvent> = (after: number, head: number) => Slice<Event>;

export function eventReader(database: Database, filter: EventFilter): EventReader {
  const { condition, parameters } = conditionOf(filter);
  const select = database
    .prepare<unknown[], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM events
       WHERE position > ? AND position <= ? ${condition} ORDER BY position LIMIT ${MOST_EVENTS}`,
    )
    .raw();
  const following = database
    .prepare<[number], number | null>('SELECT min(position) FROM events WHERE position > ?')
    .pluck();

  return (after, head) => {
    const end = Math.min(after + ROWS_LOOKED_AT, head);
    const events: RecordedEvent[] = [];
    let characters = 0;
    for (const row of select.iterate(after, end, ...parameters)) {
      const [position] = row;
      try {
        events.push(recordedEvent(row));
      } catch (error) {
        // The events before it are returned first.
        if (!(error instanceof UnreadableEvent) || position - 1 <= after) throw error;
        return { events, upTo: position - 1 };
      }
      characters += row[6].length;
      if (events.length === MOST_EVENTS || characters >= MOST_CHARACTERS) return { events, upTo: position };
    }
    // Behind a gap in the positions, which no service leaves, the next slice begins at the next event.
    return { events, upTo: Math.min(head, Math.max(end, (following.get(end) ?? head) - 1)) };
  };
}

type LeafRow = readonly [position: number, type: string, stream: string, revision: number, id: string, hash: unknown];

/** Reads no content, and of the metadata only the hash: a third of the time that whole events take. */
export function leafReader(database: Database): EventReader<EventLeaf> {
  const select = database
    .prepare<[number, number], LeafRow>(
      `SELECT position, type, stream, revision, id, iif(json_valid(metadata), metadata ->> '$.hash', NULL) FROM events
       WHERE position > ? AND position <= ? ORDER BY position LIMIT ${MOST_EVENTS}`,
    )
    .raw();

  return (after, head) => {
    const events: EventLeaf[] = [];
    for (const [number, type, stream, revision, id, hash] of select.all(after, head)) {
      const position = positionText(number);
      if (typeof hash !== 'string') {
        // The events before it are returned first.
        if (events.length > 0) return { events, upTo: number - 1 };
        throw new UnreadableEvent({ stream, revision, position, type }, FOREIGN_METADATA);
      }
      events.push({ position, stream, revision, id, hash });
    }
    return { events, upTo: events.length < MOST_EVENTS ? head : Number(events.at(-1)?.position) };
  };
}

function conditionOf(filter: EventFilter): { condition: string; parameters: unknown[] } {
  switch (filter.by) {
    case 'all':
      return { condition: '', parameters: [] };
    case 'types':
      return { condition: `AND type IN (${filter.types.map(() => '?').join(', ')})`, parameters: [...filter.types] };
    case 'streams': {
      const alternatives = filter.prefixes.map(() => 'substr(stream, 1, ?) = ?').join(' OR ');
      return {
        condition: `AND (${alternatives || 'FALSE'})`,
        // SQLite counts characters, JavaScript counts code units.
        parameters: filter.prefixes.flatMap((prefix) => [[...prefix].length, prefix]),
      };
    }
  }
}
