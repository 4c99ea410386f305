import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCaseNumber } from '../../src/courts/case-number.ts';
import { numberInWords } from '../../src/courts/number-in-words.ts';
import { courts, findCourt } from '../../src/courts/registry.ts';
import { suggestCaseNumber } from '../../src/courts/suggest-case-number.ts';
import { PRINTED_NUMBERS } from './printed-numbers.ts';

const read = (code: string, written: string) => parseCaseNumber(findCourt(code)!, written);
const all = Object.values(PRINTED_NUMBERS).flat();

describe.each(Object.entries(PRINTED_NUMBERS))('%s', (_family, numbers) => {
  it.each(numbers)('%s: %s is %s', (code, written, canonical) => {
    expect(read(code, written)?.canonical).toBe(canonical);
    expect(read(code, canonical)?.canonical).toBe(canonical);
  });
});

describe('numbers as they are printed', () => {
  it('are two hundred or more', () => {
    expect(new Set(all.map(([code, written]) => `${code} ${written}`)).size).toBeGreaterThanOrEqual(200);
  });

  it('keep the judge and the chapter separately', () => {
    expect(read('insb', '14-80555-JJG-13')?.setAside).toBe('JJG-13');
    expect(read('casb', '24-03115-LA7')?.setAside).toBe('LA7');
    expect(read('nvb', 'BK-S-24-10123-ABL')?.setAside).toBe('S ABL');
    expect(read('nysd', 'S1 24 Cr. 123 (LGS)')?.setAside).toBe('S1 (LGS)');
  });

  it.each([
    // Not a chapter of the code, and not digits that such a court prints after a number.
    ['casb', '24-03115-8'],
    ['casb', '24-03115-LA10'],
    ['casb', '24-03115-659'],
    ['insb', '14-80555-13-14-15-11-7'],
    // Numbered separately from the main cases: without its letter the number would be another case.
    ['ilnb', '08 A 00123'],
    ['cand', '3:24-cv-01234-p1234'],
    ['cand', 'S1 S2 24 Cr. 123'],
    // Two numbers are not one, and letters before a year are another kind of case, or another court's.
    ['nysd', '24-cv-123-24-cv-456'],
    ['azd', 'CR-24-123-24-CR-45'],
    ['nysd', '24-cv-123-1-2-3'],
    ['nysd', '24-1234-cv'],
    ['nysd', '24-1234-cv (L)'],
    ['nysd', 'Criminal No. SW-24-12'],
    ['nysd', 'Civil No. MDL-24-1234'],
    ['mdd', 'Criminal No. SW-24-12'],
    ['nysd', 'Civil Action No. USCA-24-1234'],
    ['nysd', 'CV424-123'],
    ['al_supreme', 'SC-2024-12345'],
    ['al_supreme', 'SC-2024-0123-4'],
    ['ny_appdivfirst', '2024'],
  ])('%s: %s is not a case number', (code, written) => {
    expect(read(code, written)).toBeNull();
  });

  const dress = fc.constantFrom(
    '',
    '-ABC',
    '-abc-13',
    '-AB7',
    '-7',
    '-11',
    ' (ABC)',
    '(ABC)',
    '-A-13',
    ', Ch. 7',
    ' AB Chapter 11',
  );
  const bankruptcy = fc.record({
    office: fc.integer({ min: 1, max: 9 }),
    year: fc.integer({ min: 10, max: 26 }),
    sequence: fc.integer({ min: 1, max: 99_999 }),
  });

  it.each(['insb', 'casb', 'ilnb', 'nyeb', 'flmb', 'nynb', 'moeb'])(
    'of %s mean one case each, regardless of the judge or chapter that follows',
    (code) => {
      const written = (
        { office, year, sequence }: { office: number; year: number; sequence: number },
        behind: string,
      ) =>
        read(
          code,
          `${code === 'nyeb' ? `${office}-` : code === 'flmb' ? `${office}:` : ''}${year}-${code === 'flmb' ? 'bk-' : ''}${String(sequence).padStart(5, '0')}${behind}`,
        );
      const identity = (one: { office: number; year: number; sequence: number }) =>
        JSON.stringify(['nyeb', 'flmb'].includes(code) ? one : { ...one, office: 0 });
      fc.assert(
        fc.property(
          bankruptcy,
          fc.record(
            { office: fc.integer({ min: 1, max: 9 }), sequence: fc.integer({ min: 1, max: 99_999 }) },
            { requiredKeys: [] },
          ),
          dress,
          dress,
          (a, changes, one, other) => {
            const b = { ...a, ...changes };
            const [left, right] = [written(a, one), written(b, other)];
            expect([left?.setAside ?? '', right?.setAside ?? ''].join()).not.toBe('undefined');
            expect(left).not.toBeNull();
            expect(left?.canonical === right?.canonical).toBe(identity(a) === identity(b));
          },
        ),
      );
    },
  );

  it('never lose or change a digit except leading zeros, a century, and what is kept separately', () => {
    const digits = (text: string) =>
      (text.match(/\d+/g) ?? []).map((run) => run.replace(/^0+(?=\d)/, '').replace(/^(?:19|20)(?=\d\d$)/, ''));
    const others = courts.filter(({ system, pattern }) => !system.startsWith('US federal') && pattern !== null);
    const piece = fc.oneof(
      fc.integer({ min: 0, max: 99_999 }).map(String),
      fc.constantFrom('CV', 'cr', 'A', '2024', '24'),
    );
    const text = fc.array(fc.tuple(piece, fc.constantFrom('-', ' ', '', '/')), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...others), text, fc.boolean(), (court, pieces, likeExample) => {
        // Often in the format of the court's example, with other digits: those are close enough to be parsed.
        let next = 0;
        const written = likeExample
          ? (court.example ?? '').replace(
              /\d+/g,
              (run) => pieces[next++]?.[0].match(/\d+/)?.[0].slice(0, run.length) ?? run,
            )
          : pieces.flat().join('');
        const number = parseCaseNumber(court, written);
        if (number === null || number.setAside !== null) return;
        const [before, after] = [digits(written), digits(number.canonical)];
        for (const run of before) expect(after.join(' ')).toContain(run);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('a number that cannot be parsed', () => {
  it('gets a suggestion, or the court’s format in words', () => {
    expect(suggestCaseNumber(findCourt('insb')!, 'my case 14-80555-JJG-13 in Indiana')).toBe('14-80555');
    expect(numberInWords(findCourt('insb')!)).toBe('the year in 2 digits, a dash, 5 digits');
    expect(numberInWords(findCourt('flmb')!)).toMatch(
      /^1 digit, a colon, the year in 2 digits, a dash, letters like bk/,
    );
    expect(numberInWords(findCourt('mn_supreme')!)).toBe('a letter like A, the year in 2 digits, a dash, 4 digits');
    for (const court of courts) expect(numberInWords(court) === null).toBe(court.example === null);
  });
});
