/** The checks that every engine makes before it accepts an append. */
import type { JsonObject } from '../events/event.ts';
import { type Append, InvalidAppend, MAX_APPEND_BYTES } from './event-log.ts';

/** An append that passed the checks, with each event's data as the JSON text whose size was counted. */
export interface CheckedAppend {
  readonly append: Append;
  /** JSON, one text for each event. */
  readonly data: readonly string[];
}

/** @throws InvalidAppend for an append that every engine would reject */
export function checkAppend(append: Append): CheckedAppend {
  const { stream, expected, events } = append;
  if (stream === '') throw new InvalidAppend('an append to a stream without a name');
  if (events.length === 0) throw new InvalidAppend(`an append to ${stream} without events`);
  if (!Number.isSafeInteger(expected) || expected < -1) {
    throw new InvalidAppend(`an append to ${stream} expects revision ${expected}`);
  }
  let bytes = 0;
  const data = events.map((event, index) => {
    if (event.stream !== stream || event.revision !== expected + 1 + index || event.id === '' || event.type === '') {
      throw new InvalidAppend(`event ${index} of an append to ${stream} was not prepared for it`);
    }
    const text = jsonOf(event.data, index, stream);
    bytes += Buffer.byteLength(text);
    return text;
  });
  if (bytes > MAX_APPEND_BYTES) {
    throw new InvalidAppend(`an append of ${bytes} bytes to ${stream}; the limit is ${MAX_APPEND_BYTES}`);
  }
  return { append, data };
}

function jsonOf(data: JsonObject, index: number, stream: string): string {
  try {
    return dataText(data);
  } catch (error) {
    throw new InvalidAppend(`event ${index} of an append to ${stream} is not JSON: ${(error as Error).message}`);
  }
}

const texts = new WeakMap<JsonObject, string>();

/** The JSON of an event's data. Made once: prepareAppend counts its bytes, the engine writes it. */
export function dataText(data: JsonObject): string {
  const known = texts.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  texts.set(data, text);
  return text;
}
