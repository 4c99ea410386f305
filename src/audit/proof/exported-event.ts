/** An event as a program outside the service reads it, in an exported log and in a proof. */
import type { Json, JsonObject } from '../../events/event.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';

export interface ExportedEvent {
  readonly stream: string;
  readonly revision: number;
  /** Where the log's engine keeps it. No hash covers it, since another engine has other positions. */
  readonly position: Position;
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  /** All metadata that the hash covers, whichever version of the service wrote it. */
  readonly metadata: { readonly [member: string]: Json };
  readonly hash: string;
}

export function exportedEvent({ stream, revision, position, id, type, data, metadata }: RecordedEvent): ExportedEvent {
  const { hash, ...hashed } = metadata;
  return { stream, revision, position, id, type, data, metadata: hashed, hash };
}
