/**
 * Which events a snapshot causes: the delta rule (docs/design/dockets.md#delta-rule). Pure: time and identity are
 * arguments.
 */
import { createHash } from 'node:crypto';
import { classifyFiling } from '../../dockets/classify.ts';
import { endOfDay } from '../../dockets/court-time.ts';
import {
  contentOfEntry,
  detailsBlob,
  type FilingContent,
  filingsBlob,
  servedText,
} from '../../dockets/filing-content.ts';
import { MASKING_VERSION } from '../../dockets/mask.ts';
import type { DocketSnapshot, SnapshotEntry } from '../../dockets/snapshot.ts';
import {
  BaselineCompleted,
  DocketChecked,
  DocketDetailsChanged,
  type DocketEvent,
  DocketOpened,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
  type RecordedFiling,
} from '../../events/docket.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import type { Comparison } from './compare.ts';
import type { DocketState } from './fold.ts';

/** An event whose content has no name yet. Names of blobs are random, so a pure decision cannot know them. */
export interface DocketDraft {
  readonly content: JsonObject | null;
  /** @param name of the stored content; ignored if there is none */
  event(name: string): DocketEvent;
}

export interface Occasion {
  readonly stream: string;
  /** The number as the court writes it. */
  readonly caseNumber: string;
  readonly ingestId: string;
  /** When this service first sees the unseen entries. */
  readonly now: Micros;
  /** The first time that the case clock gave; null if it was not asked (`needsClock`). */
  readonly clockTime: Micros | null;
  /** `CaseClock.oldestAsked` at the moment the clock was read. */
  readonly oldestAsked: Instant | null;
}

/** Filings per event: keeps the event far below 256 KiB, and its content to a blob of moderate size. */
const FILINGS_PER_EVENT = 200;
const CONTENT_PER_EVENT = 1024 * 1024;
const FILING_ID_NAMESPACE = Buffer.from('1f0b7a0e93d54d3a8e0e6f5a1c0f7f3b', 'hex');

/** Whether unseen entries belong to the baseline: from the first complete snapshot until one is completely recorded. */
const isBaseline = (state: DocketState, snapshot: DocketSnapshot): boolean =>
  state.baseline === 'started' || (state.baseline === 'none' && snapshot.complete);

/** Whether unseen entries are as old as the docket, though its first look is not finished. */
const isBacklog = (state: DocketState, snapshot: DocketSnapshot): boolean =>
  state.baseline === 'none' && !snapshot.complete && snapshot.ofFirstLook === true;

/** Whether old entries are recorded of a case that callers may already have an answer about. */
export const meetsCallers = (state: DocketState, snapshot: DocketSnapshot): boolean =>
  state.knownInPart && (isBaseline(state, snapshot) || isBacklog(state, snapshot));

/** Whether recording the difference requires times from the case clock. */
export function needsClock(state: DocketState, comparison: Comparison, snapshot: DocketSnapshot): boolean {
  const { unseen, revisions, sealed, removed, merges } = comparison;
  if (meetsCallers(state, snapshot) && (unseen.length > 0 || isBaseline(state, snapshot))) return true;
  if (unseen.length > 0 && !isBaseline(state, snapshot) && !isBacklog(state, snapshot)) return true;
  return sealed.length + removed.length > 0 || merges.length > 0 || revisions.some(({ visible }) => visible);
}

/** When an entry was made, as far as its dates show: `E(f)` of the delta rule. Null without any date. */
function enteredBy(entry: Pick<SnapshotEntry, 'enteredAt' | 'dateEntered' | 'dateFiled'>, timeZone: string) {
  if (entry.enteredAt !== null) return toMicros(entry.enteredAt);
  const day = entry.dateEntered ?? entry.dateFiled;
  return day === null ? null : endOfDay(timeZone, day);
}

export function decideSnapshot(
  state: DocketState,
  comparison: Comparison,
  snapshot: DocketSnapshot,
  occasion: Occasion,
): readonly DocketDraft[] {
  const { askedAt } = snapshot;
  const drafts: DocketDraft[] = [];
  const add = (event: DocketEvent): number => drafts.push({ content: null, event: () => event });
  const nextTime = clockTimes(occasion.clockTime);

  if (!state.opened) add(DocketOpened.of({ court: snapshot.court.code, caseNumber: occasion.caseNumber }));
  const { details } = comparison;
  if (details) {
    drafts.push({
      content: detailsBlob(details),
      event: (content) => DocketDetailsChanged.of({ askedAt, content, masking: MASKING_VERSION }),
    });
  }

  const { baseline, fresh } = divide(state, comparison.unseen, snapshot, occasion);
  const ordinals = ordinalIds(occasion.stream, state.recordedCount);
  const times = baselineTimes(
    baseline.map(({ entry }) => entry),
    snapshot.court.timeZone,
    // No time of the baseline equals a time from the clock.
    occasion.clockTime === null ? occasion.now : Math.min(occasion.now, occasion.clockTime - 1),
    state.times,
  );
  const baselineFilings = baseline.map(({ entry }, index) => record(entry, ordinals(), times[index] ?? '', false));
  const old = isBacklog(state, snapshot) ? { baseline: false, backlog: true } : { baseline: true };
  drafts.push(...recordings(baselineFilings, askedAt, old));

  for (const { kept, merged } of comparison.merges) {
    const { availableAt } = kept.recorded;
    const ids = { kept: kept.recorded.filingId, merged: merged.recorded.filingId };
    add(FilingsMerged.of({ ...ids, availableAt, revisedAt: nextTime() }));
  }
  for (const { filing, content, changed, visible } of comparison.revisions) {
    const revisedAt = visible ? nextTime() : null;
    drafts.push({
      content: filingsBlob(new Map([[filing.filingId, content]])),
      event: (name) =>
        FilingRevised.of({
          askedAt,
          content: name,
          masking: MASKING_VERSION,
          revisedAt,
          changed: [...changed],
          filing,
        }),
    });
  }
  for (const filingId of comparison.sealed) {
    add(FilingWithdrawn.of({ filingId, reason: 'sealed', revisedAt: nextTime() }));
  }
  for (const filingId of comparison.removed) {
    add(FilingWithdrawn.of({ filingId, reason: 'removed', revisedAt: nextTime() }));
  }
  const isLate = isBaseline(state, snapshot) || isBacklog(state, snapshot);
  const freshFilings = fresh.map(({ entry }) => record(entry, ordinals(), nextTime(), isLate));
  drafts.push(...recordings(freshFilings, askedAt, { baseline: false }));

  const changedSomething = drafts.length > 0;
  const isCompleteLook = snapshot.complete || (snapshot.showsAllChanges === true && state.baseline === 'completed');
  if (snapshot.complete && state.baseline !== 'completed') {
    const gone = comparison.merges.length;
    add(BaselineCompleted.of({ askedAt, filingCount: state.filings.size + comparison.unseen.length - gone }));
  }
  add(
    DocketChecked.of({
      source: snapshot.source,
      askedAt,
      complete: isCompleteLook,
      outcome: outcomeOf(isCompleteLook, comparison.stale, changedSomething),
      ingestId: occasion.ingestId,
    }),
  );
  return drafts;
}

function outcomeOf(isComplete: boolean, stale: boolean, changed: boolean) {
  if (stale) return 'stale';
  if (!changed) return 'unchanged';
  return isComplete ? 'complete' : 'partial';
}

function clockTimes(first: Micros | null): () => Instant {
  let next = first;
  return () => {
    if (next === null) throw new Error('a time of the case clock was needed and not asked for');
    return toInstant(next++);
  };
}

function ordinalIds(stream: string, recorded: number): () => string {
  let ordinal = recorded;
  return () => filingId(stream, ordinal++);
}

/** UUIDv5 of the stream and the filing's ordinal in it, so the same on every node and at every time. */
function filingId(stream: string, ordinal: number): string {
  const bytes = createHash('sha1').update(FILING_ID_NAMESPACE).update(`${stream}\n${ordinal}`).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

interface Placed {
  readonly entry: SnapshotEntry;
}

/** Divides unseen entries into the baseline and news. */
function divide(
  state: DocketState,
  unseen: readonly SnapshotEntry[],
  snapshot: DocketSnapshot,
  { oldestAsked }: Occasion,
): { readonly baseline: readonly Placed[]; readonly fresh: readonly Placed[] } {
  const placed = unseen.map((entry) => ({ entry }));
  if (!isBaseline(state, snapshot) && !isBacklog(state, snapshot)) return { baseline: [], fresh: placed };
  if (!state.knownInPart || oldestAsked === null) return { baseline: placed, fresh: [] };
  const asked = toMicros(oldestAsked);
  const isNews = ({ entry }: Placed): boolean => {
    const entered = enteredBy(entry, snapshot.court.timeZone);
    return entered === null || entered > asked;
  };
  return { baseline: placed.filter((one) => !isNews(one)), fresh: placed.filter(isNews) };
}

/**
 * `available_at` of baseline entries: min(E(f), now), with ties set apart by 1 µs in docket order. The last entry of a
 * tie gets the time itself and the others earlier times, so that no entry leaves its day.
 */
function baselineTimes(
  entries: readonly SnapshotEntry[],
  timeZone: string,
  now: Micros,
  taken: ReadonlySet<Instant>,
): Instant[] {
  if (entries.length === 0) return [];
  const used = new Set<Micros>([...taken].map(toMicros));
  const freeBelow = new Map<Micros, Micros>();
  const times: Instant[] = new Array(entries.length);
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (!entry) continue;
    const latest = Math.min(enteredBy(entry, timeZone) ?? now, now);
    let time = freeBelow.get(latest) ?? latest;
    while (used.has(time)) time--;
    used.add(time);
    freeBelow.set(latest, time - 1);
    times[index] = toInstant(time);
  }
  return times;
}

interface Recording {
  readonly filing: RecordedFiling;
  readonly content: FilingContent;
}

function record(entry: SnapshotEntry, filingId: string, availableAt: Instant, backfilled: boolean): Recording {
  const content = contentOfEntry(entry);
  const types = classifyFiling(servedText(content));
  return {
    filing: {
      filingId,
      entryNumber: entry.entryNumber,
      dateFiled: entry.dateFiled,
      dateEntered: entry.dateEntered,
      enteredAt: entry.enteredAt,
      filedAt: entry.filedAt,
      filingType: types.primary,
      filingTypes: [...types.all],
      sealed: entry.sealed,
      availableAt,
      backfilled,
    },
    content,
  };
}

/** Whether filings belong to the baseline, or are as old although there is none yet. */
interface Age {
  readonly baseline: boolean;
  readonly backlog?: boolean;
}

function* recordings(filings: readonly Recording[], askedAt: Instant, age: Age): Iterable<DocketDraft> {
  let chunk: Recording[] = [];
  let size = 0;
  for (const recording of filings) {
    const more = recording.content.description.length + 200 * (recording.content.attachments.length + 1);
    if (chunk.length === FILINGS_PER_EVENT || (chunk.length > 0 && size + more > CONTENT_PER_EVENT)) {
      yield recordingOf(chunk, askedAt, age);
      chunk = [];
      size = 0;
    }
    chunk.push(recording);
    size += more;
  }
  if (chunk.length > 0) yield recordingOf(chunk, askedAt, age);
}

function recordingOf(chunk: readonly Recording[], askedAt: Instant, age: Age): DocketDraft {
  const filings = chunk.map(({ filing }) => filing);
  return {
    content: filingsBlob(new Map(chunk.map(({ filing, content }) => [filing.filingId, content]))),
    event: (content) => FilingsRecorded.of({ askedAt, content, masking: MASKING_VERSION, ...age, filings }),
  };
}
