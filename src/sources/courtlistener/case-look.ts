/**
 * One look at a case that may take many requests, over several days (docs/design/sources.md#courtlistener): which lists of which
 * dockets have been read, and how far. Pure.
 */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../events/event.ts';
import { Instant } from '../../runtime/instant.ts';
import type { ListName } from './kept-rows.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const ListLook = z.object({
  /** Where the next page begins; null at the start of the list. */
  cursor: z.string().nullable(),
  done: z.boolean(),
  /** Pages that were read, as blobs. */
  pages: z.array(Sha256),
  /** How many of them were ingested as a part of the docket. */
  shown: z.int().nonnegative(),
});
export type ListLook = z.infer<typeof ListLook>;

const DocketLook = z.object({
  id: z.string(),
  header: z.custom<JsonObject>(isJsonObject),
  lists: z.record(z.string(), ListLook),
});
export type DocketLook = z.infer<typeof DocketLook>;

export const CaseLook = z.object({
  startedAt: Instant,
  /** Only what changed since then is read; null: everything. */
  since: Instant.nullable(),
  /** When the dockets' headers were asked for. */
  headersAt: Instant,
  /** Whether a part of it was ingested before. */
  isShown: z.boolean(),
  dockets: z.array(DocketLook).min(1),
});
export type CaseLook = z.infer<typeof CaseLook>;

const NEW_LIST: ListLook = { cursor: null, done: false, pages: [], shown: 0 };

/** By id of the docket. */
export type Headers = ReadonlyMap<string, JsonObject>;

export function newLook(
  headers: Headers,
  startedAt: Instant,
  since: Instant | null,
  lists: readonly ListName[],
): CaseLook {
  const all = Object.fromEntries(lists.map((name) => [name, NEW_LIST]));
  const dockets = [...headers].map(([id, header]) => ({ id, header, lists: all }));
  return { startedAt, since, headersAt: startedAt, isShown: false, dockets };
}

export const headersIn = ({ dockets }: CaseLook): Headers => new Map(dockets.map(({ id, header }) => [id, header]));

/** The dockets' heads as they are now. */
export const withHeaders = (look: CaseLook, headers: Headers, headersAt: Instant): CaseLook => ({
  ...look,
  headersAt,
  dockets: look.dockets.map((docket) => ({ ...docket, header: headers.get(docket.id) ?? docket.header })),
});

export interface ListPlace {
  readonly id: string;
  readonly name: ListName;
  readonly list: ListLook;
}

export const listsOf = (look: CaseLook): readonly ListPlace[] =>
  look.dockets.flatMap(({ id, lists }) =>
    Object.entries(lists).map(([name, list]) => ({ id, name: name as ListName, list })),
  );

/** The list to read next; null if all were read. */
export const nextList = (look: CaseLook): ListPlace | null => listsOf(look).find(({ list }) => !list.done) ?? null;

export function withList(look: CaseLook, { id, name }: ListPlace, change: Partial<ListLook>): CaseLook {
  return {
    ...look,
    dockets: look.dockets.map((docket) => {
      const list = docket.lists[name];
      if (docket.id !== id || !list) return docket;
      return { ...docket, lists: { ...docket.lists, [name]: { ...list, ...change } } };
    }),
  };
}

/** Every page counts as shown. */
export const allShown = (look: CaseLook): CaseLook =>
  listsOf(look).reduce<CaseLook>((so, place) => withList(so, place, { shown: place.list.pages.length }), {
    ...look,
    isShown: true,
  });
