/**
 * Reads a pushed body of dockets, which was stored as a file: one docket or a list of them as JSON, one docket per line,
 * or pages of CourtListener in either form. One docket is in memory at a time. What cannot be read is reported with its
 * place, and the rest is still read.
 */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readCourtListenerPage } from '../courtlistener/courtlistener.ts';
import { RESOURCE, readPages } from '../courtlistener/files.ts';
import {
  parse,
  type RawDocketItem,
  readDocketFile,
  serialised,
  sha256,
  type UnreadableItem,
} from '../files/docket-files.ts';
import { splitList } from './split-list.ts';

export type BodyForm = 'json' | 'lines';

/** The name of the file in its folder; the reader of lines knows them by their extension. */
export const bodyFile = (form: BodyForm): string => (form === 'lines' ? 'body.ndjson' : 'body.json');

/** Default limit: each page becomes a file of its own. */
export const MOST_PAGES = 10_000;

type Item = RawDocketItem | UnreadableItem;

/** @param folder holds the body, as {@link bodyFile} names it, and takes the pages found in it */
export async function* readPushedBody(
  folder: string,
  form: BodyForm,
  mostPages: number = MOST_PAGES,
): AsyncGenerator<Item> {
  const path = join(folder, bodyFile(form));
  const pages: string[] = [];
  for await (const item of form === 'lines' ? readDocketFile(path) : readJson(path)) {
    if ('why' in item || readCourtListenerPage(item.value) === null || !isOfCourtListener(item.value)) {
      yield item;
      continue;
    }
    if (pages.length === mostPages) {
      yield {
        where: item.where,
        why: `not read from here on: a body has at most ${mostPages} pages of CourtListener`,
      };
      break;
    }
    // A docket's parts are on several pages, so they are put together once all have come.
    const page = join(folder, `page ${pages.length + 1}${item.where === '' ? '' : `, ${item.where}`}.json`);
    await writeFile(page, JSON.stringify(item.value), { mode: 0o600 });
    pages.push(page);
  }
  for await (const item of readPages(pages)) {
    // Nobody outside needs to know where files are kept.
    yield pages.includes(item.where) ? { ...item, where: basename(item.where, '.json') } : item;
  }
}

async function* readJson(path: string): AsyncGenerator<Item> {
  for await (const split of splitList(createReadStream(path, { highWaterMark: 1024 * 1024 }))) {
    const where = split.index === null ? '' : `[${split.index}]`;
    if ('why' in split) {
      yield { where, why: split.why };
      continue;
    }
    const parsed = parse(split.bytes);
    if ('why' in parsed) {
      yield { where, why: parsed.why };
      continue;
    }
    // Of an item of a list, spaces do not count, as in a file of dockets.
    const own = split.index === null ? split.bytes : serialised(parsed.value);
    if (own === null) yield { where, why: 'is nested too deeply' };
    else yield { where, value: parsed.value, hash: sha256(own), bytes: own.length };
  }
}

/** A docket report may look like a docket of CourtListener, but only the latter names addresses of its API. */
function isOfCourtListener(value: unknown): boolean {
  const { results, next, previous, count, resource_uri: uri } = value as Readonly<Record<string, unknown>>;
  const [first] = Array.isArray(results) ? (results as unknown[]) : [];
  const own = first as Readonly<Record<string, unknown>> | null | undefined;
  return [uri, next, previous, count, own?.resource_uri].some(
    (text) => typeof text === 'string' && RESOURCE.test(text),
  );
}
