/** Converts the client's events to those of the port. */
import type { ResolvedEvent } from '@eventstore/db-client';
import { isTooDeep, TOO_DEEP } from '../../events/canonical-json.ts';
import type { JsonObject } from '../../events/event.ts';
import { isOwnEvent } from '../../events/own-event.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { RecordedEvent } from '../event-log.ts';
import { FOREIGN_METADATA, isEventMetadata } from '../event-metadata.ts';
import { positionText } from './positions.ts';

export type ClientEvent = NonNullable<ResolvedEvent['event']>;

/**
 * Null for an event of another program: an event store is shared, and others may write anything to it.
 * @throws UnreadableEvent for an event of this service that cannot be read
 */
export function recordedEvent(event: ClientEvent): RecordedEvent | null {
  const { id, streamId, revision, position, type, data, metadata } = event;
  if (!isObject(metadata) || !isEventMetadata(metadata)) {
    if (!isOwnEvent(streamId, type)) return null;
    throw unreadableEvent(event, isObject(metadata) ? FOREIGN_METADATA : `its metadata is ${described(metadata)}`);
  }
  if (!position) throw unreadableEvent(event, 'it has no position');
  if (id === '' || streamId === '') throw unreadableEvent(event, `it has no ${id === '' ? 'id' : 'stream'}`);
  if (!isObject(data)) throw unreadableEvent(event, `its data is ${described(data)}`);
  if (isTooDeep(data) || isTooDeep(metadata)) throw unreadableEvent(event, TOO_DEEP);
  return {
    id,
    stream: streamId,
    revision: Number(revision),
    position: positionText(position),
    type,
    data,
    metadata,
  };
}

/** @param problem what is wrong with the event, without quoting its content */
export const unreadableEvent = ({ streamId, revision, position, type }: ClientEvent, problem: string) =>
  new UnreadableEvent(
    { type, stream: streamId, revision: Number(revision), ...(position && { position: positionText(position) }) },
    problem,
  );

/** Describes the value that the client returns for bytes that are not the expected object. */
function described(value: unknown): string {
  if (value === undefined) return 'missing';
  return ArrayBuffer.isView(value) || typeof value === 'string' ? 'not JSON' : 'not a JSON object';
}

/** A JSON object: the client returns bytes for what is not JSON. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
