/** Given items in every court's way of writing, what is read of them, and the snapshots that come of it. */
import { describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { type CourtFeed, feedOf } from '../../../src/sources/rss/addresses.ts';
import { readFeed } from '../../../src/sources/rss/feed.ts';
import { readFeedTime, weekdayAt } from '../../../src/sources/rss/feed-time.ts';
import { type ReadItem, readItem } from '../../../src/sources/rss/item.ts';
import { casesOf, snapshotOf } from '../../../src/sources/rss/snapshots.ts';
import { type FeedEntry, feedText } from '../feeds/dialects.ts';

const feedNamed = (code: string): CourtFeed => {
  const court = findCourt(code);
  const feed = court && feedOf(court);
  if (!feed) throw new Error(`${code} has no feed`);
  return feed;
};

const AT = Date.UTC(2026, 5, 18, 19, 58, 37);
const NOW = (AT + 60_000) * 1_000;
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

async function itemsOf(code: string, entries: readonly FeedEntry[]) {
  const feed = await readFeed(Buffer.from(feedText(feedNamed(code), entries, AT, 'all'), 'latin1'), 'text/xml');
  if ('fault' in feed) throw new Error(feed.reason);
  return feed.items.map((item) => readItem(feedNamed(code), item, NOW));
}
async function read(code: string, one: FeedEntry): Promise<ReadItem> {
  const [item] = await itemsOf(code, [one]);
  if (!item || 'unread' in item) throw new Error(`unread: ${item?.unread}`);
  return item;
}
async function snapshots(code: string, entries: readonly FeedEntry[]) {
  const items = (await itemsOf(code, entries)).filter((item): item is ReadItem => !('unread' in item));
  return casesOf(items).map((one) => snapshotOf(feedNamed(code), one, () => true, toInstant(NOW)));
}

describe('an item (docs/design/sources.md#feeds)', () => {
  it('of a district court', async () => {
    const item = await read('ilnd', entry());
    expect(item).toMatchObject({
      caseName: 'Brackwater Tile & Stone, LLC v. Pell',
      event: 'order on motion to dismiss',
      entryNumber: 24,
      documentId: '067130412266',
      sequence: '61',
      at: AT * 1_000,
    });
    expect(item.number.canonical).toBe('1:26-cv-00417');
  });

  it('of one defendant belongs to the case', async () => {
    const item = await read('ilnd', entry({ caseNumber: '1:26-cr-00308-2', caseName: 'USA v. Thack et al' }));
    expect(item).toMatchObject({ caseName: 'USA v. Thack et al' });
    expect(item.number.canonical).toBe('1:26-cr-00308');
  });

  it('without a document has its sequence in the guid', async () => {
    const minute = { number: null, document: null, event: '~Util - Set Hearings', sequence: 17 };
    for (const code of ['ilnd', 'ilcb']) {
      const caseNumber = code === 'ilnd' ? '1:26-cv-00417' : '26-70412';
      expect(await read(code, entry({ ...minute, caseNumber }))).toMatchObject({
        event: '~Util - Set Hearings',
        entryNumber: null,
        documentId: null,
        sequence: '17',
      });
    }
  });

  it('of a bankruptcy court: padding, initials of a judge, a blank chapter, a trustee, a number alone', async () => {
    const item = await read(
      'ilcb',
      entry({
        caseNumber: '26-70398-mpg',
        caseName: 'Osric Fen and Linnet Fen',
        event: 'Add Judge',
        office: '3',
        chapter: '7',
        trustee: 'Wex, Dorian T. [x]'.slice(0, 14),
      }),
    );
    expect(item).toMatchObject({
      caseName: 'Osric Fen and Linnet Fen',
      event: 'Add Judge',
      chapter: '7',
      sequence: '61',
    });
    expect(item.number.canonical).toBe('26-70398');
    const bare = await read('ilcb', entry({ caseNumber: '26-90003', caseName: '', type: 'ap', event: 'Motion, Misc' }));
    expect(bare).toMatchObject({ caseName: '', event: 'Motion, Misc', chapter: null, documentId: '067130412266' });
  });

  it('of a bankruptcy court that writes office and type into its numbers has them from the description', async () => {
    const main = await read('flmb', entry({ caseNumber: '26-01234', office: '8', chapter: '13' }));
    expect(main.number.canonical).toBe('8:26-bk-01234');
    const adversary = await read('flmb', entry({ caseNumber: '26-00034', office: '8', type: 'ap' }));
    expect(adversary.number.canonical).toBe('8:26-ap-00034');
  });

  it('of Eastern New York: sections of text, initials, no document', async () => {
    const item = await read(
      'nyed',
      entry({ caseNumber: '1:26-cv-04240-WFK-SMG', caseName: 'Fern v. Cem & Co.', event: 'Motion to Adjourn' }),
    );
    expect(item).toMatchObject({
      caseName: 'Fern v. Cem & Co.',
      event: 'Motion to Adjourn',
      entryNumber: 24,
      documentId: null,
      sequence: null,
    });
    expect(item.number.canonical).toBe('1:26-cv-04240');
  });

  it('of a court of appeals, whose document may have no number', async () => {
    const one = { caseNumber: '26-1101', document: '00219229396', number: null, partId: 3_920_144 };
    const item = await read('ca10', entry({ ...one, caseName: 'Hale & Sons v. Ruiz' }));
    expect(item).toMatchObject({
      caseName: 'Hale & Sons v. Ruiz',
      entryNumber: null,
      documentId: '00219229396',
      sequence: null,
      partId: '3920144',
      at: AT * 1_000,
    });
    expect(await read('ca2', entry({ ...one, number: 27 }))).toMatchObject({ entryNumber: 27 });
    expect(await read('ca6', entry({ ...one, document: null }))).toMatchObject({ documentId: null, entryNumber: null });
  });

  it('of the panel on multidistrict litigation', async () => {
    const item = await read('jpml', entry({ caseNumber: 'MDL No. 3140', caseName: 'IN RE: Tin Products' }));
    expect(item).toMatchObject({ caseName: 'IN RE: Tin Products' });
    expect(item.number.canonical).toBe('MDL No. 3140');
  });

  it('is left out without a number that can be read, or without a time and an id', async () => {
    expect(
      await itemsOf('ilnd', [entry({ caseNumber: '5:26-~gr-00001' }), entry({ caseNumber: '', caseName: '' })]),
    ).toEqual([{ unread: 'no_case_number' }, { unread: 'no_case_number' }]);
    const item = { title: '1:26-cv-00417 A v. B', link: '', description: '[order]', guid: '', pubDate: '' };
    expect(readItem(feedNamed('ilnd'), item, NOW)).toEqual({ unread: 'nothing_to_tell_it_apart' });
    expect(readItem(feedNamed('ilnd'), { ...item, pubDate: 'Thu, 18 Jun 2099 19:58:37 GMT' }, NOW)).toMatchObject({
      unread: 'nothing_to_tell_it_apart',
    });
  });

  it('has a key that changes with anything that is used of it', async () => {
    const changes = [
      {},
      { event: 'x' },
      { number: 25 },
      { sequence: 62 },
      { document: '067130412267' },
      { at: AT + 1_000 },
    ];
    const keys = await Promise.all(changes.map(async (change) => (await read('ilnd', entry(change))).key));
    expect(new Set(keys).size).toBe(changes.length);
  });

  it('read from hostile text has no invisible or broken characters', async () => {
    const item = {
      title: '1:26-cv-00417 A\u202e v. &amp;#146;B&#0;&#x1F600;&#xD800;',
      link: '',
      description: `[ord\u200ber &amp;amp; [x] more] (<a href="javascript:doc1/067130412266?de_seq_num=999999999999999">24</a>)`,
      guid: '',
      pubDate: 'Thu, 18 Jun 2026 19:58:37 GMT',
    };
    const found = readItem(feedNamed('ilnd'), item, NOW);
    expect(found).toMatchObject({ event: 'order &amp; [x] more', documentId: null, sequence: null });
  });
});

describe('a time of a feed', () => {
  const utc = (text: string, zone = 'America/New_York') => {
    const at = readFeedTime(text, zone);
    return at === null ? null : new Date(at / 1_000).toISOString();
  };
  it.each([
    ['Thu, 18 Jun 2026 19:58:37 GMT', '2026-06-18T19:58:37.000Z'],
    ['Thu, 18 Jun 2026 11:52:07 EDT', '2026-06-18T15:52:07.000Z'],
    ['Thu, 18 Jun 2026 11:52:07 EST', '2026-06-18T15:52:07.000Z'],
    ['Thu, 15 Jan 2026 11:52:07 EST', '2026-01-15T16:52:07.000Z'],
    ['Thu, 15 Jan 2026 11:52:07 EDT', '2026-01-15T16:52:07.000Z'],
    ['Thu, 18 Jun 2026 11:52:07 MST', '2026-06-18T17:52:07.000Z'],
    ['Thu, 18 Jun 2026 11:52:07 PST', '2026-06-18T18:52:07.000Z'],
    ['Thu, 18 Jun 2026 11:52:07', '2026-06-18T15:52:07.000Z'],
    ['18 Jun 2026 11:52:07 -0400', '2026-06-18T15:52:07.000Z'],
    // The night of 8 March 2026: 02:30 did not exist; and of 1 November, when 01:30 was twice.
    ['Sun, 08 Mar 2026 01:59:59 EST', '2026-03-08T06:59:59.000Z'],
    ['Sun, 08 Mar 2026 03:00:00 EST', '2026-03-08T07:00:00.000Z'],
    ['Sun, 01 Nov 2026 00:59:59 EST', '2026-11-01T04:59:59.000Z'],
    ['Sun, 01 Nov 2026 02:00:00 EST', '2026-11-01T07:00:00.000Z'],
  ])('%s is %s', (text, expected) => expect(utc(text)).toBe(expected));

  it('with the letters of its court’s zone is the court’s own: Arizona has no summer time', () => {
    expect(utc('Thu, 18 Jun 2026 11:52:07 MST', 'America/Phoenix')).toBe('2026-06-18T18:52:07.000Z');
    expect(utc('Thu, 18 Jun 2026 11:52:07 MST', 'America/Denver')).toBe('2026-06-18T17:52:07.000Z');
  });

  it.each([
    '',
    'yesterday',
    'Thu, 31 Jun 2026 11:00:00 GMT',
    'Thu, 18 Jun 2026 24:00:00 GMT',
    'Thu, 18 Jun 26 11:00:00 GMT',
    'Thu, 18 Jun 2026 11:00:00 XYZ',
    `${' '.repeat(100)}1`,
  ])('%j is none', (text) => expect(utc(text)).toBeNull());

  it('belongs to the day of the court', () => {
    const at = Date.UTC(2026, 5, 20, 3) * 1_000;
    expect([weekdayAt('America/New_York', at), weekdayAt('UTC', at)]).toEqual([5, 6]);
  });
});

describe('snapshots of a feed', () => {
  it('are partial, one for each case, with stubs in the order of the docket', async () => {
    const [first, second, ...others] = await snapshots('ilnd', [
      entry({ number: 25, sequence: 63, document: '067130412270', event: 'reply', at: AT + 5_000 }),
      entry({ caseNumber: '3:26-cv-50077', caseName: 'Mar & Finch Co. v. Ost', sequence: 5, event: 'complaint' }),
      entry(),
    ]);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ caseNumber: '1:26-cv-00417', complete: false, isBrief: true, source: 'rss' });
    expect(first?.header).toMatchObject({
      caseName: 'Brackwater Tile & Stone, LLC v. Pell',
      caseType: 'civil',
      dateFiled: null,
    });
    expect(first?.entries.map(({ entryNumber }) => entryNumber)).toEqual([24, 25]);
    expect(first?.entries[0]).toMatchObject({
      dateFiled: null,
      filedAt: null,
      dateEntered: '2026-06-18',
      enteredAt: '2026-06-18T19:58:37.000000Z',
      description: '',
      shortDescription: 'order on motion to dismiss',
      documentIdentifier: '067030412266',
      documentIdentifierType: 'pacer_doc_id',
      sourceIds: { pacer_seq_no: '61' },
      externalUrl: 'https://ecf.ilnd.uscourts.gov/doc1/067030412266',
    });
    expect(second?.header.caseName).toBe('Mar & Finch Co. v. Ost');
  });

  it('have the day of the court, and midnight as a time', async () => {
    const night = Date.UTC(2026, 5, 19, 5, 0, 0);
    const [snapshot] = await snapshots(
      'ilnd',
      [entry({ at: night })].map((one) => ({ ...one, at: night - 36_000_000 })),
    );
    expect(snapshot?.entries[0]).toMatchObject({ dateEntered: '2026-06-18' });
    const items = [await read('ilnd', entry({ at: Date.UTC(2026, 5, 18, 5, 0, 0) }))];
    const [one] = casesOf(items);
    const own = one && snapshotOf(feedNamed('ilnd'), one, () => true, toInstant(NOW));
    expect(own?.entries[0]).toMatchObject({ dateEntered: '2026-06-18', enteredAt: '2026-06-18T05:00:00.000000Z' });
  });

  it('merge two events of one entry, and only those', async () => {
    const [snapshot] = await snapshots('ilnd', [
      entry({ event: 'order on motion to dismiss' }),
      entry({ event: 'memorandum opinion and order' }),
      entry({ event: 'memorandum opinion and order' }),
      entry({ event: 'order', sequence: 62 }),
    ]);
    expect(snapshot?.entries.map(({ shortDescription }) => shortDescription)).toEqual([
      'order',
      'memorandum opinion and order AND order on motion to dismiss',
    ]);
  });

  it('mask what no docket may show', async () => {
    const [snapshot] = await snapshots('ilnd', [entry({ event: 'letter from a@example.com, 555-867-5309' })]);
    expect(snapshot?.entries[0]?.shortDescription).not.toMatch(/example|867/);
  });

  it('show an appellate order in two cases in both', async () => {
    const order = { document: '00219229372', number: null, partId: 3_920_151, event: 'Order FILED' };
    const both = await snapshots('cadc', [
      entry({ ...order, caseNumber: '26-1104' }),
      entry({ ...order, caseNumber: '26-1105' }),
    ]);
    expect(both.map((one) => [one?.caseNumber, one?.entries[0]?.sourceIds])).toEqual([
      ['26-1104', { appellate_part_id: '3920151' }],
      ['26-1105', { appellate_part_id: '3920151' }],
    ]);
  });
});
