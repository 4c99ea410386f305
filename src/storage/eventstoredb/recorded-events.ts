/** Events as the port gives them, from what the client gives. */
import type { ResolvedEvent } from '@eventstore/db-client';
import type { JsonObject } from '../../events/event.ts';
import type { EventMetadata, RecordedEvent } from '../event-log.ts';
import { positionText } from './positions.ts';

type ClientEvent = NonNullable<ResolvedEvent['event']>;

/** Null for an event that this service has not written: it lacks our metadata. */
export function recordedEvent(event: ClientEvent): RecordedEvent | null {
  const { id, streamId, revision, position, type, data, metadata } = event;
  if (!position || !isObject(data) || !isMetadata(metadata)) return null;
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

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

const isMetadata = (value: unknown): value is EventMetadata & JsonObject =>
  isObject(value) && typeof value.hash === 'string' && typeof value.recordedAt === 'string';
