/**
 * The Supreme Court's file of a case in the normal form. Given files in its form, when they are read, then nothing of
 * the docket is missing, no contact of a person is in it, and a file of another case or no case at all is refused.
 */
import { describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { readDate } from '../../../src/sources/scotus/date.ts';
import { readSupremeCourtFile } from '../../../src/sources/scotus/docket.ts';
import { lowerCourt, lowerCourtReferences } from '../../../src/sources/scotus/lower-court.ts';
import { plainText } from '../../../src/sources/scotus/plain-text.ts';
import { capitalApplication, petition } from '../supreme-court/files.ts';

const court = findCourt('scotus')!;
const askedAt = '2026-06-19T12:00:00.000000Z';

function read(file: unknown, caseNumber = '25-447') {
  const found = readSupremeCourtFile(file, { court, caseNumber, askedAt });
  if ('refused' in found) throw new Error(found.refused);
  return found.snapshot;
}
const refusalOf = (file: unknown, caseNumber = '25-447') =>
  (readSupremeCourtFile(file, { court, caseNumber, askedAt }) as { refused?: string }).refused;

describe('a petition', () => {
  const snapshot = read(petition());
  it('has its names, its day and its kind', () => {
    expect(snapshot.header).toMatchObject({
      caseName: 'Orla Fennimore v. Cobble & Sons, Inc.',
      natureOfProceeding: 'Petition',
      dateFiled: '2026-03-12',
    });
    expect(snapshot).toMatchObject({ complete: true, source: 'scotus', askedAt, caseNumber: '25-447' });
  });
  it('has every entry in order, as plain text, with the number and the address of its first document', () => {
    expect(snapshot.entries.map(({ dateFiled, sourceIds }) => [dateFiled, sourceIds])).toEqual([
      ['2026-01-26', {}],
      ['2026-03-10', { scotus_document: '901771' }],
      ['2026-04-13', { scotus_document: '902044' }],
      ['2026-04-22', {}],
      ['2026-05-08', {}],
      ['2026-05-11', {}],
      ['2026-05-11', {}],
      ['2026-06-08', { scotus_document: '903310' }],
    ]);
    expect(snapshot.entries[2]?.description).toBe(
      'Waiver of right of respondent Cobble & Sons, Inc. to respond filed.',
    );
    expect(snapshot.entries[7]?.description).toBe('Brief of respondent in opposition filed. VIDED.');
    expect(snapshot.entries[1]).toMatchObject({
      externalUrl: 'https://www.supremecourt.gov/DocketPDF/25/25-447/901771/20260310142755215_Petition.pdf',
      attachments: [{ attachmentNumber: 1, description: 'Appendix' }],
    });
  });
  it('groups attorneys by party, without any contact', () => {
    expect(snapshot.parties).toEqual([
      {
        name: 'Orla Fennimore',
        role: 'Petitioner',
        terminatedAt: null,
        attorneys: [
          { name: 'Wren Alder', role: 'Counsel of record', firm: 'Alder & Finch LLP' },
          { name: 'Ivo Marsh', role: null, firm: 'Attorney at Law' },
        ],
      },
      {
        name: 'Cobble & Sons, Inc.',
        role: 'Respondent',
        terminatedAt: null,
        attorneys: [{ name: 'Tamsin Roe', role: 'Counsel of record', firm: null }],
      },
    ]);
    expect(JSON.stringify(snapshot)).not.toMatch(/555|Wistful|CHAMBERS|60000|Springfield/i);
  });
  it('names the cases that it came from, and those that it belongs together with', () => {
    expect(snapshot.crossReferences).toEqual([
      { caseId: '24-1901', courtCode: 'ca7', relationship: 'appealed_from' },
      { caseId: '24-1902', courtCode: 'ca7', relationship: 'appealed_from' },
      { caseId: '25-448', courtCode: 'scotus', relationship: 'related_to' },
      { caseId: '25A114', courtCode: 'scotus', relationship: 'related_to' },
    ]);
  });
});

it('reads an application in a capital case, whose applicant has no attorney', () => {
  const snapshot = read(capitalApplication(), '25A911');
  expect(snapshot.header).toMatchObject({
    caseName: 'In Re Silas Quarrie',
    natureOfProceeding: 'Application, capital case',
  });
  expect(snapshot.parties[0]?.attorneys).toEqual([{ name: 'Silas Quarrie', role: 'Pro se', firm: null }]);
  expect(snapshot.crossReferences[0]).toMatchObject({ courtCode: 'fl_supreme', relationship: 'appealed_from' });
  expect(JSON.stringify(snapshot)).not.toMatch(/771204|P\.O|32000/);
});

it('accepts an address of a document only from the Court', () => {
  const entries = [
    'https://evil.example/DocketPDF/25/25-447/1/2_x.pdf',
    'javascript:alert(1)',
    'https://www.supremecourt.gov@evil.example/DocketPDF/25/25-447/1/2_x.pdf',
  ].map((DocumentUrl) => ({ Date: 'May 07 2024', Text: 'Motion filed.', Links: [{ Description: 'x', DocumentUrl }] }));
  for (const entry of read({ ...petition(), ProceedingsandOrder: entries }).entries) {
    expect(entry).toMatchObject({ externalUrl: null, sourceIds: {} });
  }
});

describe('what is no file of the case', () => {
  it.each([
    ['nothing', null],
    ['a list', []],
    ['a file without entries', { CaseNumber: '25-447' }],
    ['entries that are no list', { CaseNumber: '25-447', ProceedingsandOrder: 'none' }],
  ])('%s is refused', (_, file) => expect(refusalOf(file)).toMatch(/not a file of a case/));
  it('the file of another case is refused', () => expect(refusalOf(petition('25-448'))).toMatch(/25-448/));
  it('a hostile file costs only what it breaks', () => {
    const items = [null, 7, { Date: 4, Text: {} }, { Text: '' }, { Date: 'Smarch 40 2026', Text: 'Order.' }];
    const found = readSupremeCourtFile(
      { ...petition(), ProceedingsandOrder: items, Petitioner: [null, 'x', {}], RelatedCaseNumber: [{}, 3] },
      { court, caseNumber: '25-447', askedAt },
    );
    expect(found).toMatchObject({ unreadable: 4, snapshot: { entries: [{ description: 'Order.', dateFiled: null }] } });
  });
});

it.each([
  ['May 07 2024', '2024-05-07'],
  ['May 9, 2024', '2024-05-09'],
  ['January 27, 2026', '2026-01-27'],
  ['October 8, 2025 <br>Rule 12.4', '2025-10-08'],
  ['February 30, 2026', null],
  ['', null],
])('reads the date %j', (text, day) => expect(readDate(text)).toBe(day));

it.each([
  ['<i>VIDED</i>.', 'VIDED.'],
  ['a<br/>b', 'a b'],
  ['5 < 6 &amp; 7 &gt; 2', '5 < 6 & 7 > 2'],
  ['&amp;lt;', '&lt;'],
  ['&#8217;&#x2019;&unknown;&#99999999;', '’’&unknown;&#99999999;'],
  ['<!-- x -->y', 'y'],
])('makes plain text of %j', (html, text) => expect(plainText(html)).toBe(text));

it.each([
  ['(21-55085, 21-55145)', ['21-55085', '21-55145']],
  ['(21-55085, 55145)', ['21-55085', '21-55145']],
  ['(21-55085; -55145 & 55146)', ['21-55085', '21-55145', '21-55146']],
  ['(21-55085/21-55145)', ['21-55085', '21-55145']],
  ['(21-55085 - 21-55090)', ['21-55085', '21-55090']],
  ['', []],
])('reads the numbers of the court below in %j', (numbers, ids) =>
  expect(lowerCourtReferences(lowerCourt('United States Court of Appeals for the Ninth Circuit'), numbers)).toEqual(
    ids.map((caseId) => ({ caseId, courtCode: 'ca9', relationship: 'appealed_from' })),
  ),
);

it('finds a court by either form of its name', () => {
  expect(lowerCourt('Florida Supreme Court')?.code).toBe('fl_supreme');
  expect(lowerCourt('Supreme Court of Illinois')?.code).toBe('il_supreme');
  expect(lowerCourt('Court of Nowhere')).toBeNull();
});
