/**
 * Saved pages of CourtListener among the files of an import. A docket's parts are in several files, so they are read
 * twice: once to find out which belongs to which docket, then docket by docket. Only the dockets' own heads stay in
 * memory.
 */
import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import type { JsonObject } from '../../events/event.ts';
import { MAX_DOCKET_BYTES, parse, type RawDocketItem, type UnreadableItem } from '../files/docket-files.ts';
import { type ListedPage, whyPartialList } from './chain.ts';
import { composeDocket, docketIdsOf, idOf, type PageKind, readCourtListenerPage } from './courtlistener.ts';

const SNIFFED_BYTES = 16 * 1024;
/** A page begins with its neighbours or its results; every saved object names resources of this API. */
const OF_COURTLISTENER = /"(?:results|resource_uri)"\s*:/;
/** The address of a resource of CourtListener's API. */
export const RESOURCE = /\/api\/rest\/v\d(?:\.\d{1,2})?\//;

/** Separates saved pages from other files by how they begin. */
export async function separatePages(
  files: readonly string[],
): Promise<{ readonly pages: readonly string[]; readonly others: readonly string[] }> {
  const pages: string[] = [];
  const others: string[] = [];
  for (const file of files) ((await beginsAsPage(file)) ? pages : others).push(file);
  return { pages, others };
}

async function beginsAsPage(file: string): Promise<boolean> {
  if (!/\.json$/i.test(file)) return false;
  const handle = await open(file).catch(() => null);
  if (!handle) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
    const start = buffer.toString('utf8', 0, bytesRead);
    return OF_COURTLISTENER.test(start) && RESOURCE.test(start);
  } finally {
    await handle.close();
  }
}

interface KnownDocket {
  docket: JsonObject | null;
  readonly files: Readonly<Record<PageKind, Set<string>>>;
  /** Pages of its entries, by file. */
  readonly entryPages: Map<string, ListedPage>;
}

/** Every docket on the pages, assembled. A docket with missing entries counts as partial. */
export async function* readPages(files: readonly string[]): AsyncGenerator<RawDocketItem | UnreadableItem> {
  const dockets = new Map<string, KnownDocket>();
  for (const file of files) {
    const page = await readPage(file);
    if ('why' in page) {
      yield page;
      continue;
    }
    const { kind, results, links } = page;
    for (const result of results) {
      for (const id of docketIdsOf(kind, result)) {
        const known = dockets.get(id) ?? unknownDocket();
        dockets.set(id, known);
        known.files[kind].add(file);
        if (kind === 'dockets') known.docket = result;
        if (kind === 'entries' && !known.entryPages.has(file)) known.entryPages.set(file, listed(links, results));
      }
    }
  }
  for (const [id, known] of dockets) {
    const where = `docket ${id}`;
    const { docket, files: parts } = known;
    if (docket === null) {
      // Attorneys list all dockets that they appear in, whether those were saved or not.
      if (parts.entries.size + parts.parties.size === 0) continue;
      yield { where, why: `its own page is not among the files: save /dockets/${id}/ with them` };
      continue;
    }
    const [entries, parties, attorneys] = await Promise.all(
      [parts.entries, parts.parties, parts.attorneys].map((names) => resultsOf(names)),
    );
    const value = composeDocket({
      id,
      docket,
      entries: entries ?? [],
      parties: parties ?? [],
      attorneys: attorneys ?? [],
    });
    const bytes = Buffer.from(JSON.stringify(value));
    const hash = createHash('sha256').update(bytes).digest('hex');
    const why = whyPartialList([...known.entryPages.values()]);
    const note = why === null ? {} : { note: `${why}: imported as part of the docket, as with --partial` };
    yield { where, value, hash, bytes: bytes.length, complete: why === null, ...note };
  }
}

const unknownDocket = (): KnownDocket => ({
  docket: null,
  files: { dockets: new Set(), entries: new Set(), parties: new Set(), attorneys: new Set() },
  entryPages: new Map(),
});

const listed = (links: ListedPage['links'], results: readonly JsonObject[]): ListedPage => ({
  links,
  ids: results.flatMap(({ id }) => idOf(id) ?? []),
  numbers: results.flatMap(({ entry_number: number }) => (typeof number === 'number' ? [number] : [])),
});

async function resultsOf(files: ReadonlySet<string>): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (const file of files) {
    const page = await readPage(file);
    if ('results' in page) all.push(...page.results);
  }
  return all;
}

async function readPage(file: string) {
  try {
    const bytes = await readFile(file);
    if (bytes.length > MAX_DOCKET_BYTES) return { where: file, why: `has ${bytes.length} bytes` };
    const parsed = parse(bytes);
    if ('why' in parsed) return { where: file, why: parsed.why };
    const page = readCourtListenerPage(parsed.value);
    return page ?? { where: file, why: 'is not a page of dockets, docket entries, parties or attorneys, or is empty' };
  } catch (error) {
    return { where: file, why: error instanceof Error ? error.message.slice(0, 300) : 'cannot be read' };
  }
}
