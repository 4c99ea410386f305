/**
 * Decides whether saved pages are a whole list of CourtListener's. A page does not name itself. It is named by the
 * address that counts its list, if that was saved with it, and by the links of its neighbours. Pure.
 */
import type { PageLinks } from './courtlistener.ts';

/** One saved page, and its entries of the docket in question. */
export interface ListedPage {
  readonly links: PageLinks | null;
  /** Ids of its results. */
  readonly ids: readonly string[];
  /** Entry numbers among them. */
  readonly numbers: readonly number[];
}

/** Parameters that exclude entries of a docket. */
const FILTER =
  /^(?:id|entry_number|pacer_sequence_number|date_(?:filed|created|modified)|recap_documents?)(?:__\w+)?!?$/;
/** The first page has no cursor. */
const FIRST = '';

/** Why the pages are not the whole list; null if they are. */
export function whyPartialList(all: readonly ListedPage[]): string | null {
  const pages = [...new Map(all.map((page) => [JSON.stringify([page.links, page.ids]), page])).values()];
  if (pages.length === 0) return 'no page of its entries is among the files';
  const links = pages.flatMap((page) => page.links ?? []);
  if (links.length < pages.length) return 'entries saved one by one do not prove that they are complete';
  const filter = links.map(filterOf).find((name) => name !== null);
  if (filter) return `the list was filtered by ${filter}`;
  if (!links.some(({ previous }) => previous === null)) return 'the first page of its entries is missing';
  if (!links.some(({ next }) => next === null)) return 'the last page of its entries is missing';
  if (pages.length === 1) return null;
  return isChain(pages, links)
    ? null
    : 'pages between the first and the last are missing, or cannot be proved to be complete';
}

/** The name of a parameter that excludes entries, or null. */
function filterOf({ next, previous, count }: PageLinks): string | null {
  for (const address of [next, previous, count]) {
    if (typeof address !== 'string') continue;
    for (const [name, value] of parametersOf(address)) {
      if (value !== '' && FILTER.test(name)) return name.slice(0, 60);
    }
  }
  return null;
}

function isChain(pages: readonly ListedPage[], links: readonly PageLinks[]): boolean {
  const total = links.map(({ count }) => count).find((count) => typeof count === 'number');
  if (total !== undefined) return new Set(pages.flatMap(({ ids }) => ids)).size >= total;
  return isLinked(links) || isNamedByNeighbours(pages, links);
}

/** Whether, from the first page to the last, each page's next page is present. */
function isLinked(links: readonly PageLinks[]): boolean {
  const byOwn = new Map(links.map((one) => [ownCursor(one), one]));
  for (let page = byOwn.get(FIRST), steps = 0; page !== undefined && steps <= links.length; steps++) {
    if (page.next === null) return true;
    page = byOwn.get(cursorOf(page.next) ?? undefined);
  }
  return false;
}

/** The cursor that requests a page; undefined if the page does not show it. */
function ownCursor({ previous, count }: PageLinks): string | undefined {
  if (previous === null) return FIRST;
  return (typeof count === 'string' ? cursorOf(count) : null) ?? undefined;
}

/**
 * Used if the address of the count is missing. If links in both directions use the same names for pages, the page after
 * the next is the one whose `previous` is this one's `next`. Two pages have no name in common; there the entry numbers
 * must continue without a gap.
 */
function isNamedByNeighbours(pages: readonly ListedPage[], links: readonly PageLinks[]): boolean {
  const oneBetween = links.some(({ next }) => next !== null && links.some(({ previous }) => previous === next));
  if (links.length === 2) return !oneBetween && numbersGoOn(pages);
  const start = links.find(({ previous }) => previous === null);
  const second = links.find((page) => page !== start && !links.some(({ next }) => next === page.previous));
  if (!start || !second) return false;
  const [odd, even] = [everyOther(start, links), everyOther(second, links)];
  if (odd.length + even.length !== links.length || odd.length - even.length !== links.length % 2) return false;
  const last = links.length % 2 === 1 ? odd.at(-1) : even.at(-1);
  return last?.next === null;
}

function everyOther(start: PageLinks, links: readonly PageLinks[]): readonly PageLinks[] {
  const found: PageLinks[] = [];
  for (let page: PageLinks | undefined = start; page && found.length <= links.length; ) {
    found.push(page);
    const { next }: PageLinks = page;
    page = next === null ? undefined : links.find(({ previous }) => previous === next);
  }
  return found;
}

function numbersGoOn(pages: readonly ListedPage[]): boolean {
  const [a, b] = pages.map(({ numbers }) => numbers);
  if (!a?.length || !b?.length) return true;
  const [earlier, later] = Math.min(...a) <= Math.min(...b) ? [a, b] : [b, a];
  return Math.min(...later) <= Math.max(...earlier) + 1;
}

/** `cursor=…` or `page=…` of an address. */
function cursorOf(address: string): string | null {
  const parameters = new Map(parametersOf(address));
  return parameters.get('cursor') || parameters.get('page') || null;
}

function parametersOf(address: string): readonly (readonly [string, string])[] {
  const query = address.slice(address.indexOf('?') + 1, 8_192);
  return address.includes('?') ? [...new URLSearchParams(query)] : [];
}
