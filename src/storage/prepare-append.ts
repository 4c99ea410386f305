import { hash } from 'node:crypto';
import { canonicalJson } from '../events/canonical-json.ts';
import { encodeEvent } from '../events/codec.ts';
import { dataText } from './checked-append.ts';
import { eventId } from './event-id.ts';
import {
  type Append,
  type EventMetadata,
  type EventToAppend,
  InvalidAppend,
  MAX_APPEND_BYTES,
  type PreparedEvent,
  type StreamHead,
} from './event-log.ts';

/**
 * Gives events their ids and links them to the stream's hash chain. A pure function of its argument, so that the same
 * command at the same head always makes the same append.
 * @throws InvalidAppend for no events or more than `MAX_APPEND_BYTES` of data
 * @throws ZodError if an event does not fit its schema
 */
export function prepareAppend({ stream, head, events, context, recordedAt, traceparent }: EventToAppend): Append {
  if (events.length === 0) throw new InvalidAppend(`an append to ${stream} without events`);
  let previousHash = head.hash;
  let bytes = 0;
  const prepared = events.map((domainEvent, index): PreparedEvent => {
    const { type, schemaVersion, data } = encodeEvent(domainEvent);
    const revision = head.revision + 1 + index;
    const id = eventId(context.commandId, stream, head.revision, index);
    const unhashed = {
      recordedAt,
      requestId: context.requestId,
      correlationId: context.correlationId,
      causationId: context.causationId,
      actor: context.actor,
      schemaVersion,
      commandId: context.commandId,
      ...(traceparent === undefined ? undefined : { traceparent }),
    };
    bytes += Buffer.byteLength(dataText(data));
    const recorded = { id, stream, revision, type, data, metadata: unhashed };
    previousHash = hashEvent(previousHash, recorded);
    return { ...recorded, metadata: { ...unhashed, hash: previousHash } };
  });
  if (bytes > MAX_APPEND_BYTES) {
    throw new InvalidAppend(`an append of ${bytes} bytes to ${stream}; the limit is ${MAX_APPEND_BYTES}`);
  }
  return { stream, expected: head.revision, events: prepared };
}

/** The next link of a stream's hash chain (docs/design/event-log.md#hash-chain). */
export const hashEvent = (
  previousHash: string,
  event: Omit<PreparedEvent, 'metadata'> & { readonly metadata: Omit<EventMetadata, 'hash'> },
): string => hashTexts(previousHash, event, canonicalJson(event.data), hashedMetadata(event.metadata));

/**
 * The canonical text of the metadata that the hash covers. Its members are named here in their order, because this runs
 * for every event.
 */
export function hashedMetadata(metadata: Omit<EventMetadata, 'hash'>): string {
  const { recordedAt, requestId, correlationId, causationId, actor, schemaVersion, commandId, traceparent } = metadata;
  // Events of earlier versions do not have it, and their hashes stay valid.
  const command = commandId === undefined ? '' : `"commandId":${canonicalJson(commandId)},`;
  const trace = traceparent === undefined ? '' : `,"traceparent":${canonicalJson(traceparent)}`;
  return `{"actor":${canonicalJson(actor)},"causationId":${canonicalJson(causationId)},${command}"correlationId":${canonicalJson(correlationId)},"recordedAt":${canonicalJson(recordedAt)},"requestId":${canonicalJson(requestId)},"schemaVersion":${canonicalJson(schemaVersion)}${trace}}`;
}

/** As `hashEvent`, of canonical texts that are known already. */
export function hashTexts(
  previousHash: string,
  { stream, revision, id, type }: Pick<PreparedEvent, 'stream' | 'revision' | 'id' | 'type'>,
  data: string,
  metadata: string,
): string {
  const place = canonicalJson([previousHash, stream, revision, id, type]);
  return hash('sha256', `${place.slice(0, -1)},${data},${metadata}]`);
}

/** The head that a stream has after an append. */
export function headAfter(append: Append): StreamHead {
  const last = append.events.at(-1);
  if (!last) throw new InvalidAppend('an append without events has no head');
  return { revision: last.revision, hash: last.metadata.hash };
}
