/**
 * Entries that a court corrects in place. Given the known filings of a docket whose entries have no numbers, when the
 * whole list comes again with a corrected text, a corrected day or more entries, then each entry is the filing that it
 * was, and only what was added is new.
 */
import { describe, expect, it } from 'vitest';
import { matchEntries } from '../../src/dockets/match.ts';
import type { Matchable } from '../../src/dockets/match-item.ts';

const RULES = { numbersAreUnique: false, correctsInPlace: true, isShown: () => false, isLater: () => false };

const entry = (dateFiled: string, description: string, document?: string): Matchable => ({
  entryNumber: null,
  dateFiled,
  dateEntered: null,
  description,
  shortDescription: null,
  documentIdentifier: null,
  sourceIds: document === undefined ? {} : { scotus_document: document },
});
const match = (known: readonly Matchable[], now: readonly Matchable[], whole = true) =>
  matchEntries(known, now, whole, RULES).filingOf;

const KNOWN = [
  entry('2026-03-10', 'Petition for a writ of certiorari filed.', '901'),
  entry('2026-04-22', 'DISTRIBUTED for Conference of 5/8/2026.'),
  entry('2026-05-11', 'Rescheduled.'),
  entry('2026-05-11', 'Rescheduled.'),
  entry('2026-06-18', 'Petition DENIED.'),
];
const changed = (at: number, one: Matchable) => KNOWN.map((each, index) => (index === at ? one : each));

describe('a text', () => {
  it.each([
    ['with a document', 0, entry('2026-03-10', 'Something else entirely.', '901')],
    ['corrected in a part', 1, entry('2026-04-22', 'DISTRIBUTED for Conference of 5/15/2026.')],
    ['replaced', 4, entry('2026-06-18', 'Judgment VACATED and case REMANDED.')],
    [
      'that gets its document at the same time',
      1,
      entry('2026-04-22', 'DISTRIBUTED for Conference of 5/9/2026.', '902'),
    ],
  ])('%s is of the same filing', (_, at, one) => expect(match(KNOWN, changed(at, one))).toEqual([0, 1, 2, 3, 4]));
  it('is corrected while others are added around it', () => {
    const now = [...changed(1, entry('2026-04-22', 'DISTRIBUTED for Conference of 5/15/2026.'))];
    now.splice(1, 0, entry('2026-04-13', 'Waiver of right to respond filed.', '900'));
    now.push(entry('2026-06-18', 'Application for rehearing submitted.'));
    expect(match(KNOWN, now)).toEqual([0, null, 1, 2, 3, 4, null]);
  });
});

it('a day is corrected in place', () =>
  expect(match(KNOWN, changed(4, entry('2026-06-19', 'Petition DENIED.')))).toEqual([0, 1, 2, 3, 4]));

it('the order may change', () => expect(match(KNOWN, KNOWN.toReversed())).toEqual([4, 2, 3, 1, 0]));

it('another document is another entry, even if it takes the place of one that is gone', () => {
  const now = changed(0, entry('2026-03-10', 'Petition for a writ of mandamus filed.', '955'));
  expect(match(KNOWN, now)).toEqual([null, 1, 2, 3, 4]);
});

it('an entry of the same day elsewhere in the list is new', () => {
  const now = [entry('2026-06-18', 'Motion for leave to proceed.'), ...KNOWN.slice(0, 4)];
  expect(match(KNOWN, now)[0]).toBeNull();
});

it('nothing is taken for a correction in a part of the docket', () =>
  expect(match(KNOWN, [entry('2026-06-18', 'Judgment VACATED.')], false)).toEqual([null]));
