import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attorneyRole, firmOf } from '../../../src/dockets/attorneys.ts';
import { dayAsTimestamp, endOfDay, isDay, wallTime } from '../../../src/dockets/court-time.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { filerIn, saysSealed } from '../../../src/sources/juriscraper/entry.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';

const options = { askedAt: '2026-03-01T12:00:00.000000Z', complete: true, source: 'file' };
const read = (value: unknown) => readJuriscraperDocket(value, options);
const readWhole = (value: unknown) => {
  const docket = read(value);
  if ('refused' in docket) throw new Error(docket.refused);
  return docket;
};
const entryOf = (raw: unknown, more = {}) => readWhole(rawDocket([raw], more)).snapshot.entries[0]!;

describe('a docket as juriscraper writes it', () => {
  it('is read with its number, head and parties', () => {
    const { snapshot } = readWhole(rawDocket([], { docket_number: '24-cv-01234' }));
    expect(snapshot.caseNumber).toBe('3:24-cv-01234');
    expect(snapshot.header).toMatchObject({ caseType: 'civil', assignedJudge: 'Robin Judge', dateFiled: '2024-02-01' });
    expect(JSON.stringify(snapshot.parties)).not.toMatch(/Secret|555|hidden/);
  });

  it.each([
    ['12', 12],
    [12, 12],
    [null, null],
    ['', null],
  ])('may have %j as an entry number', (value, number) => {
    expect(entryOf({ ...rawEntry(null, '2024-02-05', 'ORDER'), document_number: value }).entryNumber).toBe(number);
  });

  it('has the fourth digit of a document id set to 0, and a GUID unchanged', () => {
    expect(entryOf(rawEntry(1, '2024-02-05', 'ORDER', { pacer_doc_id: '035112345678' }))).toMatchObject({
      documentIdentifier: '035012345678',
      documentIdentifierType: 'pacer_doc_id',
    });
    const guid = 'A3DA328E-2562-EE11-BE6E-001DD804E087';
    expect(
      entryOf(rawEntry(1, '2024-02-05', 'ORDER', { pacer_doc_id: guid }), {
        court_id: 'ca2',
        docket_number: '24-1234',
      }),
    ).toMatchObject({
      documentIdentifier: guid.toLowerCase(),
      documentIdentifierType: 'acms_document_guid',
      externalUrl: null,
    });
  });

  it('has dates with and without a time, and the minute that appellate texts state', () => {
    const acms = { date_filed: '2023-10-03T00:00:00', date_entered: '2023-10-03T17:45:00' };
    const appellate = { court_id: 'ca2', docket_number: '23-1234' };
    expect(entryOf({ ...rawEntry(1, '2023-10-03', 'PETITION'), ...acms }, appellate)).toMatchObject({
      dateFiled: '2023-10-03',
      filedAt: null,
      dateEntered: '2023-10-03',
      enteredAt: '2023-10-03T21:45:00.000000Z',
    });
    const stated = 'MANDATE ISSUED. [Entered: 06/19/2017 04:38 PM]';
    expect(entryOf(rawEntry(1, '2017-06-19', stated), appellate).enteredAt).toBe('2017-06-19T20:38:00.000000Z');
    expect(entryOf(rawEntry(1, '2017-06-20', stated), appellate).enteredAt).toBeNull();
  });

  it('has the case below as a cross-reference', () => {
    const { snapshot } = readWhole(
      rawDocket([], {
        court_id: 'ca9',
        docket_number: '24-1234',
        federal_dn_case_type: null,
        originating_court_information: { court_id: 'cand', docket_number: '3:24-cv-1234' },
      }),
    );
    expect(snapshot.header.caseType).toBe('appellate');
    expect(snapshot.crossReferences).toEqual([
      { caseId: '3:24-cv-01234', courtCode: 'cand', relationship: 'appealed_from' },
    ]);
  });

  it('skips only a bad entry, and says where and why', () => {
    const { snapshot, skipped } = readWhole(
      rawDocket([
        rawEntry(1, '2024-02-05', 'ORDER'),
        { description: 7 },
        null,
        'x',
        {},
        rawEntry(2, '2024-02-06', 'NOTICE'),
      ]),
    );
    expect(snapshot.entries.map(({ entryNumber }) => entryNumber)).toEqual([1, 2]);
    expect(skipped.map(({ where }) => where)).toEqual([1, 2, 3, 4].map((index) => `docket_entries[${index}]`));
    expect(skipped[0]?.why).toContain('description');
  });

  it('keeps an entry with an invalid date or number, with a note', () => {
    const { snapshot, remarks } = readWhole(
      rawDocket([{ ...rawEntry(1, '2024-02-31', 'ORDER'), document_number: 'one' }]),
    );
    expect(snapshot.entries[0]).toMatchObject({ description: 'ORDER', dateFiled: null, entryNumber: null });
    expect(remarks.map(({ where }) => where)).toContain('docket_entries[0].date_filed');
    expect(remarks.map(({ where }) => where)).toContain('docket_entries[0].document_number');
  });

  it.each([
    [null],
    [[]],
    ['docket'],
    [{}],
    [rawDocket([], { court_id: 'nowhere' })],
    [rawDocket([], { docket_number: 'no number' })],
    [rawDocket([], { docket_number: 7 })],
    [{ ...rawDocket([]), docket_entries: 'none' }],
  ])('is rejected for %j with a reason', (value) => {
    expect(read(value)).toMatchObject({ refused: expect.stringMatching(/.{10}/) });
  });

  it('has a text of 10 MB truncated, and shows no part of a detail at the cut', () => {
    const text = `${'x'.repeat(65_530)} 123-45-6789 ${'y'.repeat(10_000_000)}`;
    const { snapshot, remarks } = readWhole(rawDocket([rawEntry(1, '2024-02-05', text)]));
    expect(snapshot.entries[0]?.description.length).toBeLessThanOrEqual(65_536);
    expect(snapshot.entries[0]?.description).not.toMatch(/123-4/);
    expect(remarks[0]?.why).toContain('cut after');
  });

  it('has control characters, lone surrogates and line ends neutralized', () => {
    const entry = entryOf(rawEntry(1, '2024-02-05', 'OR\u0000DER\r\n\tgranting\u2028 \uD800it \uFEFF'));
    expect(entry.description).toBe('OR DER granting \uFFFDit');
  });

  it('ignores the keys of a prototype', () => {
    const value = JSON.parse('{"__proto__":{"court_id":"cand"},"constructor":1,"docket_number":"3:24-cv-1"}');
    expect(read(value)).toHaveProperty('refused');
    const docket = JSON.parse(
      JSON.stringify(rawDocket([rawEntry(1, '2024-02-05', 'ORDER')])).replace(
        '"description"',
        '"__proto__":{"sealed":true},"description"',
      ),
    );
    expect(entryOf(docket.docket_entries[0]).sealed).toBe(false);
    expect(({} as Record<string, unknown>).sealed).toBeUndefined();
  });

  it('never throws, for any JSON', () => {
    const keys = fc.constantFrom(
      'court_id',
      'docket_number',
      'docket_entries',
      'parties',
      'panel',
      'originating_court_information',
      'x',
    );
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue()));
    const entry = fc.dictionary(
      fc.constantFrom('description', 'document_number', 'date_filed', 'date_entered', 'pacer_doc_id', 'attachments'),
      fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })),
    );
    fc.assert(fc.property(value, (docket) => void read(docket)));
    fc.assert(
      fc.property(fc.array(entry), fc.jsonValue(), (list, parties) => {
        const docket = read(rawDocket(list, { parties: parties as unknown }));
        if ('refused' in docket) return;
        const left = docket.skipped.filter(({ where }) => where.startsWith('docket_entries')).length;
        expect(docket.snapshot.entries.length + left).toBe(list.length);
      }),
    );
  });
});

describe('attorneys', () => {
  it.each([
    [['LEAD ATTORNEY', 'ATTORNEY TO BE NOTICED'], 'Lead attorney; Attorney to be noticed'],
    [['TERMINATED: 08/20/2018', 'LEAD ATTORNEY'], 'Terminated 2018-08-20; Lead attorney'],
    [['COR LD NTC Retained'], 'Lead attorney; Attorney to be noticed; Retained'],
    [['Designation: Public Defender'], 'Public Defender'],
    [['Bar Status: Good'], null],
    [[], null],
  ])('%j are %j', (roles, role) => {
    expect(attorneyRole(roles)).toBe(role);
  });

  it.each([
    ['Sample & Specimen LLP\n1 Main Street', 'Sample & Specimen LLP'],
    ['Office of the Federal Public Defender\n555 7th Street', 'Office of the Federal Public Defender'],
    ['12 Secret Street\nHiddenville', null],
    ['Jane Q. Public\n12 Law Street', null],
    ['Law Offices, Suite 5\n', null],
    ['Federal Detention Center Law Library\n', null],
    ['hidden@law.example\n', null],
    ['', null],
  ])('the firm in %j is %j', (contact, firm) => {
    expect(firmOf(contact)).toBe(firm);
  });
});

describe('metadata in a text', () => {
  it.each([
    ['COMPLAINT against X filed by Acme Widgets, Inc. (Attachments: # 1)', 'Acme Widgets, Inc.'],
    ['MOTION filed by Defendant Bank of the West re 3 Order', 'Bank of the West'],
    ['RESPONSE filed by UNITED STATES OF AMERICA re 477', 'UNITED STATES OF AMERICA'],
    ['ORDER granting motion', null],
    ['NOTICE: papers to be filed by 3/8/2024', null],
  ])('the filer of %j is %j', (text, filer) => {
    expect(filerIn(text)).toBe(filer);
  });

  it.each([
    ['SEALED DOCUMENT filed by X', true],
    ['Petition (Sealed - Attorney) re: violation', true],
    ['*SEALED* ORDER', true],
    ['MOTION to Seal Document', false],
    ['ORDER granting 164 Sealed Motion for Leave', false],
  ])('%j is sealed: %j', (text, sealed) => {
    expect(saysSealed(text)).toBe(sealed);
  });
});

describe('court-local days', () => {
  it('begin and end by the court’s own clock, including clock changes', () => {
    expect(dayAsTimestamp('America/Los_Angeles', '2024-03-10')).toBe('2024-03-10T00:00:00-08:00');
    expect(toInstant(endOfDay('America/Los_Angeles', '2024-03-10'))).toBe('2024-03-11T06:59:59.999999Z');
    expect(toInstant(endOfDay('America/Los_Angeles', '2024-11-03'))).toBe('2024-11-04T07:59:59.999999Z');
    expect(dayAsTimestamp('Pacific/Guam', '2024-07-01')).toBe('2024-07-01T00:00:00+10:00');
    expect(dayAsTimestamp('America/St_Johns', '2024-01-01')).toBe('2024-01-01T00:00:00-03:30');
    expect(toInstant(wallTime('America/New_York', '2024-11-03', 1, 30, 0))).toBe('2024-11-03T05:30:00.000000Z');
    expect(toInstant(wallTime('America/New_York', '2024-03-10', 2, 30, 0))).toBe('2024-03-10T07:30:00.000000Z');
  });

  it('exist or do not', () => {
    expect(['2024-02-29', '2023-02-29', '2024-13-01', '24-01-01', '0000-01-01'].map(isDay)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
