/** Which blobs an event names. */
import type { Json, JsonObject } from '../events/event.ts';
import type { BlobName } from '../storage/payload-store.ts';

/** The fields of all events that name a blob, by `src/events`; a test compares this list with the schemas. */
export const CONTENT_FIELDS: ReadonlySet<string> = new Set(['content', 'answer', 'target', 'envelope', 'replacement']);

const NAME = /^[0-9a-f]{64}$/;

/** Each name once. */
export function blobsNamedBy({ data }: { readonly data: JsonObject }): readonly BlobName[] {
  const names = new Set<BlobName>();
  // Without recursion: data from a file may be nested to any depth.
  const open: Json[] = [data];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value === null || typeof value !== 'object') continue;
    for (const [field, held] of Object.entries(value)) {
      if (CONTENT_FIELDS.has(field) && typeof held === 'string' && NAME.test(held)) names.add(held);
      else open.push(held as Json);
    }
  }
  return [...names];
}
