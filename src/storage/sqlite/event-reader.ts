/** Reads the log in order, in slices small enough for the main thread and for memory. */

import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { EventFilter, RecordedEvent } from '../event-log.ts';
import type { Database } from './driver.ts';
import { EVENT_COLUMNS, type EventRow, recordedEvent } from './event-rows.ts';

/** How many rows one slice examines, matching or not: a few milliseconds. */
const ROWS_LOOKED_AT = 5000;
const MOST_EVENTS = 500;
/** A slice ends with the event that exceeds this size; one event is at most `MAX_APPEND_BYTES`. */
const MOST_CHARACTERS = 2 * 1024 * 1024;

export interface Slice {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here was examined. */
  readonly upTo: number;
}

/**
 * Returns the matching events after one position, up to another one that exists.
 * @throws UnreadableEvent if the next event cannot be read
 */
export type EventReader = (after: number, head: number) => Slice;

export function eventReader(database: Database, filter: EventFilter): EventReader {
  const { condition, parameters } = conditionOf(filter);
  const select = database
    .prepare<unknown[], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM events
       WHERE position > ? AND position <= ? ${condition} ORDER BY position LIMIT ${MOST_EVENTS}`,
    )
    .raw();

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
    return { events, upTo: end };
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
