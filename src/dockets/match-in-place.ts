/**
 * Matches entries that a court corrected in place, in a list that shows the whole docket and gives most entries no id:
 * the day and most of the text remain, or the place between two entries that did not change.
 */
import { groupBy, type Item, type Pair } from './match-item.ts';
import { shareOfWords } from './text.ts';

/** The share of the words that a corrected text keeps. */
const ENOUGH_WORDS = 0.5;
/** At most this many entries of one day are compared with each other. */
const WEIGHED_GROUP = 40;

/** The only id that such a list has: that of an entry's documents. */
export const DOCUMENT_NUMBER = 'scotus_document';

interface Unpaired {
  readonly incoming: readonly Item[];
  readonly filingOf: readonly (number | null)[];
  free(): readonly Item[];
  open(): readonly Item[];
  readonly taken: ReadonlySet<number>;
  readonly pair: Pair;
}

export function pairInPlace({ incoming, filingOf, free, open, taken, pair }: Unpaired): void {
  pairSimilar(free(), open(), taken, pair);
  const left = free();
  if (left.length === 0) return;
  const places = placesOf(incoming, filingOf);
  pairOnly(left, open(), places, ({ day }) => day, pair);
  // The date was corrected.
  pairOnly(free(), open(), places, ({ text }) => text, pair);
}

/** Of one day, the most similar first. */
function pairSimilar(filings: readonly Item[], entries: readonly Item[], taken: ReadonlySet<number>, pair: Pair): void {
  const byDay = groupBy(filings, dayOf);
  for (const [day, group] of groupBy(entries, dayOf)) {
    const used = new Set<Item>();
    const pairs = (byDay.get(day) ?? []).slice(0, WEIGHED_GROUP).flatMap((filing) =>
      group
        .slice(0, WEIGHED_GROUP)
        .filter((entry) => !areTwo(filing, entry))
        .map((entry) => ({ filing, entry, share: similarity(filing, entry) })),
    );
    for (const { filing, entry, share } of pairs.sort((a, b) => b.share - a.share)) {
      if (share < ENOUGH_WORDS) break;
      if (taken.has(filing.index) || used.has(entry)) continue;
      used.add(entry);
      pair(filing, entry);
    }
  }
}

const dayOf = ({ day }: Item): string[] => (day === null ? [] : [day]);

/** Both ways, so that a short text is not the same as every longer one. */
const similarity = (a: Item, b: Item): number => Math.min(shareOfWords(a.text, b.text), shareOfWords(b.text, a.text));

const areTwo = ({ source: a }: Item, { source: b }: Item): boolean => {
  const [known, said] = [a.sourceIds[DOCUMENT_NUMBER], b.sourceIds[DOCUMENT_NUMBER]];
  return known !== undefined && said !== undefined && known !== said;
};

/** For each entry, the filings that the nearest matched entries before and after it are. */
type Places = readonly { readonly after: number; readonly before: number }[];

function placesOf(incoming: readonly Item[], filingOf: readonly (number | null)[]): Places {
  const places = incoming.map(() => ({ after: -1, before: Number.POSITIVE_INFINITY }));
  let nearest = -1;
  for (const [index, place] of places.entries()) {
    place.after = nearest;
    nearest = filingOf[index] ?? nearest;
  }
  nearest = Number.POSITIVE_INFINITY;
  for (let index = places.length - 1; index >= 0; index--) {
    const place = places[index];
    if (place) place.before = nearest;
    nearest = filingOf[index] ?? nearest;
  }
  return places;
}

/** Pairs the only filing that has a key with the only entry that has it, if they are at the same place. */
function pairOnly(
  filings: readonly Item[],
  entries: readonly Item[],
  places: Places,
  keyOf: (item: Item) => string | null,
  pair: Pair,
): void {
  const keys = (item: Item): string[] => [keyOf(item) ?? ''].filter((key) => key !== '');
  const byKey = groupBy(filings, keys);
  for (const [key, [entry, ...others]] of groupBy(entries, keys)) {
    const [filing, ...more] = byKey.get(key) ?? [];
    if (!filing || !entry || others.length > 0 || more.length > 0 || areTwo(filing, entry)) continue;
    const place = places[entry.index];
    if (place && place.after < filing.index && filing.index < place.before) pair(filing, entry);
  }
}
