/** The result of a tool, as the bytes of JSON: structured content, and the same JSON as text for clients that read only that. */
import type { JsonObject } from '../../events/event.ts';
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

/** What the newer revision has in every result beside what the result says. */
function envelope(era: Era, own?: JsonObject): string[] {
  if (era === 'legacy') return own === undefined ? [] : [`"_meta":${JSON.stringify(own)}`];
  return ['"resultType":"complete"', `"_meta":${JSON.stringify({ [META_KEYS.serverInfo]: SERVER_INFO, ...own })}`];
}
