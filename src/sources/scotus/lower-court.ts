/** The court below, and its case numbers, as the Supreme Court writes them. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Court } from '../../courts/court.ts';
import { courts } from '../../courts/registry.ts';
import type { CrossReference } from '../../dockets/snapshot.ts';
import { cleanText, clip } from '../../dockets/text.ts';

const MAX_NUMBERS = 50;
const MAX_NUMBER = 60;

/** `Supreme Court of Florida` and `Florida Supreme Court` are one court. */
const keyOf = (name: string): string =>
  cleanText(name)
    .toLowerCase()
    .replace(/^(supreme court) of (?:the )?(.{1,60})$/, '$2 $1')
    .replace(/\b(?:the|of|for)\b|[.,]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const byName: ReadonlyMap<string, Court> = new Map(courts.map((court) => [keyOf(court.name), court]));

/** The court with this name, if it is registered. */
export const lowerCourt = (name: string): Court | null => byName.get(keyOf(clip(name, 200))) ?? null;

/** What the case came from: one reference for each number of the court below. */
export function lowerCourtReferences(court: Court | null, numbers: string): readonly CrossReference[] {
  const seen = new Set<string>();
  for (const written of numbersIn(court, clip(cleanText(numbers), 2_000))) {
    const number = court && parseCaseNumber(court, written);
    seen.add(number?.canonical ?? written);
    if (seen.size === MAX_NUMBERS) break;
  }
  return [...seen].map((caseId) => ({ caseId, courtCode: court?.code ?? null, relationship: 'appealed_from' }));
}

/** A prefix that a list gives only once: `21-55085, 55145` and `21-55085, -55145`. */
const PREFIX = /^(.{0,20}?\d{2,4}-)\d+$/;
const REST = /^-?(\d+)$/;

/** Numbers of a list. Its separators differ, and repeated prefixes are left out. Of a range, both ends are named. */
function numbersIn(court: Court | null, list: string): readonly string[] {
  const numbers: string[] = [];
  let prefix = '';
  const add = (item: string): void => {
    const rest = REST.exec(item)?.[1];
    const number = rest !== undefined && prefix !== '' ? `${prefix}${rest}` : item;
    prefix = PREFIX.exec(number)?.[1] ?? prefix;
    numbers.push(clip(number, MAX_NUMBER));
  };
  const parts = list
    .replace(/[()]/g, ' ')
    .split(/[,;&]|\band\b|\bthrough\b| (?:to|-|–|—) |–|—/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  for (const part of parts) {
    // A slash separates numbers, and is a part of some.
    const isWhole = !part.includes('/') || (court !== null && parseCaseNumber(court, part) !== null);
    for (const item of isWhole ? [part] : part.split('/')) if (item.trim() !== '') add(item.trim());
  }
  return numbers;
}
