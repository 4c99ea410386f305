/** Given bodies as courts and broken servers send them, what is read of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { type CourtFeed, feedOf } from '../../../src/sources/rss/addresses.ts';
import { type Feed, readFeed } from '../../../src/sources/rss/feed.ts';
import { readItem } from '../../../src/sources/rss/item.ts';
import { type FeedEntry, feedText } from '../feeds/dialects.ts';

const feedNamed = (code: string): CourtFeed => {
  const court = findCourt(code);
  const feed = court && feedOf(court);
  if (!feed) throw new Error(`${code} has no feed`);
  return feed;
};

const AT = Date.UTC(2026, 5, 18, 19, 58, 37);
const entry = (more: Partial<FeedEntry> = {}): FeedEntry => ({
  caseNumber: '1:26-cv-00417',
  caseName: 'Brackwater Tile & Stone, LLC v. Pell',
  event: 'order on motion to dismiss',
  at: AT,
  pacerCaseId: '489903',
  number: 24,
  document: '067130412266',
  sequence: 61,
  ...more,
});
const TYPES = 'Docket entries of type: all';
const body = (text: string, encoding: BufferEncoding = 'latin1'): Buffer => Buffer.from(text, encoding);
const read = async (text: string | Buffer, type?: string): Promise<Feed> => {
  const feed = await readFeed(typeof text === 'string' ? body(text) : text, type);
  if ('fault' in feed) throw new Error(`${feed.fault}: ${feed.reason}`);
  return feed;
};
const one = (title: string, declaration = ''): string =>
  `${declaration}<rss><channel><item><title>${title}</title></item></channel></rss>`;

describe('a feed (docs/design/sources.md#feeds)', () => {
  it('has a title, the types of its entries, the time that it was built at, and items', async () => {
    const feed = await read(feedText(feedNamed('ilnd'), [entry(), entry({ number: 25 })], AT + 90_000, TYPES));
    expect(feed).toMatchObject({ types: TYPES, builtAt: 'Thu, 18 Jun 2026 20:00:07 GMT', whole: true });
    expect(feed.title).toContain('Northern District of Illinois - Recent Entries');
    expect(feed.items).toHaveLength(2);
    expect(feed.items[0]).toMatchObject({
      link: 'https://ecf.ilnd.uscourts.gov/cgi-bin/DktRpt.pl?489903',
      guid: 'https://ecf.ilnd.uscourts.gov/cgi-bin/DktRpt.pl?489903&61',
      pubDate: 'Thu, 18 Jun 2026 19:58:37 GMT',
    });
    expect(feed.items[0]?.description).toContain('doc1/067130412266?caseid=489903&de_seq_num=61" >24</a>)');
  });

  it('may have its time in `pubDate` only', async () => {
    expect((await read(feedText(feedNamed('ilnb'), [], AT, TYPES))).builtAt).toBe('Thu, 18 Jun 2026 19:58:37 GMT');
  });

  it('that was cut off keeps its whole items, and is not whole: at every byte', async () => {
    const text = feedText(feedNamed('ilnd'), [entry(), entry({ number: 25 }), entry({ number: 26 })], AT, TYPES);
    const ends = [...text.matchAll(/<\/item>/g)].map(({ index }) => index + '</item>'.length);
    for (let cut = text.indexOf('<channel>') + 9; cut < text.lastIndexOf('</rss>'); cut += 7) {
      const feed = await read(text.slice(0, cut));
      expect(feed.whole).toBe(false);
      expect(feed.items).toHaveLength(ends.filter((end) => end <= cut).length);
    }
  });

  it.each([
    ['an empty body', '', 'unreadable'],
    ['white space', ' \r\n\t ', 'unreadable'],
    ['a page', '<!DOCTYPE html><html><head><title>503</title></head></html>', 'unavailable'],
    ['a page without a type', '\n<HTML><body>404</body></HTML>', 'unavailable'],
    ['text', 'Service Unavailable', 'unreadable'],
    ['JSON', '{"error":"not found"}', 'unreadable'],
    ['other XML', '<?xml version="1.0"?><error/>', 'unreadable'],
    ['a document type', `<!DOCTYPE rss SYSTEM "http://x/y.dtd">${one('a')}`, 'unreadable'],
    ['entities', `<!DOCTYPE rss [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${one('&c;')}`, 'unreadable'],
    ['a declaration inside', one('<!ENTITY a b>'), 'unreadable'],
    ['nesting', `<rss><channel>${'<a>'.repeat(100_000)}`, 'unreadable'],
    ['too many items', `<rss><channel>${'<item></item>'.repeat(20_001)}`, 'unreadable'],
    [
      'an unconfigured feed',
      one('').replace(/<item>.*<\/item>/, '<description>RSS is not configured.</description>'),
      'unavailable',
    ],
  ])('is refused: %s', async (_, text, fault) => {
    expect(await readFeed(body(text), 'text/xml')).toMatchObject({ fault });
  });

  it('is refused in UTF-16 and in unknown encodings', async () => {
    expect(await readFeed(Buffer.from(`\ufeff${one('a')}`, 'utf16le'), undefined)).toMatchObject({
      fault: 'unreadable',
    });
    expect(await readFeed(body(one('a')), 'text/xml; charset=ebcdic')).toMatchObject({ fault: 'unreadable' });
  });

  it('never resolves an entity that is not one of HTML', async () => {
    expect((await read(one('&xxe; &lt;&#x3C;'))).items[0]?.title).toBe('&xxe; <<');
  });

  it('with bare ampersands, sections of text and elements that are not closed is read', async () => {
    expect((await read(one('Smith & Sons'))).items[0]?.title).toBe('Smith & Sons');
    expect((await read(one('<![CDATA[a <b> & c]]> d'))).items[0]?.title).toBe('a <b> & c d');
    expect((await read(one('a</title><link>x<guid>y</guid>'))).items).toHaveLength(1);
  });

  it('keeps no more than 4,000 characters of a field', async () => {
    expect((await read(one('é'.repeat(300_000)))).items[0]?.title).toHaveLength(4_000);
  });

  const letters = 'Société “Bråvin” – Peña-Ñez';
  const windows = Buffer.concat([
    body("<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><item><title>Soci"),
    Buffer.from([0xe9]),
    body('t'),
    Buffer.from([0xe9, 0x20, 0x93]),
    body('Br\u00e5vin'),
    Buffer.from([0x94, 0x20, 0x96]),
    body(' Pe\u00f1a-\u00d1ez</title></item></channel></rss>'),
  ]);
  it.each([
    ['ISO-8859-1 as Windows-1252, by its declaration', windows, 'text/xml'],
    ['by the header', windows, 'text/xml; charset="windows-1252"'],
    ['UTF-8 by its declaration', Buffer.from(one(letters, '<?xml version="1.0" encoding="utf-8"?>')), undefined],
    ['UTF-8 by the header', Buffer.from(one(letters)), 'text/xml;charset=UTF-8'],
    [
      'UTF-8 by its mark',
      Buffer.from(`\ufeff${one(letters, '<?xml version="1.0" encoding="ISO-8859-1"?>')}`),
      'text/xml',
    ],
    ['neither declared nor labelled', Buffer.from(one(letters)), 'text/xml'],
    [
      'declared as UTF-8, which it is not',
      Buffer.from(windows.toString('latin1').replace('ISO-8859-1', 'UTF-8'), 'latin1'),
      'text/xml',
    ],
  ])('has the right letters: %s', async (_, bytes, type) => {
    expect((await read(bytes, type)).items[0]?.title).toBe(letters);
  });

  it('cut inside a character is read up to there', async () => {
    const whole = Buffer.from(`<rss><channel><item><title>a</title></item><item><title>é`);
    expect((await read(whole.subarray(0, -1), 'text/xml; charset=utf-8')).items).toHaveLength(1);
  });

  it('never throws and stays bounded, for any change of a real one', async () => {
    const texts = (['ilnd', 'ilcb', 'nyed', 'ca2'] as const).map((code) => ({
      court: feedNamed(code),
      text: feedText(feedNamed(code), [entry(), entry({ number: null, document: null })], AT, TYPES),
    }));
    const change = fc.tuple(
      fc.nat(),
      fc.nat(40),
      fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.constantFrom(
          '<',
          '>',
          '&',
          ']]>',
          '<![CDATA[',
          '<item>',
          '</item>',
          '<!--',
          '&#x0;',
          '&#x110000;',
          '<?',
          '[[[',
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...texts),
        fc.array(change, { maxLength: 12 }),
        async ({ court, text }, changes) => {
          let changed = text;
          for (const [at, length, inserted] of changes) {
            const place = at % (changed.length + 1);
            changed = changed.slice(0, place) + inserted + changed.slice(place + length);
          }
          const feed = await readFeed(body(changed), undefined);
          if ('fault' in feed) return;
          expect(feed.items.length).toBeLessThanOrEqual(changed.length / 6);
          for (const item of feed.items) {
            const found = readItem(court, item, AT * 1_000);
            if ('unread' in found) continue;
            expect(found.event.length).toBeLessThanOrEqual(4_000);
            expect(found.key).toMatch(/^[\w-]{10}$/);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it.each([
    ['attributes', `<rss><channel><item ${'a="b" '.repeat(150_000)}>`],
    ['one attribute', `<rss a="${'x'.repeat(2_000_000)}`],
    ['open links', `<rss><channel><item><description>${'&lt;a '.repeat(300_000)}</description></item></channel></rss>`],
    ['closing tags', `<rss><channel>${'</x>'.repeat(400_000)}`],
    ['references', `<rss><channel><title>${'&#x41;'.repeat(300_000)}`],
    ['a reference without an end', `<rss><channel><title>&${'a'.repeat(2_000_000)}`],
    ['comments', `<rss><channel>${'<!-- -'.repeat(300_000)}`],
    ['a document type without an end', `<!DOCTYPE rss [${'<!ENTITY a "b">'.repeat(100_000)}`],
  ])('of 2 MB of %s is read or refused, in bounded memory', async (_, text) => {
    const feed = await readFeed(body(text), undefined);
    if ('fault' in feed) return;
    for (const item of feed.items) expect(readItem(feedNamed('ilnd'), item, AT * 1_000)).toBeDefined();
    expect(JSON.stringify(feed).length).toBeLessThan(100_000);
  });
});
