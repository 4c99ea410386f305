/** The result of a tool, as the bytes of JSON: structured content, and the same JSON as text for clients that read only that. */
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Meta } from '../meta.ts';
import type { Era } from './revisions.ts';
import { META_KEYS } from './revisions.ts';
import { SERVER_INFO } from './server-info.ts';

export interface ToolResultParts {
  /** JSON text of an object: what the tool has to say. */
  readonly structured: string;
  readonly isError?: boolean;
  /** More for a model to read, after the JSON. */
  readonly note?: string;
  readonly meta?: JsonObject;
}

export interface ToolResult {
  readonly parts: ToolResultParts;
  /** The member `result` of a JSON-RPC answer, JSON. Made once for each era, however often it is sent. */
  bytes(era: Era): Buffer;
}

export function toolResult(parts: ToolResultParts): ToolResult {
  const made: { [era in Era]?: Buffer } = {};
  return {
    parts,
    bytes(era) {
      const known = made[era] ?? encoded(parts, era);
      made[era] = known;
      return known;
    },
  };
}

/** A result as one more call is given it: with that call's own id and time. */
export type Stamped = (requestId: string, queriedAt: Instant) => ToolResult;

/**
 * A result whose bytes are made once for each era and copied for each call, which costs less than writing JSON.
 * @param structured JSON text of an object that begins with `meta`, with this id and time in it
 */
export function stampable(
  structured: string,
  { request_id, queried_at }: Pick<Meta, 'request_id' | 'queried_at'>,
): Stamped {
  const whole = toolResult({ structured });
  const made: { [era in Era]?: { readonly bytes: Buffer; readonly places: readonly number[] } } = {};
  const templateOf = (era: Era) => {
    const bytes = whole.bytes(era);
    // Once in the text for models and once in the structured content; the time is as far behind the id in both.
    const first = bytes.indexOf(request_id);
    made[era] ??= { bytes, places: [first, bytes.indexOf(request_id, first + 1)] };
    return made[era];
  };
  return (requestId, queriedAt) => ({
    parts: whole.parts,
    bytes(era) {
      const { bytes, places } = made[era] ?? templateOf(era);
      const stamped = Buffer.from(bytes);
      for (const place of places) {
        stamped.write(requestId, place, 'latin1');
        stamped.write(queriedAt, stamped.indexOf(queried_at, place), 'latin1');
      }
      return stamped;
    },
  });
}

function encoded({ structured, isError = false, note, meta }: ToolResultParts, era: Era): Buffer {
  const texts = note === undefined ? [structured] : [structured, note];
  const content = texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',');
  const members = [`"content":[${content}]`, `"structuredContent":${structured}`, `"isError":${isError}`];
  return Buffer.from(`{${[...members, ...envelope(era, meta)].join(',')}}`);
}

/** A member `result` of the protocol's own methods. */
export const protocolResult = (value: JsonObject, era: Era): Buffer => {
  const members = JSON.stringify(value).slice(1, -1);
  return Buffer.from(`{${[...(members === '' ? [] : [members]), ...envelope(era)].join(',')}}`);
};

/** What the newer revision adds to every result. */
function envelope(era: Era, own?: JsonObject): string[] {
  if (era === 'legacy') return own === undefined ? [] : [`"_meta":${JSON.stringify(own)}`];
  return ['"resultType":"complete"', `"_meta":${JSON.stringify({ [META_KEYS.serverInfo]: SERVER_INFO, ...own })}`];
}
