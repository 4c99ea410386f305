/** Converts between rows of the `events` table and events of the port. */
import { isTooDeep, TOO_DEEP } from '../../events/canonical-json.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { type EventPlace, UnreadableEvent } from '../../events/unreadable-event.ts';
import type { Position, RecordedEvent } from '../event-log.ts';
import { FOREIGN_METADATA, isEventMetadata } from '../event-metadata.ts';

/** Columns in the order of `EVENT_COLUMNS`. */
export type EventRow = readonly [
  position: number,
  type: string,
  stream: string,
  revision: number,
  id: string,
  metadata: string,
  data: string,
];

export const EVENT_COLUMNS = 'position, type, stream, revision, id, metadata, data';

export function recordedEvent([position, type, stream, revision, id, metadata, data]: EventRow): RecordedEvent {
  const place = { stream, revision, position: positionText(position), type };
  const read = { data: parsed(place, 'data', data), metadata: parsed(place, 'metadata', metadata) };
  if (!isEventMetadata(read.metadata)) throw new UnreadableEvent(place, FOREIGN_METADATA);
  return { id, ...place, data: read.data, metadata: read.metadata };
}

/** @throws UnreadableEvent with the event's place in the log */
function parsed(place: EventPlace, column: string, text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new UnreadableEvent(place, `its ${column} is not JSON`, { cause: error });
  }
  if (isTooDeep(value)) throw new UnreadableEvent(place, `its ${column} is unreadable: ${TOO_DEEP}`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new UnreadableEvent(place, `its ${column} is not a JSON object`);
}

const POSITION_DIGITS = 20;
/**
 * Where events are: the service writes at positions from 1 on, and more than these cannot be counted exactly. What
 * somebody put elsewhere is no event to any reader; `docket audit verify` reports it.
 */
export const AT_A_POSITION = `position BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}`;
export const isPosition = (position: number): boolean => Number.isSafeInteger(position) && position > 0;

/** Before the first event: the position of a subscription to an empty log. */
export const START_OF_LOG: Position = '0'.repeat(POSITION_DIGITS);

export const positionText = (position: number): Position => String(position).padStart(POSITION_DIGITS, '0');

/** @throws RangeError for a text that is not a position of this log */
export function positionNumber(position: Position | null): number {
  if (position === null) return 0;
  if (!/^\d{20}$/.test(position)) throw new RangeError(`not a position of this log: ${position}`);
  return Number(position);
}
