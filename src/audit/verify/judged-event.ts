import { upcastData } from '../../events/codec.ts';
import type { JsonObject } from '../../events/event.ts';
import type { EventMetadata } from '../../storage/event-log.ts';
import type { RawEvent } from '../../storage/raw-events.ts';
import type { JudgedEvent } from '../judging.ts';

/** An event that another thread has examined, in its newest schema. It is known to fit. */
export function judgedOf({ position, stream, revision, id, type, metadata, data }: RawEvent): JudgedEvent {
  const event = {
    position,
    stream,
    revision,
    id,
    type,
    metadata: JSON.parse(metadata) as EventMetadata,
    data: JSON.parse(data) as JsonObject,
  };
  return { ...event, data: upcastData(event) };
}
