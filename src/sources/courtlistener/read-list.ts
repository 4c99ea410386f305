/** Reads one page of a docket's list, whatever the answer holds. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Fault } from '../source.ts';
import type { ListPlace } from './case-look.ts';
import { type CourtListenerClient, fault, isFault, type RequestAsking } from './client.ts';
import { docketIdsOf, idOf, type PageKind } from './courtlistener.ts';
import { keptRow, type ListName } from './kept-rows.ts';

const ENTRIES = { path: 'docket-entries/', omit: 'recap_documents__plain_text', order_by: 'date_modified' } as const;
const PEOPLE = { filter_nested_results: 'True', order_by: 'id' } as const;

/** Rows that change while a list is read move to its end, so none is missed. */
const LISTS: Readonly<Record<ListName, { readonly path: string; readonly kind: PageKind; readonly since?: string }>> = {
  entries: { path: ENTRIES.path, kind: 'entries', since: 'date_modified__gt' },
  // A changed document does not move its entry's date.
  documents: { path: ENTRIES.path, kind: 'entries', since: 'recap_documents__date_modified__gt' },
  parties: { path: 'parties/', kind: 'parties' },
  attorneys: { path: 'attorneys/', kind: 'attorneys' },
};

/** Many times what a page holds. */
const MOST_ROWS = 500;

const Page = z.object({ next: z.string().nullish(), results: z.array(z.unknown()) });

export type ReadPage =
  | {
      /** A row that a page repeats is the same object. */
      readonly rows: readonly JsonObject[];
      /** Where the next page begins; null at the end of the list. */
      readonly cursor: string | null;
      /** The rows are good, but the link to the next page is not. */
      readonly broken: Fault | null;
    }
  /** The cursor is not valid any more. */
  | { readonly again: true }
  | Fault;

/** @throws StorageFailure */
export async function readListPage(
  client: CourtListenerClient,
  { id, name, list: { cursor } }: ListPlace,
  since: Instant | null,
  asking: RequestAsking,
): Promise<ReadPage> {
  const { path, kind, since: changedSince } = LISTS[name];
  const { path: _, ...ofEntries } = ENTRIES;
  const query = {
    docket: id,
    ...(kind === 'entries' ? ofEntries : PEOPLE),
    ...(changedSince === undefined || since === null ? {} : { [changedSince]: since }),
    ...(cursor === null ? {} : { cursor }),
  };
  const reply = await client.send({ path, query }, asking);
  if (isFault(reply)) return reply;
  if ('notFound' in reply && /cursor/i.test(reply.notFound)) return { again: true };
  if (!('ok' in reply)) return fault('unreadable', 'notFound' in reply ? reply.notFound : 'refused');
  const page = Page.safeParse(reply.ok);
  if (!page.success) return fault('unreadable', `not a page of ${path}`);
  const { next, results } = page.data;
  const rows = results
    .slice(0, MOST_ROWS)
    .filter(isJsonObject)
    .filter((row) => docketIdsOf(kind, row).includes(id))
    .map(keptOnce(name, id));
  if (!next) return { rows, cursor: null, broken: null };
  const following = client.cursorOf(next, path);
  const broken = following === null ? fault('unreadable', `the next page of ${path} is not in this list`) : null;
  return { rows, cursor: following, broken };
}

/** A page may hold an entry twenty times, with hundreds of documents each time. */
function keptOnce(name: ListName, docket: string): (row: JsonObject) => JsonObject {
  const kept = new Map<string, JsonObject>();
  return (row) => {
    const id = idOf(row.id);
    const known = id === null ? undefined : kept.get(id);
    const made = known ?? keptRow(name, row, docket);
    if (id !== null) kept.set(id, made);
    return made;
  };
}
