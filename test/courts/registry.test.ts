import { describe, expect, it } from 'vitest';
import type { Court } from '../../src/courts/court.ts';
import { editDistance } from '../../src/courts/nearest-courts.ts';
import { courts, findCourt, isLive, nearestCourts } from '../../src/courts/registry.ts';
import { registryFaults } from '../../src/courts/registry-faults.ts';
import { REGISTRY_COLUMNS, readRegistry } from '../../src/courts/registry-file.ts';

const change = (code: string, changes: Partial<Court>): Court[] =>
  courts.map((court) => (court.code === code ? { ...court, ...changes } : court));

describe('the court registry', () => {
  it('is valid', () => {
    expect(registryFaults(courts)).toEqual([]);
  });

  it('keeps its order: federal courts first, Canada last', () => {
    expect(courts[0]?.code).toBe('scotus');
    expect(courts.at(-1)?.country).toBe('CA');
  });

  it('finds a court by code and alias, in any letter case, spaces ignored', () => {
    expect(findCourt('cand')?.name).toBe('United States District Court for the Northern District of California');
    expect(findCourt(' CanD ')?.code).toBe('cand');
    for (const [alias, code] of [
      ['arb', 'azb'],
      ['nebraskab', 'neb'],
      ['cofc', 'uscfc'],
      ['fc', 'fct'],
      ['caaf', 'armfor'],
    ] as const) {
      expect(findCourt(alias)?.code).toBe(code);
      expect(findCourt(alias.toUpperCase())?.code).toBe(code);
    }
  });

  it("finds no court by an object's property name, a very long text or an empty one", () => {
    for (const name of ['', ' ', 'constructor', '__proto__', 'toString', 'cand,', 'c'.repeat(1_000_000)]) {
      expect(findCourt(name)).toBeNull();
    }
  });

  it('distinguishes live courts from planned ones', () => {
    expect(isLive(findCourt('cand')!)).toBe(true);
    expect(isLive(findCourt('qc_cs')!)).toBe(false);
  });
});

describe('nearest courts', () => {
  const codes = (typed: string, limit = 5): string[] => nearestCourts(typed, limit).map(({ code }) => code);

  it('lists the code with the fewest typos first', () => {
    expect(codes('candd')[0]).toBe('cand');
    expect(codes('nysdd')[0]).toBe('nysd');
    expect(codes('sctous')[0]).toBe('scotus');
    expect(codes('OK_TULSSA')[0]).toBe('ok_tulsa');
  });

  it('finds a court by a part of its code', () => {
    expect(codes('tulsa')[0]).toBe('ok_tulsa');
    expect(codes('ok_tul')[0]).toBe('ok_tulsa');
  });

  it('include no planned court, nothing if none is near, and no more than requested', () => {
    expect(codes('qc_cs')).not.toContain('qc_cs');
    expect(codes('xxxxxxxxxxxxxxxxxxxxxxxx')).toEqual([]);
    expect(codes('')).toEqual([]);
    expect(codes('ca', 3).length).toBeLessThanOrEqual(3);
  });

  it('are found with bounded work for any text', () => {
    for (const typed of ['a'.repeat(1_000_000), '_'.repeat(5000), '\ud800'.repeat(5000), 'ok_'.repeat(9999)]) {
      const started = performance.now();
      nearestCourts(typed, 5);
      // Unbounded work takes a second or more; a busy machine needs less.
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  });
});

describe('edit distance', () => {
  it.each([
    ['cand', 'cand', 0],
    ['cand', 'candd', 1],
    ['cand', 'cacd', 1],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['a'.repeat(100), `${'a'.repeat(98)}bb`, 2],
  ])('of %s and %s is %i', (a, b, distance) => {
    expect(editDistance(a, b, 3)).toBe(distance);
    expect(editDistance(b, a, 3)).toBe(distance);
  });

  it('is infinite above the bound', () => {
    expect(editDistance('kitten', 'sitting', 2)).toBe(Number.POSITIVE_INFINITY);
    expect(editDistance('a', 'abcdef', 3)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the registry’s validation', () => {
  it.each<[string, Partial<Court>, string]>([
    ['a code in capitals', { code: 'CAND' }, 'the code is not'],
    ['a code used twice', { code: 'cacd' }, 'the name cacd already means'],
    ['an alias that is another court’s code', { aliases: ['nysd'] }, 'the name nysd already means'],
    ['an invalid pattern', { pattern: '(\\d' }, 'is not a regular expression'],
    ['an example that fits in part', { example: 'x3:24-cv-01234' }, 'does not fit'],
    ['an example without a pattern', { pattern: null }, 'an example without a pattern'],
    ['a pattern without an example', { example: null }, 'a pattern without an example'],
    ['an unknown time zone', { timeZone: 'America/Springfield' }, 'the time zone America/Springfield'],
    ['an offset for a time zone', { timeZone: '-05:00' }, 'the time zone -05:00'],
    ['an unknown level', { level: 'moot' as Court['level'] }, 'level moot is not one of'],
    ['a region of three letters', { region: 'CAL' }, 'the region CAL'],
    ['a missing name', { name: ' ' }, 'name or system is missing'],
    ['another total of federal courts', { system: 'California state courts' }, 'US federal courts: 219 instead of 220'],
    ['another total of planned courts', { coverage: 'planned' }, 'planned courts: 40 instead of 39'],
  ])('rejects %s', (_, changes, fault) => {
    expect(registryFaults(change('cand', changes)).join('\n')).toContain(fault);
  });

  it('lists every error at once', () => {
    const faults = registryFaults(
      change('cand', { timeZone: 'nowhere', level: 'moot' as Court['level'], pattern: '(' }),
    );
    expect(faults).toHaveLength(3);
    expect(faults.every((fault) => fault.startsWith('cand: '))).toBe(true);
  });
});

describe('parsing the registry’s file', () => {
  const header = REGISTRY_COLUMNS.join('\t');
  const line = 'xx\t\tSample Court\tUS\t\ttrial\tUS federal\t\t\tAmerica/New_York\ten\tfull\t\t';

  it('reads blanks as null, with either line ending', () => {
    expect(readRegistry(`${header}\r\n${line}\r\n`)).toEqual([
      expect.objectContaining({ code: 'xx', aliases: [], region: null, pattern: null, example: null, note: null }),
    ]);
  });

  it('rejects another header and a broken line', () => {
    expect(() => readRegistry(`code\tname\n${line}`)).toThrow('header');
    expect(() => readRegistry(`${header}\n${line}\nyy\ttwo`)).toThrow('Line 3');
  });
});
