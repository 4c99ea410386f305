import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchEntries } from '../../src/dockets/match.ts';
import type { Matchable } from '../../src/dockets/match-item.ts';

const item = (more: Partial<Matchable>): Matchable => ({
  entryNumber: null,
  dateFiled: '2024-03-01',
  dateEntered: '2024-03-01',
  description: '',
  shortDescription: null,
  documentIdentifier: null,
  sourceIds: {},
  ...more,
});
/** An entry without content: no source's reader lets such an entry through. */
const NOTHING = JSON.stringify({
  entryNumber: null,
  description: '',
  shortDescription: null,
  documentIdentifier: null,
  sourceIds: {},
});
const numbered = (entryNumber: number, description: string, more: Partial<Matchable> = {}) =>
  item({ entryNumber, description, ...more });
const unnumbered = (description: string, more: Partial<Matchable> = {}) => item({ description, ...more });
const withIds = (id: number, more: Partial<Matchable> = {}) =>
  item({ documentIdentifier: `0350${id}`, sourceIds: { pacer_seq_no: String(id) }, ...more });

const filingOf = (known: Matchable[], entries: Matchable[], whole = true) =>
  matchEntries(known, entries, whole).filingOf;

describe('matching entries (docs/design/dockets.md#matching)', () => {
  it('uses source ids, regardless of number and text', () => {
    const known = [withIds(1, { entryNumber: 4, description: 'ORDER' }), withIds(2, { entryNumber: 5 })];
    const entries = [
      withIds(2, { entryNumber: 4, description: 'ORDER' }),
      withIds(1, { entryNumber: 9, description: 'x' }),
    ];
    expect(filingOf(known, entries)).toEqual([1, 0]);
  });

  it('uses the sequence number if there is no document', () => {
    const known = [item({ sourceIds: { pacer_seq_no: '7' }, description: 'LETTER sent' })];
    expect(
      filingOf(known, [item({ sourceIds: { pacer_seq_no: '7' }, description: 'LETTER sent, corrected' })]),
    ).toEqual([0]);
  });

  it('separates entries with different ids, even if number, day and text are equal', () => {
    const known = [withIds(1, { entryNumber: 101, description: 'SEALED DOCUMENT' })];
    expect(filingOf(known, [withIds(2, { entryNumber: 101, description: 'SEALED DOCUMENT' })])).toEqual([null]);
  });

  it('uses number and text, since several filings may share a number', () => {
    const known = [numbered(14, 'Application to employ'), numbered(14, 'Order granting application')];
    const entries = [
      numbered(14, 'Order granting application'),
      numbered(14, 'Certificate of service'),
      numbered(14, 'Application to employ'),
    ];
    expect(filingOf(known, entries)).toEqual([1, null, 0]);
  });

  it('does not treat another text under the same number as a revision', () => {
    expect(filingOf([numbered(14, 'Application to employ')], [numbered(14, 'Order granting')], false)).toEqual([null]);
    expect(filingOf([numbered(14, 'Application to employ')], [numbered(14, 'Order granting')], true)).toEqual([null]);
  });

  it('ignores what clerks add to a text', () => {
    const known = [numbered(6, 'Minute Entry: hearing held. (lwm) (Entered: 03/01/2024)', { dateEntered: null })];
    const modified = 'Minute Entry: hearing held. (lwm) Modified on 3/9/2024 (rex). (Entered: 03/01/2024)';
    expect(filingOf(known, [numbered(6, modified)], false)).toEqual([0]);
  });

  it('recognizes unnumbered entries by day and text, as many times as both have them', () => {
    const twice = [
      unnumbered('Complaint [97-1] (Entered: 01/16/1997)'),
      unnumbered('Complaint [97-1] (Entered: 01/16/1997)'),
    ];
    expect(filingOf(twice, [...twice, ...twice])).toEqual([0, 1, null, null]);
    expect(filingOf([unnumbered('Case closed')], [unnumbered('Case closed', { dateFiled: '2024-03-02' })])).toEqual([
      null,
    ]);
  });

  it('prefers the same day of entry among equal unnumbered texts', () => {
    const known = [unnumbered('Complaint'), unnumbered('Complaint', { dateEntered: '2024-09-09' })];
    expect(filingOf(known, [unnumbered('Complaint', { dateEntered: '2024-09-09' })])).toEqual([1]);
  });

  it('accepts a number that arrives later for the same filing', () => {
    expect(filingOf([unnumbered('NOTICE of hearing')], [numbered(21, 'NOTICE of hearing')], false)).toEqual([0]);
  });

  it('accepts a text that arrives later for the same filing', () => {
    const known = [numbered(5, '', { shortDescription: 'Summons Issued' })];
    const entry = numbered(5, 'SUMMONS ISSUED as to Example Corporation');
    expect(filingOf(known, [entry], true)).toEqual([0]);
    expect(filingOf(known, [entry], false)).toEqual([0]);
    expect(filingOf([entry], known, false)).toEqual([0]);
  });

  it('finds the text for each short name of one number', () => {
    const known = [
      numbered(14, '', { shortDescription: 'Order' }),
      numbered(14, '', { shortDescription: 'Application' }),
    ];
    const entries = [numbered(14, 'Ex parte application to employ'), numbered(14, 'ORDER granting it')];
    expect(filingOf(known, entries)).toEqual([1, 0]);
  });

  it('does not guess from a number or a common short name if the snapshot may not include the filing itself', () => {
    const motion = unnumbered('MOTION to compel');
    expect(filingOf([motion], [unnumbered('', { shortDescription: 'Motion' })], false)).toEqual([null]);
    expect(
      filingOf([numbered(5, 'MOTION to compel')], [numbered(5, '', { shortDescription: 'Order' })], false),
    ).toEqual([null]);
  });

  it('recognizes a redacted filing without its text', () => {
    expect(filingOf([item({ redacted: true })], [unnumbered('what was redacted')], false)).toEqual([0]);
  });

  it('reports an entry that repeats another as a duplicate', () => {
    const entry = withIds(1, { entryNumber: 4, description: 'ORDER' });
    const { filingOf: found, duplicates } = matchEntries([], [entry, { ...entry }], true);
    expect(found).toEqual([null, null]);
    expect([...duplicates]).toEqual([1]);
  });

  it('takes a number with the same day and text for one entry, though nothing else identifies it', () => {
    const order = numbered(4, 'ORDER');
    const duplicatesOf = (...entries: Matchable[]) => [...matchEntries([], entries, true).duplicates];
    expect(duplicatesOf(order, numbered(5, 'ORDER'), { ...order }, { ...order })).toEqual([2, 3]);
    expect(duplicatesOf(order, { ...order, dateFiled: '2024-03-02' }, { ...order, description: 'ORDER.' })).toEqual([]);
    expect(duplicatesOf(order, { ...order, sourceIds: { courtlistener_id: '7' } })).toEqual([]);
    expect(duplicatesOf(unnumbered('Hearing held'), unnumbered('Hearing held'))).toEqual([]);
    expect(duplicatesOf(numbered(4, ''), numbered(4, ''))).toEqual([]);
  });

  it('merges two known filings if one entry has the ids of both', () => {
    const known = [item({ documentIdentifier: '03501' }), item({ sourceIds: { pacer_seq_no: '1' } })];
    const { filingOf: found, merges } = matchEntries(known, [withIds(1)], false);
    expect([found, merges]).toEqual([[0], [[0, 1]]]);
  });

  it('merges two known filings if one entry matches one by id, and the other by number and text', () => {
    const known = [
      item({ sourceIds: { pacer_seq_no: '1' }, shortDescription: 'Motion' }),
      numbered(4, 'MOTION to compel'),
    ];
    const { merges } = matchEntries(known, [withIds(1, { entryNumber: 4, description: 'MOTION to compel' })], false);
    expect(merges).toEqual([[0, 1]]);
  });

  it('merges what nothing of the court identified with the same text and day, only if one entry has them', () => {
    const stub = item({ dateFiled: null, shortDescription: 'Minute Entry', sourceIds: { pacer_seq_no: '7' } });
    const told = unnumbered('MINUTE ENTRY for proceedings', { sourceIds: { courtlistener_id: '9' } });
    const entry = unnumbered('MINUTE ENTRY for proceedings', { sourceIds: { pacer_seq_no: '7' } });
    expect(matchEntries([stub, told], [entry], true).merges).toEqual([[0, 1]]);
    const another = unnumbered('MINUTE ENTRY for proceedings', { sourceIds: { pacer_seq_no: '8' } });
    expect(matchEntries([stub, told], [entry, another], true)).toMatchObject({ filingOf: [0, 1], merges: [] });
  });

  it('keeps two entries of one text and day apart when a part of the docket shows one of them', () => {
    const [one, other] = [unnumbered('MINUTE ENTRY for proceedings'), unnumbered('MINUTE ENTRY for proceedings')];
    const entry = unnumbered('MINUTE ENTRY for proceedings', { sourceIds: { pacer_seq_no: '7' } });
    expect(matchEntries([one, other], [entry], false).merges).toEqual([]);
    const seen = { ...one, sourceIds: { pacer_seq_no: '7' } };
    expect(matchEntries([seen, other], [entry], false).merges).toEqual([]);
    // As CourtListener shows them again, once one of them has changed.
    const listed = ['1', '2'].map((id) => ({ ...one, sourceIds: { courtlistener_id: id } }));
    expect(matchEntries(listed, listed.slice(0, 1), false)).toMatchObject({ filingOf: [0], merges: [] });
  });

  it('knows an item of two feeds by its name and exact time, whichever of the two times each says', () => {
    const at = '2024-03-01T15:04:05.000000Z';
    const entered = item({ dateFiled: null, shortDescription: 'Minute Entry', enteredAt: at });
    const filed = item({ shortDescription: 'Minute Entry', filedAt: at });
    expect(filingOf([entered], [filed], false)).toEqual([0]);
    expect(filingOf([filed], [entered], false)).toEqual([0]);
    expect(filingOf([entered], [{ ...filed, filedAt: '2024-03-01T15:04:06.000000Z' }], false)).toEqual([null]);
    expect(filingOf([entered], [{ ...filed, shortDescription: 'Order' }], false)).toEqual([null]);
  });

  it('knows a feed’s item again after its text has arrived, by its event and the second of its entry', () => {
    const at = '2024-03-01T15:04:05.000000Z';
    const stub = item({ dateFiled: null, shortDescription: 'Set Hearings', enteredAt: at });
    const told = item({
      dateFiled: '2024-02-27',
      description: 'MINUTE ORDER: conference moved to Friday',
      shortDescription: 'Set Hearings',
      enteredAt: at,
    });
    expect(filingOf([told], [stub], false)).toEqual([0]);
    expect(filingOf([told], [{ ...stub, enteredAt: '2024-03-01T15:04:06.000000Z' }], false)).toEqual([null]);
    expect(filingOf([told], [{ ...stub, shortDescription: 'Add Judge' }], false)).toEqual([null]);
    expect(filingOf([{ ...told, entryNumber: 4 }], [{ ...stub, entryNumber: 5 }], false)).toEqual([null]);
  });

  it('gives each known filing to one entry at most, and every entry to itself when nothing changed', () => {
    const any = fc
      .record({
        entryNumber: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
        description: fc.constantFrom('', 'ORDER', 'MOTION to compel', 'Case closed'),
        shortDescription: fc.constantFrom(null, 'Order', 'Motion'),
        documentIdentifier: fc.constantFrom(null, '1', '2'),
        sourceIds: fc.constantFrom({}, { pacer_seq_no: '1' }, { pacer_seq_no: '2' }),
      })
      .filter((one) => JSON.stringify(one) !== NOTHING);
    fc.assert(
      fc.property(fc.array(any), fc.array(any), fc.boolean(), (a, b, whole) => {
        const known = a.map((one) => item(one as Partial<Matchable>));
        const entries = b.map((one) => item(one as Partial<Matchable>));
        const taken = filingOf(known, entries, whole).filter((index) => index !== null);
        expect(new Set(taken).size).toBe(taken.length);
        const again = matchEntries(known, known, whole);
        for (const [index, found] of again.filingOf.entries())
          expect(found !== null || again.duplicates.has(index)).toBe(true);
      }),
    );
  });

  it('handles large dockets of look-alikes quickly', () => {
    const many = Array.from({ length: 20_000 }, (_, id) => withIds(id, { description: 'NOTICE', entryNumber: 1 }));
    const others = many.map((one, id) => ({
      ...one,
      documentIdentifier: `x${id}`,
      sourceIds: { pacer_seq_no: `x${id}` },
    }));
    const before = process.cpuUsage();
    expect(filingOf(many, others).every((found) => found === null)).toBe(true);
    // The time of this process only, however busy the machine is; quadratic time would be hundreds of seconds.
    expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(15);
  });
});
