/** Whether what an engine gives as metadata was written by this service. */
import type { JsonObject } from '../events/event.ts';
import type { EventMetadata } from './event-log.ts';

export const isEventMetadata = (metadata: JsonObject): metadata is JsonObject & EventMetadata =>
  typeof metadata.hash === 'string' && typeof metadata.recordedAt === 'string';

export const FOREIGN_METADATA = 'its metadata is not what this service writes';
