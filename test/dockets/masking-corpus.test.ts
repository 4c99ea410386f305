/**
 * Checks masking against the labelled corpus: invented entries in the manner of real ones, half of them traps. Rules
 * are tuned only to its `tune` half; the other half shows how well they work on unseen texts.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KINDS, readCorpus, scoreMasking } from '../../bench/support/masking-score.mjs';
import { maskPersonalDetails } from '../../src/dockets/mask.ts';

const corpus = readCorpus(readFileSync(new URL('masking-corpus.tsv', import.meta.url), 'utf8'));
const half = (split: string) => corpus.filter((entry) => entry.split === split);

describe('masking on the labelled corpus', () => {
  it('has at least 300 entries with every kind of detail, and nearly as many without any', () => {
    const plain = corpus.filter(({ details }) => details.length === 0).length;
    expect(corpus.length).toBeGreaterThanOrEqual(300);
    expect(plain / corpus.length).toBeGreaterThan(0.45);
    expect(new Set(corpus.flatMap(({ details }) => details.map(({ kind }) => kind)))).toEqual(new Set(KINDS));
    expect(Math.abs(half('tune').length - half('held-out').length)).toBeLessThanOrEqual(1);
  });

  it.each(['tune', 'held-out'])('reaches the targets of recall and precision on the %s half', (split) => {
    const { recall, precision } = scoreMasking(half(split), maskPersonalDetails);
    expect(recall).toBeGreaterThanOrEqual(0.99);
    expect(precision).toBeGreaterThanOrEqual(0.98);
  });

  it('changes nothing that is already masked', () => {
    const twice = corpus.filter(({ text, country }) => {
      const once = maskPersonalDetails(text, country);
      return maskPersonalDetails(once, country) !== once;
    });
    expect(twice.map(({ id }) => id)).toEqual([]);
  });
});

describe('the score', () => {
  const entry = (text: string) => readCorpus(`id\tsplit\tcountry\ttext\n1\ttune\tUS\t${text}\n`);

  it('counts a partly visible detail as shown', () => {
    const score = scoreMasking(entry('at {address|12 Elm Street, Unit 4}.'), () => 'at [address removed], Unit 4.');
    expect(score).toMatchObject({ recall: 0, precision: 1 });
  });

  it('counts a masking that removes more than the detail, or names another kind, as wrong', () => {
    const text = 'call {phone|212-555-0100} before noon';
    expect(scoreMasking(entry(text), () => 'call [telephone number removed] noon').precision).toBe(0);
    expect(scoreMasking(entry(text), () => 'call [address removed] before noon').precision).toBe(0);
    expect(scoreMasking(entry(text), () => 'call [telephone number removed] before noon').precision).toBe(1);
  });

  it('rejects a masked text that says something else', () => {
    expect(() =>
      scoreMasking(entry('call {phone|212-555-0100} now'), () => 'ring [telephone number removed] now'),
    ).toThrow('1: the masked text');
  });
});
