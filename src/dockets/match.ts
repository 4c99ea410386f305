/**
 * Matches the entries of a snapshot with the known filings (docs/design/dockets.md#matching). Pure. Strongest rule
 * first: source ids; number and text; without a number, day filed and text without clerks' additions; if one side has
 * no text yet, what remains. Two different ids of one kind always mean two filings.
 */
import { hasMark, sameUnderMasks } from './masked-text.ts';
import { DOCUMENT_NUMBER, pairInPlace } from './match-in-place.ts';
import { differ, groupBy, type Item, type Matchable, nearEnough, type Pair, toItem } from './match-item.ts';
import { type MatchRules, NO_RULES, pairTextless } from './match-textless.ts';
import { textKey } from './text.ts';

export interface Matches {
  /** For each entry the index of its known filing, or null for a new one. */
  readonly filingOf: readonly (number | null)[];
  /** Entries that repeat an earlier entry of the same snapshot. */
  readonly duplicates: ReadonlySet<number>;
  /** Pairs of known filings that turn out to be one: the second is another record of the first. */
  readonly merges: readonly (readonly [matched: number, other: number])[];
}

/** At most this many similar items of one entry are examined. */
const LOOKED_AT = 200;

/**
 * @param whole whether the entries are all that the docket has, and newer than what is known of it. Then a known filing
 * without another match is one of the entries without another match
 */
export function matchEntries(
  known: readonly Matchable[],
  entries: readonly Matchable[],
  whole: boolean,
  rules: MatchRules = NO_RULES,
): Matches {
  const filingOf: (number | null)[] = entries.map(() => null);
  const duplicates = findDuplicates(entries);
  if (known.length === 0) return { filingOf, duplicates, merges: [] };
  const filings = known.map(toItem);
  const incoming = entries.map(toItem);
  const taken = new Set<number>();

  const open = (): Item[] => incoming.filter(({ index }) => filingOf[index] === null && !duplicates.has(index));
  const free = (): Item[] => filings.filter(({ index }) => !taken.has(index));
  const pair = (filing: Item, entry: Item): void => {
    filingOf[entry.index] = filing.index;
    taken.add(filing.index);
  };

  pairByIds(free(), open(), taken, pair);
  const sameKey = (keys: (item: Item) => string | null | false): void => pairByKey(free(), open(), keys, taken, pair);
  sameKey(({ number, text, day, entered }) => number !== null && `${number}\n${day}\n${entered}\n${text}`);
  sameKey(({ number, text, day }) => number !== null && `${number}\n${day}\n${text}`);
  sameKey(({ number, text }) => number !== null && text && `${number}\n${text}`);
  sameKey(({ number, text, day, entered }) => number === null && text && day && `${day}\n${entered}\n${text}`);
  sameKey(({ number, text, day }) => number === null && text && day && `${day}\n${text}`);
  // Two feeds name one entry: neither has a text, and only one of them may say when it was filed.
  sameKey(
    ({ number, text, moment, hasDescription }) =>
      number === null && !hasDescription && text && moment && `${moment}\n${text}`,
  );
  // A feed repeats an entry whose text has arrived since: the event and the second in which it was made are kept.
  sameKey(
    ({ number, source: { enteredAt, shortDescription } }) =>
      (enteredAt ?? null) && shortDescription && `${number}\n${enteredAt}\n${textKey(shortDescription)}`,
  );
  pairByMaskedText(free(), open(), taken, pair);
  pairByText(free(), open(), taken, pair);
  pairTextless({ filings, incoming, free, open, taken, pair, whole, rules });
  pairRedacted(free(), open(), taken, pair);
  if (whole && rules.correctsInPlace) pairInPlace({ incoming, filingOf, free, open, taken, pair });
  return { filingOf, duplicates, merges: findMerges(filings, incoming, filingOf, taken, whole) };
}

function findDuplicates(entries: readonly Matchable[]): Set<number> {
  const seen = new Set<string>();
  const duplicates = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    const { documentIdentifier, sourceIds, entryNumber, dateFiled, dateEntered, description } = entry;
    const sequence = sourceIds.pacer_seq_no ?? '';
    const hasId = documentIdentifier !== null || sequence !== '';
    // A court gives a number once; without one, two equal entries may be two hearings of a day.
    if (!hasId && (entryNumber === null || description === '')) continue;
    const all = hasId ? '' : JSON.stringify([dateEntered, sourceIds]);
    const key = `${documentIdentifier}\n${sequence}\n${entryNumber}\n${dateFiled}\n${description}\n${all}`;
    if (seen.has(key)) duplicates.add(index);
    seen.add(key);
  }
  return duplicates;
}

/** One id may be on several entries (two entries on one document): number and text then decide. */
function pairByIds(filings: readonly Item[], entries: readonly Item[], taken: Set<number>, pair: Pair): void {
  const byId = groupBy(filings, ({ ids }) => ids);
  const resemblance = (filing: Item, entry: Item): number =>
    (filing.ids.every((id) => entry.ids.includes(id)) ? 1 : 0) +
    (filing.number === entry.number ? 4 : 0) +
    (filing.text === entry.text ? 2 : 0);
  const candidates = entries.map((entry) => ({
    entry,
    filings: [...new Set(entry.ids.flatMap((id) => byId.get(id) ?? []))].filter((filing) => !differ(filing, entry)),
  }));
  for (const least of [7, 4, 0]) {
    for (const { entry, filings: found } of candidates) {
      if (found.length === 0) continue;
      let best: Item | null = null;
      for (const filing of found) {
        if (taken.has(filing.index) || resemblance(filing, entry) < least) continue;
        if (best === null || resemblance(filing, entry) > resemblance(best, entry)) best = filing;
      }
      if (best === null) continue;
      pair(best, entry);
      found.length = 0;
    }
  }
}

/** Pairs items with the same key in docket order, as often as both sides have it. */
function pairByKey(
  filings: readonly Item[],
  entries: readonly Item[],
  keyOf: (item: Item) => string | null | false,
  taken: Set<number>,
  pair: Pair,
): void {
  const keys = (item: Item): string[] => {
    const key = keyOf(item);
    return key ? [key] : [];
  };
  const byKey = groupBy(filings, keys);
  for (const entry of entries) {
    const [key] = keys(entry);
    const group = key === undefined ? undefined : byKey.get(key);
    if (!group) continue;
    while (group[0] && taken.has(group[0].index)) group.shift();
    const filing = group
      .slice(0, LOOKED_AT)
      .find((candidate) => !taken.has(candidate.index) && !differ(candidate, entry));
    if (filing) pair(filing, entry);
  }
}

/** A number that arrives later, or that one source omits: day and text are equal, and one side has no number. */
function pairByText(filings: readonly Item[], entries: readonly Item[], taken: Set<number>, pair: Pair): void {
  const byText = groupBy(filings, ({ day, text }) => (day && text ? [`${day}\n${text}`] : []));
  for (const entry of entries) {
    if (!entry.text || !entry.day) continue;
    const filing = byText
      .get(`${entry.day}\n${entry.text}`)
      ?.slice(0, LOOKED_AT)
      .find(
        (candidate) =>
          !taken.has(candidate.index) &&
          (candidate.number === null || entry.number === null) &&
          !differ(candidate, entry),
      );
    if (filing) pair(filing, entry);
  }
}

/** The same text under two versions of the masking rules. */
function pairByMaskedText(filings: readonly Item[], entries: readonly Item[], taken: Set<number>, pair: Pair): void {
  const marked = new Set([...filings, ...entries].filter(({ text }) => hasMark(text)));
  if (marked.size === 0) return;
  const place = ({ number, day }: Item): string[] => [`${number}\n${day}`];
  const byPlace = groupBy(filings, place);
  for (const entry of entries) {
    const filing = byPlace
      .get(place(entry)[0] ?? '')
      ?.slice(0, LOOKED_AT)
      .find(
        (candidate) =>
          !taken.has(candidate.index) &&
          (marked.has(candidate) || marked.has(entry)) &&
          !differ(candidate, entry) &&
          sameUnderMasks(candidate.text, entry.text),
      );
    if (filing) pair(filing, entry);
  }
}

function pairRedacted(filings: readonly Item[], entries: readonly Item[], taken: Set<number>, pair: Pair): void {
  const redacted = filings.filter(({ source }) => source.redacted === true);
  for (const entry of redacted.length === 0 ? [] : entries) {
    const filing = redacted.find(
      (candidate) =>
        !taken.has(candidate.index) &&
        candidate.number === entry.number &&
        candidate.day === entry.day &&
        nearEnough(candidate.entered, entry.entered) &&
        !differ(candidate, entry),
    );
    if (filing) pair(filing, entry);
  }
}

/** Two known filings are one if an entry is both: by two of its ids, or by its id and by its number and text. */
function findMerges(
  filings: readonly Item[],
  incoming: readonly Item[],
  filingOf: readonly (number | null)[],
  taken: ReadonlySet<number>,
  whole: boolean,
): [number, number][] {
  const left = filings.filter(({ index, source }) => !taken.has(index) && source.redacted !== true);
  if (left.length === 0) return [];
  const byId = groupBy(left, ({ ids }) => ids);
  const placeOf = ({ number, day, text }: Item): string[] =>
    text && (number ?? day) ? [`${number}\n${day}\n${text}`] : [];
  const byText = groupBy(left, (item) => (isUnidentified(item) ? placeOf(item) : []));
  const sameText = groupBy(incoming, placeOf);
  // Entries without a number often share day and text. Only the whole docket says that there is but one, and if there
  // are several, nothing says which of them was recorded twice.
  const isOnly = (place: string): boolean =>
    !place.startsWith('null\n') || (whole && sameText.get(place)?.length === 1 && byText.get(place)?.length === 1);
  const merged = new Set<number>();
  const merges: [number, number][] = [];
  for (const entry of incoming) {
    const filing = filings[filingOf[entry.index] ?? -1];
    if (!filing) continue;
    const isUncertain = filing.number === null || !filing.hasDescription;
    const alike = placeOf(entry).flatMap((place) => (isOnly(place) ? (byText.get(place) ?? []) : []));
    const others = [
      ...entry.ids.flatMap((id) => byId.get(id) ?? []),
      ...(isUncertain ? alike.filter((item) => !areSideBySide(item, filing)) : []),
    ];
    const other = others.find((item) => !merged.has(item.index) && !differ(item, entry) && !differ(item, filing));
    if (!other) continue;
    merged.add(other.index);
    merges.push([filing.index, other.index]);
  }
  return merges;
}

/** Whether one snapshot showed both, so that they are two, however alike. */
const areSideBySide = ({ source: a }: Item, { source: b }: Item): boolean =>
  a.shownAt !== undefined && a.shownAt === b.shownAt;

/** Whether nothing of the court's own identifies it; a number that another service counts by is its own affair. */
const isUnidentified = ({ source }: Item): boolean =>
  source.documentIdentifier === null &&
  source.sourceIds.pacer_seq_no === undefined &&
  source.sourceIds[DOCUMENT_NUMBER] === undefined;
