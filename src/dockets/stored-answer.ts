import type { Json } from '../events/event.ts';

/** What a stored answer holds; undefined if it is no JSON, which must not stop an operator from removing what it names. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
