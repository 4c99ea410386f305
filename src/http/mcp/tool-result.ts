/** A tool result as JSON bytes: structured content, and the same JSON as text for clients that read only that. */
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Meta } from '../meta.ts';
import type { Era } from './revisions.ts';
import { META_KEYS } from './revisions.ts';
import { SERVER_INFO } from './server-info.ts';

export interface ToolResultParts {
  /** JSON text of an object: the tool's answer. */
  readonly structured: string;
  readonly isError?: boolean;
  /** Additional text for models, after the JSON. */
  readonly note?: string;
  readonly meta?: JsonObject;
}

export interface ToolResult {
  readonly parts: ToolResultParts;
  /** The member `result` of a JSON-RPC answer, JSON. Composed once per era, even if sent several times. */
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

/** Creates a result for one more call, with that call's id and time. */
export type Stamped = (requestId: string, queriedAt: Instant) => ToolResult;

/**
 * A result whose bytes are composed once per era and copied for each call, which is cheaper than writing JSON.
 * @param structured JSON text of an object that starts with `meta`, containing this id and time
 */
export function stampable(
  structured: string,
  { request_id, queried_at }: Pick<Meta, 'request_id' | 'queried_at'>,
): Stamped {
  const whole = toolResult({ structured });
  const made: { [era in Era]?: { readonly bytes: Buffer; readonly places: readonly number[] } } = {};
  const templateOf = (era: Era) => {
    const bytes = whole.bytes(era);
    // The id is in the text and in the structured content; the time follows at the same distance in both.
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

/** The member `result` of the protocol's own methods. */
export const protocolResult = (value: JsonObject, era: Era): Buffer => {
  const members = JSON.stringify(value).slice(1, -1);
  return Buffer.from(`{${[...(members === '' ? [] : [members]), ...envelope(era)].join(',')}}`);
};

/** The members that the newer revision adds to every result. */
function envelope(era: Era, own?: JsonObject): string[] {
  if (era === 'legacy') return own === undefined ? [] : [`"_meta":${JSON.stringify(own)}`];
  return ['"resultType":"complete"', `"_meta":${JSON.stringify({ [META_KEYS.serverInfo]: SERVER_INFO, ...own })}`];
}
