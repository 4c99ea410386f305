import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListedPage, whyPartialList } from '../../../src/sources/courtlistener/chain.ts';

const LIST = 'https://list.example/api/rest/v4/docket-entries/';
const QUERY = 'docket=7&omit=recap_documents__plain_text&order_by=date_modified';
const address = (parameters: string) => `${LIST}?${parameters}&${QUERY}`;

/** Pages of a list, 20 rows each, as the API links them: a page's own cursor is in the address that counts its list. */
function cursorPages(count: number): ListedPage[] {
  return Array.from({ length: count }, (_, at) => ({
    links: {
      count: at === 0 ? address('count=on') : address(`count=on&cursor=f${at}`),
      next: at === count - 1 ? null : address(`cursor=f${at + 1}`),
      previous: at === 0 ? null : address(`cursor=r${at}`),
    },
    ...rows(at),
  }));
}
const rows = (at: number) => {
  const numbers = Array.from({ length: 20 }, (_, row) => at * 20 + row + 1);
  return { numbers, ids: numbers.map((number) => String(9_000 + number)) };
};
const numberedPages = (count: number): ListedPage[] =>
  Array.from({ length: count }, (_, at) => ({
    links: {
      count: count * 20,
      next: at === count - 1 ? null : address(`page=${at + 2}`),
      previous: at === 0 ? null : at === 1 ? address('') : address(`page=${at}`),
    },
    ...rows(at),
  }));
/** Saved without the address of the count: links in both directions name the pages alike. */
const namedPages = (count: number): ListedPage[] =>
  Array.from({ length: count }, (_, at) => ({
    links: {
      count: null,
      next: at === count - 1 ? null : address(`cursor=c${at + 2}`),
      previous: at === 0 ? null : address(`cursor=c${at}`),
    },
    ...rows(at),
  }));

describe('saved pages of a list of docket entries', () => {
  it.each([
    ['by cursor', cursorPages],
    ['by number', numberedPages],
    ['without the count', namedPages],
  ])('linked %s are complete in any order and if saved twice, but never without one of them', (_name, pagesOf) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.nat(), fc.integer(), (count, missing, seed) => {
        const pages = pagesOf(count);
        const shuffled = [...pages, pages[missing % count]!].sort(
          (a, b) => ((a.numbers[0]! * seed) % 7) - ((b.numbers[0]! * seed) % 7),
        );
        expect(whyPartialList(shuffled)).toBeNull();
        expect(whyPartialList(pages.filter((_page, at) => at !== missing % count))).not.toBeNull();
        if (count > 2) expect(whyPartialList([pages[0]!, pages[count - 1]!])).not.toBeNull();
      }),
    );
  });

  it('say which of them is missing', () => {
    const pages = cursorPages(3);
    expect(whyPartialList([])).toMatch(/no page/);
    expect(whyPartialList(pages.slice(1))).toMatch(/first page/);
    expect(whyPartialList(pages.slice(0, 2))).toMatch(/last page/);
    expect(whyPartialList([pages[0]!, pages[2]!])).toMatch(/between/);
  });

  it.each(['date_modified__gt=2024-02-01', 'entry_number__lte=50', 'recap_documents__is_available=true'])(
    'that were filtered by %s are partial, even if there is only one page',
    (filter) => {
      const [page] = cursorPages(1);
      const filtered = { ...page!, links: { ...page!.links!, count: address(`count=on&${filter}`) } };
      expect(whyPartialList([page!])).toBeNull();
      expect(whyPartialList([filtered])).toContain(filter.split('=')[0]);
    },
  );

  it('are partial if an entry was saved alone', () => {
    expect(whyPartialList([{ links: null, ids: ['1'], numbers: [1] }])).toMatch(/one by one/);
  });

  it('are assessed for any addresses', () => {
    const link = fc.option(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), { nil: null });
    const count = fc.oneof(link, fc.double());
    const links = fc.option(fc.record({ next: link, previous: link, count }), { nil: null });
    const page = fc.record({ links, ids: fc.array(fc.string()), numbers: fc.array(fc.integer()) });
    fc.assert(fc.property(fc.array(page), (pages) => ['string', 'object'].includes(typeof whyPartialList(pages))));
  });
});
