/** The properties of case numbers, checked for every court of the registry (docs/design/dockets.md#case-numbers). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBeSameCase, parseCaseNumber } from '../../src/courts/case-number.ts';
import type { CaseNumber, Court } from '../../src/courts/court.ts';
import { courts } from '../../src/courts/registry.ts';
import { SEED } from '../support/seed.ts';

/** Numbers that fit most courts' patterns, in the ways in which people type them. */
const year = fc.integer({ min: 80, max: 126 }).map((two) => 1900 + two);
const sequence = fc.integer({ min: 1, max: 99_999 }).map(String);
const likelyNumber = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), year, fc.constantFrom('cv', 'cr', 'bk', 'CV', 'ap', 'mj'), sequence)
    .map(([office, full, type, number]) => `${office}:${String(full).slice(2)}-${type}-${number}`),
  fc.tuple(year, sequence).map(([full, number]) => `${String(full).slice(2)}-${number}`),
  fc
    .tuple(fc.constantFrom('CJ', 'CF', 'C', 'F', 'T', 'A', 'CV', 'FAM'), year, sequence)
    .map((parts) => parts.join('-')),
  fc.tuple(year, fc.constantFrom('CV', 'CA', 'C'), sequence).map((parts) => parts.join(' ')),
  fc.tuple(sequence, year).map((parts) => parts.join('/')),
  sequence,
);

const published = new Map<string, fc.Arbitrary<string>>();
function publishedBy({ pattern }: Court): fc.Arbitrary<string> {
  if (pattern === null) return likelyNumber;
  const known = published.get(pattern) ?? fc.stringMatching(new RegExp(`^(?:${pattern})$`));
  published.set(pattern, known);
  return known;
}

/** How a number is decorated in print, and what can happen to it in transit. */
const DRESSES: readonly ((number: string) => string)[] = [
  (number) => number,
  (number) => ` ${number}\n`,
  (number) => `No. ${number}`,
  (number) => `Case No. ${number}`,
  (number) => number.replaceAll('-', '–'),
  (number) => number.replaceAll(' ', '\u00a0'),
];
/** If a court publishes no form, letters in the other case may be another number. */
const dressesFor = ({ pattern }: Court) =>
  pattern === null ? DRESSES : [...DRESSES, (number: string) => number.toLowerCase()];

const PER_COURT = 6;
const MUCH_MS = 25;

/** Each court with its own numbers. */
const samples: readonly (readonly [Court, readonly string[]])[] = courts.map((court, index) => {
  const drawn = fc.sample(fc.oneof(publishedBy(court), likelyNumber), { numRuns: PER_COURT, seed: SEED + index });
  return [court, court.example === null ? drawn : [court.example, ...drawn]];
});

describe('every court', () => {
  it('has its own numbers here', () => {
    const silent = samples.filter(([court, typed]) => typed.every((text) => parseCaseNumber(court, text) === null));
    expect(silent.map(([{ code }]) => code)).toEqual([]);
  });

  it('parses its canonical form as itself, the same in every part that distinguishes cases', () => {
    const tells = ({ canonical, core, complete, office }: CaseNumber) => ({ canonical, core, complete, office });
    const changed: unknown[] = [];
    for (const [court, typed] of samples) {
      for (const text of typed) {
        const number = parseCaseNumber(court, text);
        if (number === null) continue;
        const again = parseCaseNumber(court, number.canonical);
        if (again === null || JSON.stringify(tells(again)) !== JSON.stringify(tells(number))) {
          changed.push([court.code, text, number, again]);
        }
      }
    }
    expect(changed).toEqual([]);
  });

  it('parses a printed number in every decoration', () => {
    const lost: unknown[] = [];
    for (const [court, typed] of samples) {
      for (const text of typed) {
        const canonical = parseCaseNumber(court, text)?.canonical;
        if (canonical === undefined) continue;
        for (const dress of dressesFor(court)) {
          const again: string | undefined = parseCaseNumber(court, dress(canonical))?.canonical;
          if (again !== canonical) lost.push([court.code, canonical, dress(canonical), again]);
        }
      }
    }
    expect(lost).toEqual([]);
  });

  it('has one case per number with its office: two such numbers that can be one case are equal', () => {
    for (const [court, typed] of samples) {
      const numbers = typed.flatMap((text) => parseCaseNumber(court, text) ?? []).filter(({ complete }) => complete);
      for (const a of numbers) {
        for (const b of numbers) {
          expect(canBeSameCase(a, b), `${court.code} ${a.canonical} ${b.canonical}`).toBe(a.canonical === b.canonical);
          if (a.canonical === b.canonical) expect([a.core, a.office]).toEqual([b.core, b.office]);
        }
      }
    }
  });

  it('never throws and never takes long, for any typed text', () => {
    const hostile = [
      '',
      '\0',
      '0'.repeat(128),
      '-'.repeat(128),
      'No. '.repeat(32),
      '1-'.repeat(64),
      '1 '.repeat(64),
      'A'.repeat(128),
      '(A)'.repeat(42),
      '\ufdfa'.repeat(128),
      '24-cv-'.repeat(21),
      `${'1'.repeat(60)}-${'A'.repeat(60)}`,
      ...fc.sample(fc.string({ unit: 'binary', maxLength: 128 }), 4),
    ];
    const slow: unknown[] = [];
    for (const [court, typed] of samples) {
      for (const text of [...hostile, ...typed]) {
        // The best of many, and far above the usual fraction of a millisecond: neither other work on the machine nor a
        // slow processor is a property of the grammar. A pattern that backtracks needs seconds.
        let best = Number.POSITIVE_INFINITY;
        for (let turn = 0; turn < 10 && best > MUCH_MS; turn++) {
          const started = performance.now();
          parseCaseNumber(court, text);
          best = Math.min(best, performance.now() - started);
        }
        if (best > MUCH_MS) slow.push([court.code, text, best]);
      }
    }
    expect(slow).toEqual([]);
  });
});
