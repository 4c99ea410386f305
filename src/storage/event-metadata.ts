/** Checks whether the metadata that an engine returns was written by this service. */
import type { JsonObject } from '../events/event.ts';
import type { EventMetadata } from './event-log.ts';

export const isEventMetadata = (metadata: JsonObject): metadata is JsonObject & EventMetadata =>
  typeof metadata.hash === 'string' &&
  typeof metadata.recordedAt === 'string' &&
  (metadata.commandId === undefined || typeof metadata.commandId === 'string') &&
  (metadata.traceparent === undefined || typeof metadata.traceparent === 'string');

export const FOREIGN_METADATA = 'its metadata was not written by this service';
