/** What a snapshot adds to a docket. Pure; assigns no times. */

import type { Country } from '../../courts/court.ts';
import { classifyFiling } from '../../dockets/classify.ts';
import {
  contentOfEntry,
  type DocketDetails,
  type FilingContent,
  REDACTED_FILING,
  servedText,
} from '../../dockets/filing-content.ts';
import { sameUnderMasks, sameValueUnderMasks, withKnownMasks } from '../../dockets/masked-text.ts';
import { matchEntries } from '../../dockets/match.ts';
import { DOCUMENT_NUMBER } from '../../dockets/match-in-place.ts';
import type { Matchable } from '../../dockets/match-item.ts';
import { maskDetails, maskFiling } from '../../dockets/remask.ts';
import type { DocketHeader, DocketSnapshot, SnapshotEntry } from '../../dockets/snapshot.ts';
import { isSameReport } from '../../dockets/text.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { RecordedFiling } from '../../events/docket.ts';
import type { Json } from '../../events/event.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { saysSealed } from '../../sources/juriscraper/entry.ts';
import { closingAfter } from './closing.ts';
import type { DocketState, FilingState } from './fold.ts';

/** The current contents that a docket's events name. */
export interface DocketContents {
  readonly filings: ReadonlyMap<string, FilingContent>;
  /** Null if there are none, or if they are redacted. */
  readonly details: DocketDetails | null;
}

/** A filing of which something changed. */
export interface Revision {
  readonly filing: RecordedFiling;
  readonly content: FilingContent;
  readonly changed: readonly string[];
  /** Whether a field that is served changed. */
  readonly visible: boolean;
}

export interface Comparison {
  /** Entries not seen before, in docket order. */
  readonly unseen: readonly SnapshotEntry[];
  readonly revisions: readonly Revision[];
  /** Filings whose text the source has sealed. */
  readonly sealed: readonly string[];
  /** Those whose text the source has taken away. */
  readonly removed: readonly string[];
  readonly merges: readonly { readonly kept: FilingState; readonly merged: FilingState }[];
  /** The docket's head, if it changed. */
  readonly details: DocketDetails | null;
  readonly unchanged: number;
  /** Entries that repeat another entry of the same snapshot. */
  readonly duplicates: number;
  /** Whether the snapshot is older than what is known. Such a snapshot adds and fills in, but overwrites nothing. */
  readonly stale: boolean;
}

/** @param caseNumber the snapshot's case number in canonical form */
export function compareSnapshot(
  state: DocketState,
  contents: DocketContents,
  snapshot: DocketSnapshot,
  caseNumber: string,
): Comparison {
  const known = [...state.filings.values()];
  const stale = state.lastAskedAt !== null && snapshot.askedAt < state.lastAskedAt;
  // Two snapshots of one instant may both be right, so neither overrides the other.
  const isNewer = state.lastAskedAt === null || snapshot.askedAt > state.lastAskedAt;
  const contentOf = ({ recorded }: FilingState): FilingContent =>
    contents.filings.get(recorded.filingId) ?? REDACTED_FILING;
  const { filingOf, duplicates, merges } = matchEntries(
    known.map((filing) => matchable(filing, contentOf(filing))),
    snapshot.entries,
    snapshot.complete && isNewer,
    {
      numbersAreUnique: snapshot.court.system === 'US federal district courts',
      correctsInPlace: snapshot.court.code === 'scotus',
      isShown: (index) => isShown(state, snapshot, index),
      isLater: (index) => isLater(known[index], snapshot),
    },
  );
  const otherOf = new Map(merges);
  const unseen: SnapshotEntry[] = [];
  const revisions: Revision[] = [];
  const sealed: string[] = [];
  const removed: string[] = [];
  const merged: { kept: FilingState; merged: FilingState }[] = [];
  let unchanged = 0;
  for (const [index, entry] of snapshot.entries.entries()) {
    const position = filingOf[index] ?? null;
    const filing = position === null ? undefined : known[position];
    if (!filing) {
      if (!duplicates.has(index)) unseen.push(entry);
      continue;
    }
    const content = contentOf(filing);
    if (filing.withdrawn || content.redacted === true) {
      unchanged++;
      continue;
    }
    const outdated = isStale(state, filing.askedAt, snapshot.askedAt);
    if (!outdated && entry.sealed && !filing.recorded.sealed && hidesText(content, entry)) {
      sealed.push(filing.recorded.filingId);
      continue;
    }
    if (!outdated && isNewer && losesText(content, entry)) {
      removed.push(filing.recorded.filingId);
      continue;
    }
    const other = known[otherOf.get(position ?? -1) ?? -1];
    const twin = other && !other.withdrawn ? other : null;
    const revision = revise(filing, content, twin, twin && contentOf(twin), entry, outdated, snapshot.court.country);
    if (twin) merged.push(earlierFirst(filing, twin));
    if (revision) revisions.push(revision);
    if (!revision || isMaskingOnly(revision)) unchanged++;
  }
  return {
    unseen,
    revisions,
    sealed,
    removed,
    merges: merged,
    details: changedDetails(state, contents, snapshot, caseNumber),
    unchanged,
    duplicates: duplicates.size,
    stale,
  };
}

/**
 * Whether the last whole docket sheet already contained an entry. Only feeds state the moment of entry. A date on a
 * docket sheet is not enough: it can precede a snapshot that did not contain the entry yet.
 */
function isShown({ lastSheetAskedAt }: DocketState, { entries, isBrief }: DocketSnapshot, index: number): boolean {
  const entry = entries[index];
  if (!entry || lastSheetAskedAt === null) return false;
  const isOfFeed = isBrief === true || (entry.enteredAt === null && entry.dateEntered === null);
  const moment = isOfFeed ? (entry.enteredAt ?? entry.filedAt) : null;
  return moment !== null && moment <= lastSheetAskedAt;
}

/** Clocks of courts and ours may differ by so much. */
const CLOCKS_APART: Micros = 5 * 60 * MICROS_PER_SECOND;

/** Whether a feed says that a filing was made after the snapshot was asked for. */
function isLater(filing: FilingState | undefined, { askedAt }: DocketSnapshot): boolean {
  const enteredAt = filing?.recorded.enteredAt ?? null;
  return enteredAt !== null && toMicros(enteredAt) > toMicros(askedAt) + CLOCKS_APART;
}

const matchable = ({ recorded, askedAt }: FilingState, content: FilingContent): Matchable => ({
  entryNumber: recorded.entryNumber,
  dateFiled: recorded.dateFiled,
  dateEntered: recorded.dateEntered,
  description: content.description,
  shortDescription: content.shortDescription,
  documentIdentifier: content.documentIdentifier,
  sourceIds: content.sourceIds,
  filedAt: recorded.filedAt,
  enteredAt: recorded.enteredAt,
  shownAt: askedAt,
  availableAt: recorded.availableAt,
  redacted: content.redacted === true,
});

/** Everything in the last complete snapshot was current when it was requested, even if nothing changed. */
const isStale = (state: DocketState, knownAt: Instant, askedAt: Instant): boolean =>
  askedAt < knownAt || (state.lastCompleteAskedAt !== null && askedAt < state.lastCompleteAskedAt);

/**
 * A notice of the seal, or nothing, is in the place of the text. Another text replaces it as always. CourtListener never
 * empties a text, so a row without one has never had it.
 */
function hidesText(content: FilingContent, { description, sourceIds }: SnapshotEntry): boolean {
  if (content.description === '' || sameUnderMasks(content.description, description)) return false;
  return description === '' ? sourceIds.courtlistener_id === undefined : saysSealed(description);
}

/** A guess that two entries are one is not enough: its text does not come back. */
const losesText = (content: FilingContent, { blanked, sourceIds }: SnapshotEntry): boolean =>
  blanked === true &&
  content.description !== '' &&
  sourceIds[DOCUMENT_NUMBER] !== undefined &&
  sourceIds[DOCUMENT_NUMBER] === content.sourceIds[DOCUMENT_NUMBER];

function earlierFirst(a: FilingState, b: FilingState): { kept: FilingState; merged: FilingState } {
  return a.recorded.availableAt <= b.recorded.availableAt ? { kept: a, merged: b } : { kept: b, merged: a };
}

/** The new value if there is one. A stale snapshot only fills in missing values. */
const pick = <Value>(known: Value | null, said: Value | null, stale: boolean): Value | null =>
  stale ? (known ?? said) : (said ?? known);

function revise(
  filing: FilingState,
  content: FilingContent,
  twin: FilingState | null,
  twinContent: FilingContent | null,
  entry: SnapshotEntry,
  stale: boolean,
  country: Country,
): Revision | null {
  const base = twin ? earlierFirst(filing, twin).kept.recorded : filing.recorded;
  const whole = twin && twinContent ? fillIn(filing.recorded, twin.recorded) : filing.recorded;
  const wholeContent = twinContent ? mergeContent(content, twinContent, true) : content;
  const nextContent = mergeContent(wholeContent, withKnownMasks(wholeContent, contentOfEntry(entry)), stale);
  const next = nextRecorded(
    whole,
    entry,
    stale || isPoorer(wholeContent, entry),
    !sameUnderMasks(servedText(wholeContent), servedText(nextContent)),
    nextContent,
  );
  const sealed = stale ? whole.sealed : entry.sealed || (whole.sealed && !endsSeal(wholeContent, nextContent, entry));
  const recorded = {
    ...next,
    sealed,
    filingId: base.filingId,
    availableAt: base.availableAt,
    backfilled: base.backfilled,
  };
  const before = base.filingId === filing.recorded.filingId ? content : (twinContent ?? content);
  const changed = changes(base, before, recorded, nextContent);
  if (changed.length === 0 && !twin) return null;
  return {
    filing: recorded,
    // Text that older rules masked is masked again before it is stored.
    content: maskFiling(nextContent, country),
    changed: changed.length === 0 ? ['merged'] : changed,
    visible: twin !== null || changed.some((field) => !UNSERVED.has(field)),
  };
}

/** A feed's entry without text has the day of entry as its filing day, so it only fills in missing values. */
const isPoorer = (known: FilingContent, said: SnapshotEntry): boolean =>
  said.description === '' && known.description !== '';

function fillIn(known: RecordedFiling, other: RecordedFiling): RecordedFiling {
  return {
    ...known,
    entryNumber: known.entryNumber ?? other.entryNumber,
    dateFiled: known.dateFiled ?? other.dateFiled,
    dateEntered: known.dateEntered ?? other.dateEntered,
    enteredAt: known.enteredAt ?? other.enteredAt,
    filedAt: known.filedAt ?? other.filedAt,
    sealed: known.sealed || other.sealed,
  };
}

function nextRecorded(
  known: RecordedFiling,
  entry: SnapshotEntry,
  stale: boolean,
  textChanged: boolean,
  content: FilingContent,
): RecordedFiling {
  const dateFiled = pick(known.dateFiled, entry.dateFiled, stale);
  const dateEntered = pick(known.dateEntered, entry.dateEntered, stale);
  const types = textChanged ? classifyFiling(servedText(content)) : null;
  return {
    ...known,
    entryNumber: pick(known.entryNumber, entry.entryNumber, stale),
    dateFiled,
    dateEntered,
    // An exact time is valid as long as its day is.
    enteredAt: timeOf(dateEntered, known.dateEntered, known.enteredAt, entry.dateEntered, entry.enteredAt, stale),
    filedAt: timeOf(dateFiled, known.dateFiled, known.filedAt, entry.dateFiled, entry.filedAt, stale),
    filingType: types?.primary ?? known.filingType,
    filingTypes: types ? [...types.all] : known.filingTypes,
    sealed: known.sealed,
  };
}

/** A source that does not mention the seal leaves it in force, unless the text that mentioned it has changed. */
const endsSeal = (known: FilingContent, next: FilingContent, { unsealed }: SnapshotEntry): boolean =>
  unsealed === true || !sameUnderMasks(known.description, next.description);

/** The exact time that belongs to the chosen day: the known one or the new one. */
function timeOf(
  day: string | null,
  knownDay: string | null,
  known: Instant | null,
  saidDay: string | null,
  said: Instant | null,
  stale: boolean,
): Instant | null {
  const ofThisDay = (of: string | null, time: Instant | null): Instant | null => (of === day ? time : null);
  return pick(ofThisDay(knownDay, known), saidDay === null ? said : ofThisDay(saidDay, said), stale);
}

/**
 * Merges two contents. These never replace a known value: an empty text, the same text in another report's notation, a
 * short name, an empty list.
 */
function mergeContent(known: FilingContent, said: FilingContent, stale: boolean): FilingContent {
  const takesText =
    said.description !== '' &&
    (known.description === '' || (!stale && !isSameReport(known.description, said.description)));
  const takesList = said.attachments.length > 0 && (known.attachments.length === 0 || !stale);
  const takesDocument = said.documentIdentifier !== null && (known.documentIdentifier === null || !stale);
  // Some courts link documents that have no id.
  const takesLink =
    known.documentIdentifier === null && said.externalUrl !== null && (known.externalUrl === null || !stale);
  return {
    description: takesText ? said.description : known.description,
    shortDescription:
      known.description === '' || known.shortDescription === null
        ? pick(known.shortDescription, known.description === '' ? said.shortDescription : null, stale)
        : known.shortDescription,
    filedBy: takesText ? (said.filedBy ?? known.filedBy) : (known.filedBy ?? said.filedBy),
    documentIdentifier: takesDocument ? said.documentIdentifier : known.documentIdentifier,
    documentIdentifierType: takesDocument ? said.documentIdentifierType : known.documentIdentifierType,
    sourceIds: stale ? { ...said.sourceIds, ...known.sourceIds } : { ...known.sourceIds, ...said.sourceIds },
    externalUrl: takesDocument || takesLink ? said.externalUrl : known.externalUrl,
    attachments: takesList ? said.attachments : known.attachments,
  };
}

/** Fields of a filing that distinguish filings and are not served. */
const UNSERVED: ReadonlySet<string> = new Set(['date_entered', 'short_description', 'source_ids', 'masking']);

/** Fields whose texts are masked. A difference in mask marks alone is not a change. */
const MASKED: ReadonlySet<string> = new Set(['description', 'short_description', 'filed_by', 'attachments']);

/** Whether a revision only shows or hides more of the same texts. */
export const isMaskingOnly = ({ changed }: Revision): boolean => changed.every((field) => field === 'masking');

function changes(
  before: RecordedFiling,
  contentBefore: FilingContent,
  after: RecordedFiling,
  contentAfter: FilingContent,
): string[] {
  const compared: readonly (readonly [string, Json, Json])[] = [
    ['entry_number', before.entryNumber, after.entryNumber],
    ['filed_at', [before.dateFiled, before.filedAt], [after.dateFiled, after.filedAt]],
    ['date_entered', before.dateEntered, after.dateEntered],
    ['entered_at', before.enteredAt, after.enteredAt],
    ['filing_types', before.filingTypes, after.filingTypes],
    ['sealed', before.sealed, after.sealed],
    ['description', servedText(contentBefore), servedText(contentAfter)],
    ['short_description', contentBefore.shortDescription, contentAfter.shortDescription],
    ['filed_by', contentBefore.filedBy, contentAfter.filedBy],
    ['document_identifier', contentBefore.documentIdentifier, contentAfter.documentIdentifier],
    ['source_ids', contentBefore.sourceIds, contentAfter.sourceIds],
    ['external_url', contentBefore.externalUrl, contentAfter.externalUrl],
    ['attachments', contentBefore.attachments as unknown as Json, contentAfter.attachments as unknown as Json],
  ];
  const differing = compared.filter(([, a, b]) => canonicalJson(a) !== canonicalJson(b));
  const fields = differing.map(([field, a, b]) => (MASKED.has(field) && sameValueUnderMasks(a, b) ? 'masking' : field));
  return [...new Set(fields)];
}

function changedDetails(
  state: DocketState,
  contents: DocketContents,
  snapshot: DocketSnapshot,
  caseNumber: string,
): DocketDetails | null {
  const known = contents.details;
  // A later snapshot does not restore redacted content.
  if (state.details !== null && known === null) return null;
  const outdated = state.details !== null && isStale(state, state.details.askedAt, snapshot.askedAt);
  const stale = outdated || (known !== null && snapshot.isBrief === true);
  const list = <Item>(before: readonly Item[], said: readonly Item[]): readonly Item[] =>
    said.length > 0 && (before.length === 0 || !stale) ? said : before;
  const { dateClosed, ...closedBy } = closingAfter(known, snapshot, stale);
  const header = known ? mergeHeader(known.header, snapshot.header, stale) : snapshot.header;
  const next: DocketDetails = {
    caseNumber: known && known.caseNumber.length >= caseNumber.length ? known.caseNumber : caseNumber,
    header: { ...header, dateClosed },
    parties: list(known?.parties ?? [], snapshot.parties),
    crossReferences: list(known?.crossReferences ?? [], snapshot.crossReferences),
    ...closedBy,
  };
  return known && equal(known, next) ? null : maskDetails(next);
}

function mergeHeader(known: DocketHeader, said: DocketHeader, stale: boolean): Omit<DocketHeader, 'dateClosed'> {
  return {
    caseName: pick(known.caseName, said.caseName, stale),
    caseNameSecondary: pick(known.caseNameSecondary, said.caseNameSecondary, stale),
    caseNameSecondaryLanguage: pick(known.caseNameSecondaryLanguage, said.caseNameSecondaryLanguage, stale),
    caseType: pick(known.caseType, said.caseType, stale),
    natureOfProceeding: pick(known.natureOfProceeding, said.natureOfProceeding, stale),
    cause: pick(known.cause, said.cause, stale),
    assignedJudge: pick(known.assignedJudge, said.assignedJudge, stale),
    referredJudge: pick(known.referredJudge, said.referredJudge, stale),
    dateFiled: pick(known.dateFiled, said.dateFiled, stale),
  };
}

const equal = (a: DocketDetails, b: DocketDetails): boolean =>
  canonicalJson(a as unknown as Json) === canonicalJson(b as unknown as Json);
