/** What matching compares between a known filing and an entry. */
import type { Instant } from '../runtime/instant.ts';
import { textKey } from './text.ts';

/** The fields that matching uses, of known filings and of entries. */
export interface Matchable {
  readonly entryNumber: number | null;
  readonly dateFiled: string | null;
  readonly dateEntered: string | null;
  readonly description: string;
  readonly shortDescription: string | null;
  readonly documentIdentifier: string | null;
  readonly sourceIds: Readonly<Record<string, string>>;
  /** The exact time that it was filed, if its source has one. */
  readonly filedAt?: Instant | null;
  /** The exact time at which the clerk entered it, if its source has one. */
  readonly enteredAt?: Instant | null;
  /** For a known filing: when the source was asked that showed it as it is known. */
  readonly shownAt?: Instant;
  /** For a known filing: when it was first served. */
  readonly availableAt?: Instant;
  /** The text was removed on record: the filing is matched without it. */
  readonly redacted?: boolean;
}

export interface Item {
  readonly index: number;
  readonly source: Matchable;
  readonly ids: readonly string[];
  readonly number: number | null;
  readonly day: string | null;
  readonly entered: string | null;
  /** The exact time by which a feed dates an entry: some call it the time of filing, others that of entry. */
  readonly moment: Instant | null;
  /**
   * Text for comparison: the description's, or the short name's if there is no description. Empty if there is neither.
   */
  readonly text: string;
  readonly hasDescription: boolean;
}

export function toItem(source: Matchable, index: number): Item {
  const { documentIdentifier, sourceIds, description, shortDescription } = source;
  const ids = documentIdentifier === null ? [] : [`document\n${documentIdentifier}`];
  for (const [kind, id] of Object.entries(sourceIds)) ids.push(`${kind}\n${id}`);
  return {
    index,
    source,
    ids,
    number: source.entryNumber,
    day: source.dateFiled,
    entered: source.dateEntered,
    moment: source.enteredAt ?? source.filedAt ?? null,
    text: textKey(description === '' ? (shortDescription ?? '') : description),
    hasDescription: description !== '',
  };
}

/** Whether the source itself distinguishes the two. */
export function differ(a: Item, b: Item): boolean {
  const sequences = [a.source.sourceIds.pacer_seq_no, b.source.sourceIds.pacer_seq_no];
  if (sequences[0] !== undefined && sequences[1] !== undefined) return sequences[0] !== sequences[1];
  const documents = [a.source.documentIdentifier, b.source.documentIdentifier];
  if (documents[0] !== null && documents[1] !== null) return documents[0] !== documents[1];
  // Entries of a feed have little else that distinguishes them.
  const bare = a.number === null && b.number === null && !a.hasDescription && !b.hasDescription;
  return bare && a.moment !== null && b.moment !== null && a.moment !== b.moment;
}

export const nearEnough = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;

export type Pair = (filing: Item, entry: Item) => void;

export function groupBy<Key>(items: readonly Item[], keys: (item: Item) => readonly Key[]): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    for (const key of keys(item)) {
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
  }
  return groups;
}
