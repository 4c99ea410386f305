import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  composeDocket,
  docketIdsOf,
  idOf,
  readCourtListenerPage,
} from '../../../src/sources/courtlistener/courtlistener.ts';
import { readPages, separatePages } from '../../../src/sources/courtlistener/files.ts';
import type { RawDocketItem, UnreadableItem } from '../../../src/sources/files/docket-files.ts';
import { readDocket } from '../../../src/sources/files/read-docket.ts';
import {
  attorney,
  DOCKET_ID,
  docket,
  entry,
  OTHER_ID,
  page,
  party,
  recapDocument,
  role,
} from './courtlistener.fixtures.ts';

const ENTRIES = [
  entry(DOCKET_ID, 2, 'ORDER setting a conference', { time_filed: '14:30:00' }),
  entry(DOCKET_ID, 1, 'COMPLAINT against Example Mill', {
    recap_documents: [
      recapDocument({ pacer_doc_id: '999100000001', description: 'Complaint' }),
      recapDocument({
        document_type: 2,
        attachment_number: 1,
        pacer_doc_id: '999100000002',
        description: 'Exhibit A',
        page_count: 9,
      }),
    ],
  }),
  entry(DOCKET_ID, null, '', { recap_documents: [recapDocument({ pacer_doc_id: '', description: 'Notice' })] }),
  entry(DOCKET_ID, 3, 'LETTER', { recap_documents: [recapDocument({ is_sealed: true })] }),
];
const PARTIES = [
  party(DOCKET_ID, 71, 'Sample Orchard', 'Plaintiff', [
    role(DOCKET_ID, 81, 2),
    role(DOCKET_ID, 81, 1),
    role(OTHER_ID, 82, 2),
  ]),
  party(DOCKET_ID, 72, 'Example Mill', 'Defendant', [role(DOCKET_ID, 83, 2)]),
  party(OTHER_ID, 73, 'Somebody Else', 'Plaintiff'),
];
const ATTORNEYS = [attorney(DOCKET_ID, 81, 'Alex Attorney'), attorney(OTHER_ID, 82, 'Other Attorney')];

function read(value: unknown) {
  const outcome = readDocket(value, { askedAt: '2026-03-01T00:00:00.000000Z', complete: true, source: 'file' });
  if ('refused' in outcome) throw new Error(outcome.refused);
  return outcome;
}
// biome-ignore lint/suspicious/noExplicitAny: pages are JSON
const json = (value: unknown): any => JSON.parse(JSON.stringify(value));

describe('saved pages of CourtListener', () => {
  it.each([
    ['dockets', docket(DOCKET_ID)],
    ['entries', ENTRIES[0]],
    ['parties', PARTIES[0]],
    ['attorneys', ATTORNEYS[0]],
  ])('of %s are recognized by their content, as a page and alone', (kind, result) => {
    for (const value of [page([result!]), result]) {
      const found = readCourtListenerPage(json(value));
      expect(found).toMatchObject({ kind, links: value === result ? null : { next: null, previous: null } });
      expect(docketIdsOf(found!.kind, found!.results[0]!)).toEqual([String(DOCKET_ID)]);
    }
    expect(readCourtListenerPage(json(page([result!], { next: 'https://x/?cursor=a' })))?.links).toMatchObject({
      next: 'https://x/?cursor=a',
      previous: null,
    });
  });

  it('make one docket, in the order of its sheet', () => {
    const value = composeDocket(
      json({
        id: String(DOCKET_ID),
        docket: docket(DOCKET_ID),
        entries: ENTRIES,
        parties: PARTIES,
        attorneys: ATTORNEYS,
      }),
    );
    const { snapshot, skipped, remarks } = read(value);
    expect([skipped, remarks]).toEqual([[], []]);
    expect(snapshot).toMatchObject({
      caseNumber: '3:24-cv-04321',
      header: {
        caseName: 'Sample Orchard v. Example Mill',
        caseType: 'civil',
        natureOfProceeding: '440 Civil Rights: Other',
        assignedJudge: 'Robin Sample',
        dateFiled: '2024-02-01',
      },
      parties: [
        {
          name: 'Sample Orchard',
          role: 'Plaintiff',
          attorneys: [
            { name: 'Alex Attorney', role: 'Lead attorney; Attorney to be noticed', firm: 'Sample Firm LLP' },
          ],
        },
        { name: 'Example Mill', role: 'Defendant', attorneys: [] },
      ],
    });
    expect(snapshot.entries).toMatchObject([
      {
        entryNumber: 1,
        description: 'COMPLAINT against Example Mill',
        shortDescription: 'Complaint',
        documentIdentifier: '999000000001',
        documentIdentifierType: 'pacer_doc_id',
        sourceIds: { pacer_seq_no: '3', courtlistener_id: '9001' },
        attachments: [
          { attachmentNumber: 1, description: 'Exhibit A', documentIdentifier: '999000000002', pageCount: 9 },
        ],
      },
      // Entered at the court's own 14:30, which is 22:30 in UTC.
      {
        entryNumber: 2,
        dateFiled: '2024-02-02',
        filedAt: null,
        dateEntered: '2024-02-02',
        enteredAt: '2024-02-02T22:30:00.000000Z',
        attachments: [],
      },
      { entryNumber: 3, sealed: true },
      { entryNumber: null, description: '', shortDescription: 'Notice', documentIdentifier: null },
    ]);
    expect(JSON.stringify(snapshot)).not.toMatch(/Hidden Lane|555-0142|mail\.example/);
  });

  it('keep the latest version of an entry that two pages contain', () => {
    const newer = entry(DOCKET_ID, 2, 'ORDER resetting the conference', {
      date_modified: '2024-05-01T00:00:00.000000-07:00',
    });
    const parts = { id: String(DOCKET_ID), docket: docket(DOCKET_ID), parties: [], attorneys: [] };
    for (const entries of [
      [newer, ENTRIES[0]],
      [ENTRIES[0], newer],
    ]) {
      const { snapshot } = read(composeDocket(json({ ...parts, entries })));
      expect(snapshot.entries.map(({ description }) => description)).toEqual(['ORDER resetting the conference']);
    }
  });

  it('name resources by number or address', () => {
    expect(['https://x/api/rest/v4/dockets/123/', '/dockets/123', 123, '123'].map((one) => idOf(one))).toEqual(
      Array(4).fill('123'),
    );
    expect([null, undefined, '', 'https://x/', 1.5].map((one) => idOf(one))).toEqual(Array(5).fill(null));
  });

  it('never throw, for any saved content', () => {
    const field = fc.constantFrom(
      'id',
      'docket',
      'recap_documents',
      'party_types',
      'attorneys',
      'contact_raw',
      'docket_number',
      'court_id',
      'parties_represented',
      'original_court_info',
      'appeal_from',
    );
    const result = fc.dictionary(field, fc.jsonValue());
    fc.assert(
      fc.property(fc.array(result), result, (results, head) => {
        const found = readCourtListenerPage(json({ results }));
        if (found) for (const one of found.results) docketIdsOf(found.kind, one);
        const parts = json({ id: '1', docket: head, entries: results, parties: results, attorneys: results });
        readDocket(composeDocket(parts), { askedAt: '2026-03-01T00:00:00.000000Z', complete: true, source: 'file' });
      }),
      { numRuns: 500 },
    );
  });
});

describe('files of saved pages', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'courtlistener-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const save = async (name: string, value: unknown): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value));
    return path;
  };
  const all = async (files: readonly string[]) => {
    const items: (RawDocketItem | UnreadableItem)[] = [];
    for await (const item of readPages(files)) items.push(item);
    return items;
  };

  it('are distinguished from other dockets by how they begin', async () => {
    const pages = [
      await save('a.json', page([docket(1)])),
      await save('b.json', docket(2)),
      await save('c.json', page([ENTRIES[0]!])),
    ];
    const others = [
      await save('d.json', { court_id: 'cand', docket_number: '3:24-cv-1', docket_entries: [] }),
      await save('e.ndjson', '{}'),
      await save('f.json', 'nothing'),
    ];
    expect(await separatePages([...others, ...pages])).toEqual({ pages, others });
  });

  it('give each docket once, complete if its first and its last page are present', async () => {
    const files = [
      await save('2.json', page(ENTRIES.slice(2), { previous: 'https://x/?cursor=a' })),
      await save('parties.json', page(PARTIES.slice(0, 2))),
      await save('1.json', page(ENTRIES.slice(0, 2), { next: 'https://x/?cursor=b' })),
      await save('dockets.json', page([docket(DOCKET_ID), docket(OTHER_ID, { docket_number: '3:24-cv-04322' })])),
      await save('attorneys.json', page(ATTORNEYS)),
    ];
    const items = await all(files);
    expect(items.map(({ where }) => where).toSorted()).toEqual([`docket ${DOCKET_ID}`, `docket ${OTHER_ID}`]);
    const whole = items.find(({ where }) => where === `docket ${DOCKET_ID}`) as RawDocketItem;
    expect(whole.complete).toBe(true);
    expect(read(whole.value).snapshot.entries).toHaveLength(4);
    expect(items.find(({ where }) => where === `docket ${OTHER_ID}`)).toMatchObject({ complete: false });

    const part = (await all(files.slice(1))).find(({ where }) => where === `docket ${DOCKET_ID}`) as RawDocketItem;
    expect(part.complete).toBe(false);
    expect(part.hash).not.toBe(whole.hash);
  });

  it('say what is missing and what cannot be read, and continue', async () => {
    const items = await all([
      await save('entries.json', page([ENTRIES[0]!])),
      await save('broken.json', '{"results": ['),
      await save('latin.json', Buffer.from(JSON.stringify(page([{ ...ENTRIES[0]!, description: 'Café' }])), 'latin1')),
      await save('empty.json', page([])),
      await save('docket.json', docket(OTHER_ID)),
    ]);
    expect(items).toMatchObject([
      { where: join(folder, 'broken.json'), why: expect.stringMatching(/JSON/) },
      { where: join(folder, 'latin.json'), why: expect.stringMatching(/UTF-8/) },
      { where: join(folder, 'empty.json'), why: expect.stringContaining('empty') },
      { where: `docket ${DOCKET_ID}`, why: expect.stringContaining(`/dockets/${DOCKET_ID}/`) },
      { where: `docket ${OTHER_ID}`, complete: false },
    ]);
  });
});
