/** One docket as different reports and feeds write it: sheets, docket histories, feeds, case queries. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSameReport, textKey } from '../../src/dockets/text.ts';
import { readDelta } from '../../src/queries/case-delta.ts';
import { rawDocket, rawEntry } from './raw-docket.ts';
import { bodyOf, openWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const CASE = ['cand', '3:24-cv-01234'] as const;
const NOTHING_NEW = { newFilings: 0, baselineFilings: 0, revised: 0, merged: 0 };
const history = async () => bodyOf(await world.ask(...CASE, { context: 'full' })).case.docket_history;
const delta = async (lastChecked: string) => bodyOf(await world.ask(...CASE, { lastChecked })).delta;
const later = () => world.clock.advance(60_000);

/**
 * The content of both reports: number, day and text with `{n}` for another entry's number, `{#n}` for an attachment's.
 */
const TOLD = [
  [
    21,
    '2024-03-04',
    'MOTION for Leave to Amend 3 Counts by Sample Person (Attachments: # {#1} Exhibit A, # {#2} Declaration)',
  ],
  [22, '2024-03-05', 'RESPONSE re {21} MOTION for Leave to Amend filed by Example Corporation.'],
  [
    null,
    '2024-03-06',
    'ORDER granting {21} Motion; denying {18}, {19} and {20} Motions as moot. Signed on 3/6/2024. (abc)',
  ],
  [23, '2024-03-07', 'REPLY to {22-1} Declaration in support of {21}{22} Papers (Sample, Sam)'],
] as const;
const sheet = (text: string, day: string) =>
  `${text.replace(/\}\{(?=\d)/g, '} {').replace(/\{#?([\d-]+)\}/g, '$1')} (Entered: ${day.slice(5, 7)}/${day.slice(8)}/${day.slice(0, 4)})`;
const told = (text: string) => text.replace(/\{#(\d+)\}/g, '($1)').replace(/\{([\d-]+)\}/g, '[$1]');
const reportOf = (write: (text: string, day: string) => string) =>
  rawDocket(TOLD.map(([number, day, text]) => rawEntry(number, day, write(text, day), { ids: false })));

describe('a docket sheet and a docket history', () => {
  it.each([
    ['sheet first', sheet, told],
    ['history first', told, sheet],
  ])('are one docket, %s: nothing is new and nothing revised', async (_name, first, second) => {
    await world.ingest(reportOf(first));
    const { queriedAt } = await world.ask(...CASE);
    later();
    expect(await world.ingest(reportOf(second))).toMatchObject({ ...NOTHING_NEW, unchanged: TOLD.length });
    expect(await delta(queriedAt)).toMatchObject({ changed: false, new_filings: [], updated_filings: [] });
  });

  it('show real changes', async () => {
    await world.ingest(reportOf(sheet));
    later();
    const changed = reportOf((text) => told(text.replace('granting', 'denying')));
    const report = await world.ingest(changed);
    expect(report.newFilings + report.revised).toBeGreaterThan(0);
    expect((await history()).some(({ description }: { description: string }) => /denying/.test(description))).toBe(
      true,
    );
  });

  it('have the same text however they write numbers, and different texts if the numbers differ', () => {
    const word = fc.constantFrom(
      'Motion',
      'ORDER granting',
      're',
      'and',
      'Exhibit',
      'filed by Sample.',
      'Count',
      '(abc)',
    );
    const piece = fc.oneof(
      word.map((text) => ({ text })),
      fc.integer({ min: 1, max: 999 }).map((entry) => ({ text: `{${entry}}` })),
      fc.integer({ min: 1, max: 99 }).map((part) => ({ text: `# {#${part}}` })),
    );
    const texts = fc.array(piece, { minLength: 1, maxLength: 12 }).map((all) => all.map(({ text }) => text).join(' '));
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const bare = sheet(a, '2024-03-04');
        expect(textKey(bare)).toBe(textKey(told(a)));
        expect(isSameReport(bare, told(a))).toBe(true);
        const differ = a.replace(/[{}#]/g, '').replace(/\s+/g, ' ') !== b.replace(/[{}#]/g, '').replace(/\s+/g, ' ');
        const [one, other] = [a, b].map((text) => sheet(text, '2024-03-04').replace(/[.\s]+(?=\(Entered)/, ' '));
        if (differ && one!.toLowerCase() !== other!.toLowerCase()) expect(isSameReport(one!, told(b))).toBe(false);
      }),
    );
  });

  it.each([
    ['RESPONSE re [10] Motion', 'RESPONSE re 11 Motion'],
    ['RESPONSE re [10] Motion', 'RESPONSE re Motion'],
    ['RESPONSE re [10][11] Motions', 'RESPONSE re 1011 Motions'],
    ['MOTION (Attachments: # (1) Exhibit A)', 'MOTION (Attachments: # 2 Exhibit A)'],
    ['MOTION (Attachments: # (1) Exhibit A)', 'MOTION (Attachments: Exhibit A)'],
    ['ORDER Modified on 3/4/2024 (abc).', 'ORDER'],
    ['NOTICE by Counsel', 'NOTICE by counsel'],
  ])('do not treat %s and %s as the same text', (a, b) => {
    expect(isSameReport(a, b)).toBe(false);
  });
});

describe('an entry of a feed, without text or document', () => {
  const stub = (number: number | null, at: string, name: string | null) => ({
    document_number: number,
    date_filed: at,
    description: '',
    short_description: name,
    pacer_doc_id: null,
    pacer_seq_no: null,
  });
  const full = (number: number | null, filed: string, entered: string, text: string) =>
    rawEntry(number, filed, text, { ids: false, date_entered: entered });

  it.each([
    ['the same day', '2024-06-04', '2024-06-04'],
    ['weeks before', '2024-05-13', '2024-06-04'],
    ['a day after it was dated', '2024-06-03', '2024-06-04'],
    ['on a day that no source names', '2024-01-09', '2024-02-20'],
  ])('with a number matches the full entry, filed %s, in either order', async (_name, filed, entered) => {
    const feed = rawDocket([stub(315, '2024-06-05T01:20:36+00:00', 'Extension of Time to File Response/Reply')]);
    const docket = rawDocket([full(315, filed, entered, 'MOTION to extend by Sample Person')]);
    for (const first of [feed, docket]) {
      const second = first === feed ? docket : feed;
      await world.ingest(first, { complete: first === docket });
      const { queriedAt } = await world.ask(...CASE);
      later();
      expect(await world.ingest(second, { complete: second === docket })).toMatchObject({ newFilings: 0 });
      expect((await delta(queriedAt)).new_filings).toEqual([]);
      const [only, ...more] = await history();
      expect([only.entry_number, more]).toEqual([315, []]);
      // The docket sheet knows the day of filing; a feed only that of entry.
      expect(
        only.filed_at === null
          ? null
          : new Date(only.filed_at).toLocaleDateString('sv-SE', { timeZone: 'America/Los_Angeles' }),
      ).toBe(filed);
      await world.close();
      world = await openWorld();
    }
  });

  it('without a number matches the entry of its day with a similar text, once each', async () => {
    const day = '2024-06-04';
    const docket = rawDocket([
      full(null, day, day, 'MINUTE ORDER granting extension of time. (x)'),
      full(null, day, day, 'ORDER on motion for extension of time: granted. (y)'),
    ]);
    await world.ingest(docket);
    const { queriedAt } = await world.ask(...CASE);
    for (const at of ['2024-06-04T23:21:00Z', '2024-06-05T00:21:00Z']) {
      later();
      const feed = rawDocket([stub(null, at, 'Order on Motion for Extension of Time')]);
      expect(await world.ingest(feed, { complete: false })).toMatchObject({ newFilings: 0 });
    }
    // A third entry of that day, at another time, is neither of the two known ones.
    const third = rawDocket([stub(null, '2024-06-05T02:00:00Z', 'Order on Motion for Extension of Time')]);
    expect(await world.ingest(third, { complete: false })).toMatchObject({ newFilings: 1 });
    expect((await delta(queriedAt)).change_count).toBe(1);
  });

  it('differs from one at another time, even with the same name', async () => {
    const feed = (at: string) => rawDocket([stub(null, at, 'Order')]);
    const first = feed('2024-06-04T23:21:00Z');
    for (const [docket, newFilings] of [
      [first, 1],
      [feed('2024-06-04T23:29:00Z'), 1],
      [first, 0],
    ] as const) {
      expect(await world.ingest(docket, { complete: false })).toMatchObject({ newFilings });
      later();
    }
  });

  it('made after the last check of the docket is new, even if it resembles an older one', async () => {
    const day = '2026-03-01';
    await world.ingest(rawDocket([full(null, day, day, 'MINUTE ORDER on motion for extension of time. (x)')]));
    later();
    const feed = rawDocket([stub(null, '2026-03-01T20:00:00Z', 'Order on Motion for Extension of Time')]);
    expect(await world.ingest(feed, { complete: false })).toMatchObject({ newFilings: 1 });
  });

  it('that appears late, dated before the last check of the docket, does not get the text of another entry', async () => {
    const day = '2024-06-04';
    const known = full(null, day, day, 'MOTION for Sanctions by Sample Person. (x)');
    await world.ingest(rawDocket([known]));
    later();
    const late = rawEntry(null, day, '', { ids: true, short_description: 'Motion Hearing' });
    expect(await world.ingest(rawDocket([late]), { complete: false })).toMatchObject({ newFilings: 1, revised: 0 });
    later();
    expect(await world.ingest(rawDocket([known, late]))).toMatchObject(NOTHING_NEW);
  });

  it.each([
    ['of a district court', { court_id: 'cand' }],
    ['of a bankruptcy court', { court_id: 'nysb', docket_number: '24-10123', federal_dn_office_code: null }],
  ])('%s with its own document does not match an entry of its number without one', async (_, head) => {
    const known = full(4, '2024-06-04', '2024-06-04', 'MOTION for Sanctions by Sample Person. (x)');
    await world.ingest(rawDocket([known], head));
    later();
    const other = rawEntry(4, '2024-05-01', '', { short_description: 'Motion Hearing' });
    for (const complete of [false, true]) {
      const docket = rawDocket(complete ? [known, other] : [other], head);
      expect(await world.ingest(docket, { complete })).toMatchObject({ newFilings: complete ? 0 : 1, revised: 0 });
      later();
    }
  });

  it('that appears late under the number of a motion does not match that motion', async () => {
    const other = rawEntry(9, '2024-06-04', '', { short_description: 'Motion Hearing' });
    await world.ingest(rawDocket([other]));
    later();
    const known = full(9, '2024-05-01', '2024-05-01', 'MOTION for Sanctions by Sample Person. (x)');
    expect(await world.ingest(rawDocket([other, known]))).toMatchObject({ newFilings: 1, revised: 0 });
  });

  it('under a number that a bankruptcy court reused does not match another entry', async () => {
    const head = { court_id: 'nysb', docket_number: '24-10123', federal_dn_office_code: null };
    await world.ingest(rawDocket([full(5, '2024-05-01', '2024-05-01', 'Motion for Relief from Stay')], head));
    later();
    const feed = rawDocket([stub(5, '2024-06-04T15:00:00Z', 'Certificate of Service')], head);
    expect(await world.ingest(feed, { complete: false })).toMatchObject({ newFilings: 1 });
  });
});

describe('a delta', () => {
  const sampled = (count: number, text: string) =>
    Array.from({ length: count }, (_, index) => rawEntry(index + 1, '2024-02-05', `${text} ${index + 1}`));

  it('lists no filing both as new and as updated, and as new as long as it is new to the caller', async () => {
    await world.ingest(rawDocket(sampled(2, 'NOTICE')));
    const { queriedAt: before } = await world.ask(...CASE);
    later();
    const stub = { ...rawEntry(null, '2024-02-06', ''), short_description: 'USCA Case Number' };
    await world.ingest(rawDocket([stub]), { complete: false });
    const { queriedAt: between } = await world.ask(...CASE);
    later();
    const text = 'USCA Case Number 24-5999 for 2 NOTICE. (mg)';
    await world.ingest(rawDocket([...sampled(2, 'NOTICE'), rawEntry(null, '2024-02-06', text)]));
    const descriptions = (filings: readonly { description: string }[]) => filings.map(({ description }) => description);
    const first = await delta(before);
    expect([descriptions(first.new_filings), descriptions(first.updated_filings)]).toEqual([[text], []]);
    const second = await delta(between);
    expect([descriptions(second.new_filings), descriptions(second.updated_filings)]).toEqual([[], [text]]);
  });
});

describe('a truncated delta', () => {
  /** Old filings are revised between new ones: N u u N u u … */
  const roundsOf = async (rounds: number) => {
    const old = (round: number) =>
      [0, 1].map((one) => rawEntry(one + 1, '2024-02-05', `NOTICE ${one + 1}${' amended'.repeat(round)}`));
    const fresh = (count: number) =>
      Array.from({ length: count }, (_, index) => rawEntry(index + 10, '2024-02-06', `MOTION ${index}`));
    await world.ingest(rawDocket(old(0)));
    const { queriedAt } = await world.ask(...CASE);
    for (let round = 1; round <= rounds; round++) {
      later();
      await world.ingest(rawDocket([...old(round - 1), ...fresh(round)]));
      later();
      await world.ingest(rawDocket([...old(round), ...fresh(round)]));
    }
    return { after: queriedAt, upTo: (await world.ask(...CASE)).queriedAt };
  };
  type Shown = { readonly available_at: string; readonly revised_at: string | null };
  const read = (after: string, upTo: string, budget: number) =>
    readDelta(world.storage.readStore, {
      stream: `docket-${CASE.join('-')}`,
      timeZone: 'America/Los_Angeles',
      after,
      upTo,
      filingTypes: null,
      budget,
    });

  it('ends on a new filing, regardless of the bound, and continues from there without a loss', async () => {
    const { after, upTo } = await roundsOf(3);
    const whole = await read(after, upTo, 1_000_000);
    expect([whole.changeCount, whole.newFilings.length, whole.updatedFilings.length, whole.cutAt]).toEqual([
      3,
      3,
      2,
      null,
    ]);
    let cuts = 0;
    for (let budget = 100; budget < whole.bytes; budget += 97) {
      const told = { fresh: 0, updated: new Set<unknown>() };
      for (let from = after, pages = 0; ; pages++) {
        expect(pages).toBeLessThan(10);
        const part = await read(from, upTo, budget);
        const [fresh, updated] = [part.newFilings, part.updatedFilings] as unknown as [Shown[], Shown[]];
        told.fresh += fresh.length;
        for (const filing of part.updatedFilings) told.updated.add(filing.filing_id);
        if (part.cutAt === null) break;
        cuts++;
        if (fresh.length > 0) expect(part.cutAt).toBe(fresh.at(-1)?.available_at);
        for (const { revised_at: time } of updated) expect(time! <= part.cutAt).toBe(true);
        from = part.cutAt;
      }
      expect([told.fresh, told.updated.size]).toEqual([3, 2]);
    }
    expect(cuts).toBeGreaterThan(5);
  });
});

describe('a docket under the number that its court prints', () => {
  it.each([
    ['insb', '14-80555-JJG-13', '14-80555'],
    ['casb', '24-03115-LA7', '24-03115'],
    ['txnb', '09-40001-11', '09-40001'],
    ['ilnb', '08 B 12345', '08-12345'],
    ['nysd', '1:18-cr-00123-LGS-p1', '1:18-cr-00123'],
  ])('of %s, %s, is known as %s, and found by either', async (court_id, written, canonical) => {
    const head = { court_id, docket_number: written, federal_dn_office_code: null };
    const report = await world.ingest(rawDocket([rawEntry(1, '2024-05-01', 'PETITION')], head));
    expect(report).toMatchObject({ caseNumber: canonical, stream: `docket-${court_id}-${canonical}` });
    for (const number of [written, canonical])
      expect(bodyOf(await world.ask(court_id, number)).case).toMatchObject({ case_number: canonical, filing_count: 1 });
  });
});

describe('a filing without a date', () => {
  it('has no date precision either', async () => {
    const entries = [
      rawEntry(null, '', 'CASE OPENED. Petition filed.', { date_filed: null, date_entered: null }),
      rawEntry(1, '2024-05-02', 'PETITION filed'),
      rawEntry(2, '2024-05-02T09:15:00', 'NOTICE filed'),
    ];
    await world.ingest(rawDocket(entries));
    const shown = (await history()).map(({ filed_at, filed_at_precision }: Record<string, string | null>) => [
      filed_at !== null,
      filed_at_precision,
    ]);
    expect(shown).toEqual(
      expect.arrayContaining([
        [false, null],
        [true, 'day'],
        [true, 'second'],
      ]),
    );
    expect(shown).toHaveLength(3);
  });
});
