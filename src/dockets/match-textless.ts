/** Matches entries without a text, as feeds have them, with the same entries of a docket sheet. */
import type { Instant } from '../runtime/instant.ts';
import { differ, groupBy, type Item, type Pair } from './match-item.ts';
import { isDistinctive, shareOfWords } from './text.ts';

/** At most this many similar items of each side are compared with each other. */
const WEIGHED_GROUP = 40;
/** The share of a short name's words that a text must contain to match its filing, if nothing else decides. */
const ENOUGH_WORDS = 0.5;

export interface MatchRules {
  /** Whether this court gives each number to only one entry; bankruptcy courts reuse it for related entries. */
  readonly numbersAreUnique: boolean;
  /** Whether entries of this court have no numbers, and their texts are corrected in place. */
  readonly correctsInPlace: boolean;
  /** Whether an entry was made before the last complete check of the docket, which would then have shown it. */
  isShown(entry: number): boolean;
  /** Whether a known filing was made only after the snapshot, which then cannot show it. */
  isLater(filing: number): boolean;
}

export const NO_RULES: MatchRules = {
  numbersAreUnique: false,
  correctsInPlace: false,
  isShown: () => false,
  isLater: () => false,
};

interface Unpaired {
  /** All items of both sides. */
  readonly filings: readonly Item[];
  readonly incoming: readonly Item[];
  /** Items that are not paired yet. */
  free(): readonly Item[];
  open(): readonly Item[];
  readonly taken: ReadonlySet<number>;
  readonly pair: Pair;
  readonly whole: boolean;
  readonly rules: MatchRules;
}

/**
 * Pairs items of which one has at most a short name: its text arrives later, or one source omits it. Numbers are reused
 * and short names are common, so the text must resemble the short name.
 */
export function pairTextless({ filings, incoming, free, open, taken, pair, whole, rules }: Unpaired): void {
  const usesOf = [filings, incoming].map((items) => groupBy(items, numberOf));
  const isUsedOnce = (number: number | null): boolean =>
    number !== null && usesOf.every((uses) => uses.get(number)?.length === 1);
  pairInGroups(free(), open(), numberOf, taken, pair, (filing, entry, share) => {
    // A stub has no document of its own; a feed dates it by the day of its entry.
    const isOnlyStub = isUsedOnce(entry.number) && textless(filing, entry).ids.length === 0;
    if (isOnlyStub && rules.numbersAreUnique) return true;
    if (datesAgree(filing, entry)) return share >= (whole ? 0 : 1);
    return isOnlyStub && share >= (whole ? ENOUGH_WORDS : 1) && isDistinctive(shortNameOf(filing, entry));
  });
  pairInGroups(free(), open(), daysOfUnnumbered, taken, pair, (filing, entry, share) => {
    if (rules.isLater(filing.index)) return false;
    if (!datesAgree(filing, entry) || !timesAgree(filing, entry)) return false;
    if (whole || rules.isShown(entry.index)) return share >= ENOUGH_WORDS;
    return share === 1 && isDistinctive(shortNameOf(filing, entry));
  });
}

type Accepts = (filing: Item, entry: Item, share: number) => boolean;

const numberOf = ({ number }: Item): number[] => (number === null ? [] : [number]);

/** A feed has only the day of entry; a docket sheet also has the day of filing. */
const daysOf = ({ day, entered }: Item): string[] => [
  ...new Set([day, entered].filter((one): one is string => one !== null)),
];

const daysOfUnnumbered = (item: Item): string[] => (item.number === null ? daysOf(item) : []);

function datesAgree(a: Item, b: Item): boolean {
  const [ours, theirs] = [daysOf(a), daysOf(b)];
  return ours.length === 0 || theirs.length === 0 || ours.some((day) => theirs.includes(day));
}

/** Two different exact times mean two entries. So does a filing that was served before the entry was made. */
function timesAgree(filing: Item, entry: Item): boolean {
  if (entry.moment === null) return true;
  if (filing.moment !== null) return isSameTime(filing.moment, entry.moment);
  const { availableAt } = filing.source;
  return entry.hasDescription || availableAt === undefined || availableAt >= entry.moment;
}

const MINUTE = '2026-03-05T15:04'.length;
/** Some texts state the time of entry only to the minute. */
const isSameTime = (a: Instant, b: Instant): boolean =>
  a === b || (a.slice(0, MINUTE) === b.slice(0, MINUTE) && [a, b].some((one) => one.slice(MINUTE).startsWith(':00.')));

function pairInGroups<Key>(
  filings: readonly Item[],
  entries: readonly Item[],
  keysOf: (item: Item) => readonly Key[],
  taken: ReadonlySet<number>,
  pair: Pair,
  accepts: Accepts,
): void {
  const byKey = groupBy(filings, keysOf);
  const used = new Set<Item>();
  for (const [key, group] of groupBy(entries, keysOf)) {
    const free = byKey.get(key)?.filter(({ index }) => !taken.has(index)) ?? [];
    const open = group.filter((entry) => !used.has(entry));
    for (const { filing, entry } of weigh(free, open, accepts)) {
      if (taken.has(filing.index) || used.has(entry)) continue;
      used.add(entry);
      pair(filing, entry);
    }
  }
}

/** The pairs that can be the same, the most likely first. */
function weigh(filings: readonly Item[], entries: readonly Item[], accepts: Accepts) {
  return filings
    .slice(0, WEIGHED_GROUP)
    .flatMap((filing) =>
      entries
        .slice(0, WEIGHED_GROUP)
        .filter((entry) => filing.hasDescription !== entry.hasDescription && !differ(filing, entry))
        .map((entry) => ({ filing, entry, share: shareOfShortName(filing, entry) })),
    )
    .filter(({ filing, entry, share }) => accepts(filing, entry, share))
    .sort((a, b) => b.share - a.share || Number(datesAgree(b.filing, b.entry)) - Number(datesAgree(a.filing, a.entry)));
}

const textless = (a: Item, b: Item): Item => (a.hasDescription ? b : a);

const shortNameOf = (a: Item, b: Item): string => textless(a, b).source.shortDescription ?? '';

/** An entry without even a short name contradicts no text. */
function shareOfShortName(a: Item, b: Item): number {
  const [named, described] = a.hasDescription ? [b, a] : [a, b];
  return named.text === '' ? 1 : shareOfWords(named.source.shortDescription ?? '', described.source.description);
}
