import { describe, expect, it } from 'vitest';
import { compareSnapshot } from '../../../src/commands/docket/compare.ts';
import { decideSnapshot, needsClock } from '../../../src/commands/docket/decide.ts';
import { docket } from '../../../src/commands/docket/docket.ts';
import { type DocketState, evolveDocket, NEW_DOCKET } from '../../../src/commands/docket/fold.ts';
import type { DocketDetails, FilingContent } from '../../../src/dockets/filing-content.ts';
import type { DocketSnapshot } from '../../../src/dockets/snapshot.ts';
import type { DocketEvent } from '../../../src/events/docket.ts';
import { type Instant, toMicros } from '../../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';

const STREAM = 'docket-cand-3:24-cv-01234';
const NOON = '2026-03-01T12:00:00.000000Z';
const LATER = '2026-03-02T12:00:00.000000Z';

/** A docket with the contents that its events reference, as the payload store would hold them. */
interface Known {
  readonly state: DocketState;
  readonly filings: ReadonlyMap<string, FilingContent>;
  readonly details: DocketDetails | null;
}

const NOTHING_KNOWN: Known = { state: NEW_DOCKET, filings: new Map(), details: null };

interface Given {
  readonly askedAt?: Instant;
  readonly complete?: boolean;
  readonly now?: Instant;
  readonly clock?: Instant;
  readonly oldestAsked?: Instant | null;
  readonly source?: string;
  /** What else the snapshot claims about itself. */
  readonly claims?: Pick<DocketSnapshot, 'isBrief' | 'ofFirstLook' | 'showsAllChanges'>;
}

/** Given what is known, when a source shows these entries, then these events and this state follow. */
function when(known: Known, entries: readonly unknown[], given: Given = {}, more: object = {}) {
  const { askedAt = NOON, complete = true, now = NOON, clock = null, oldestAsked = null } = given;
  const { claims = {}, source = 'test' } = given;
  const read = readJuriscraperDocket(rawDocket(entries, more as Record<string, unknown>), {
    askedAt,
    complete,
    source,
  });
  if ('refused' in read) throw new Error(read.refused);
  const snapshot = { ...read.snapshot, ...claims };
  const comparison = compareSnapshot(known.state, known, snapshot, '3:24-cv-01234');
  const asksClock = needsClock(known.state, comparison, snapshot);
  const drafts = decideSnapshot(known.state, comparison, snapshot, {
    stream: STREAM,
    caseNumber: '3:24-cv-01234',
    ingestId: 'ingest',
    now: toMicros(now),
    clockTime: clock === null ? null : toMicros(clock),
    oldestAsked,
  });
  let filings = new Map(known.filings);
  let details = known.details;
  const events = drafts.map((draft, index): DocketEvent => {
    const content = draft.content as { filings?: Record<string, FilingContent>; details?: DocketDetails } | null;
    if (content?.filings) filings = new Map([...filings, ...Object.entries(content.filings)]);
    if (content?.details) details = content.details;
    return draft.event(String(index).padStart(64, '0'));
  });
  // What a snapshot changes breaks no rule of the docket that it was decided on.
  expect(docket.decide(known.state, { type: 'RecordChanges', changes: events })).toEqual(events);
  const next: Known = { state: evolveDocket(known.state, events), filings, details };
  return { events, next, comparison, asksClock, types: events.map(({ type }) => type) };
}

const recorded = (events: readonly DocketEvent[]) =>
  events.flatMap((event) =>
    event.type === 'FilingsRecorded'
      ? event.data.filings.map((filing) => ({ ...filing, baseline: event.data.baseline }))
      : [],
  );

const complaint = rawEntry(1, '2024-02-05', 'COMPLAINT filed by Sample Person.');
const motion = rawEntry(2, '2024-03-01', 'MOTION to Dismiss filed by Example Corporation.');
const order = rawEntry(3, '2024-03-08', 'ORDER granting 2 MOTION to Dismiss.');

describe('the first complete snapshot of a docket', () => {
  it('is its baseline: opened, described, recorded in full, checked', () => {
    const { types, events, asksClock } = when(NOTHING_KNOWN, [complaint, motion]);
    expect(types).toEqual([
      'DocketOpened',
      'DocketDetailsChanged',
      'FilingsRecorded',
      'BaselineCompleted',
      'DocketChecked',
    ]);
    expect(asksClock).toBe(false);
    expect(events.at(-1)?.data).toMatchObject({ outcome: 'complete', complete: true, ingestId: 'ingest' });
  });

  it('makes each filing available at the end of the court’s day of its entry', () => {
    const times = recorded(when(NOTHING_KNOWN, [complaint, motion]).events).map((filing) => filing.availableAt);
    expect(times).toEqual(['2024-02-06T07:59:59.999999Z', '2024-03-02T07:59:59.999999Z']);
  });

  it('separates equal times by a microsecond in docket order, within their day', () => {
    const day = [4, 5, 6].map((number) => rawEntry(number, '2024-02-05', `NOTICE ${number}`));
    const filings = recorded(when(NOTHING_KNOWN, day).events);
    expect(filings.map(({ entryNumber, availableAt }) => [entryNumber, availableAt.slice(17)])).toEqual([
      [4, '59.999997Z'],
      [5, '59.999998Z'],
      [6, '59.999999Z'],
    ]);
  });

  it('never makes a filing available later than it was first seen', () => {
    const today = recorded(when(NOTHING_KNOWN, [rawEntry(1, '2026-03-01', 'NOTICE')]).events);
    const future = recorded(when(NOTHING_KNOWN, [rawEntry(1, '2062-03-01', 'NOTICE')]).events);
    expect([today[0]?.availableAt, future[0]?.availableAt]).toEqual([NOON, NOON]);
  });

  it('splits a large docket into events of moderate size', () => {
    const many = Array.from({ length: 1_001 }, (_, index) => rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`));
    const { events } = when(NOTHING_KNOWN, many);
    const sizes = events.map((event) => JSON.stringify(event.data).length);
    expect(Math.max(...sizes)).toBeLessThan(256 * 1024);
    expect(new Set(recorded(events).map(({ availableAt }) => availableAt)).size).toBe(1_001);
    expect(new Set(recorded(events).map(({ filingId }) => filingId)).size).toBe(1_001);
  });

  it('continues after a crash in its middle, and makes nothing new', () => {
    const many = Array.from({ length: 300 }, (_, index) => rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`));
    const first = when(NOTHING_KNOWN, many);
    const half: Known = { ...first.next, state: evolveDocket(NEW_DOCKET, first.events.slice(0, 3)) };
    expect(half.state.baseline).toBe('started');
    const { events, asksClock } = when(half, many, { now: LATER });
    const rest = recorded(events);
    expect(rest).toHaveLength(100);
    expect(asksClock).toBe(false);
    expect(rest.every(({ baseline, backfilled }) => baseline && !backfilled)).toBe(true);
    const times = [...half.state.times, ...rest.map(({ availableAt }) => availableAt)];
    expect(new Set(times).size).toBe(300);
    expect(times.every((time) => time <= '2024-02-06T07:59:59.999999Z')).toBe(true);
  });
});

describe('a later snapshot', () => {
  const known = when(NOTHING_KNOWN, [complaint, motion]).next;

  it('that shows nothing new records only that the source was asked', () => {
    const { events, types, asksClock } = when(known, [complaint, motion], { askedAt: LATER });
    expect(types).toEqual(['DocketChecked']);
    expect(asksClock).toBe(false);
    expect(events[0]?.data).toMatchObject({ outcome: 'unchanged', askedAt: LATER });
  });

  it('gives added filings a time of the case clock, regardless of their date', () => {
    const late = rawEntry(4, '2024-02-06', 'EXHIBIT docketed late');
    const { events, asksClock } = when(known, [complaint, late, motion, order], { askedAt: LATER, clock: LATER });
    expect(asksClock).toBe(true);
    expect(
      recorded(events).map(({ entryNumber, availableAt, baseline }) => [entryNumber, availableAt, baseline]),
    ).toEqual([
      [4, '2026-03-02T12:00:00.000000Z', false],
      [3, '2026-03-02T12:00:00.000001Z', false],
    ]);
  });

  it('revises a filing whose text or number changed, without announcing it as new', () => {
    const changed = { ...motion, description: 'MOTION to Dismiss, corrected.', document_number: '7' };
    const { events } = when(known, [complaint, changed], { askedAt: LATER, clock: LATER });
    expect(recorded(events)).toEqual([]);
    const revision = events.find(({ type }) => type === 'FilingRevised');
    expect(revision?.data).toMatchObject({
      revisedAt: LATER,
      changed: ['entry_number', 'description', 'filed_by'].slice(0, 2),
    });
  });

  it('records silently when only the source counts it as a filing', () => {
    const bare = when(NOTHING_KNOWN, [{ ...motion, pacer_seq_no: null }]).next;
    const { events, asksClock } = when(bare, [motion], { askedAt: LATER });
    expect(asksClock).toBe(false);
    expect(events[0]).toMatchObject({ type: 'FilingRevised', data: { revisedAt: null, changed: ['source_ids'] } });
  });

  it('never replaces a text by an empty one', () => {
    const textless = { ...motion, description: '', short_description: 'Motion to Dismiss' };
    expect(when(known, [complaint, textless], { askedAt: LATER }).types).toEqual(['DocketChecked']);
  });

  it('never treats a missing filing as withdrawn', () => {
    expect(when(known, [complaint], { askedAt: LATER }).types).toEqual(['DocketChecked']);
  });

  it('that was requested earlier overwrites nothing; it adds, and fills in', () => {
    const newer = when(known, [complaint, { ...motion, description: 'MOTION, as it is now.' }], {
      askedAt: LATER,
      clock: LATER,
    }).next;
    const older = when(newer, [complaint, motion, order], { askedAt: NOON, clock: '2026-03-03T12:00:00.000000Z' });
    expect(older.types).toEqual(['FilingsRecorded', 'DocketChecked']);
    expect(older.events.at(-1)?.data).toMatchObject({ outcome: 'stale' });
    expect(recorded(older.events).map(({ entryNumber }) => entryNumber)).toEqual([3]);
  });

  it('hides a text that the court has sealed', () => {
    const sealed = { ...motion, description: 'SEALED DOCUMENT filed by Example Corporation.' };
    const { events, next } = when(known, [complaint, sealed], { askedAt: LATER, clock: LATER });
    expect(events[0]).toMatchObject({ type: 'FilingWithdrawn', data: { reason: 'sealed', revisedAt: LATER } });
    expect(when(next, [complaint, motion], { askedAt: '2026-03-04T00:00:00.000000Z' }).types).toEqual([
      'DocketChecked',
    ]);
  });

  it('merges two records of one filing, keeps the earlier time and announces nothing twice', () => {
    const halves = [
      { ...order, pacer_seq_no: null, document_number: null, description: '', short_description: 'Order' },
      { ...order, pacer_doc_id: null, description: 'ORDER.' },
    ];
    const two = when(known, [complaint, motion, ...halves], { askedAt: LATER, clock: LATER }).next;
    expect(two.state.filings.size).toBe(4);
    const { events, next } = when(two, [complaint, motion, order], {
      askedAt: '2026-03-04T00:00:00.000000Z',
      clock: '2026-03-04T00:00:00.000000Z',
    });
    expect(events.map(({ type }) => type)).toEqual(['FilingsMerged', 'FilingRevised', 'DocketChecked']);
    expect(events[0]?.data).toMatchObject({ availableAt: LATER });
    expect(next.state.filings.size).toBe(3);
  });

  it('merges no two filings that one docket sheet showed, though another source has but one of them', () => {
    const minutes = rawEntry(null, '2024-03-01', 'MINUTE ENTRY for proceedings held.');
    const { next } = when(NOTHING_KNOWN, [minutes, minutes]);
    expect(next.state.filings.size).toBe(2);
    const { comparison } = when(next, [{ ...minutes, pacer_seq_no: '7' }], { askedAt: LATER, source: 'courtlistener' });
    expect(comparison.merges).toEqual([]);
  });

  it('does not restore a redacted text', () => {
    const id = [...known.filings.keys()][1]!;
    const redacted = {
      ...known,
      filings: new Map(known.filings).set(id, { ...known.filings.get(id)!, description: '', redacted: true }),
    };
    expect(when(redacted, [complaint, motion], { askedAt: LATER }).types).toEqual(['DocketChecked']);
  });

  it('keeps the parts of the docket’s head that it does not state', () => {
    const { types } = when(
      known,
      [complaint, motion],
      { askedAt: LATER },
      { parties: [], cause: '', assigned_to_str: null },
    );
    expect(types).toEqual(['DocketChecked']);
    const { next } = when(known, [complaint, motion], { askedAt: LATER }, { date_terminated: '2026-03-01' });
    expect(next.details?.header).toMatchObject({ dateClosed: '2026-03-01', assignedJudge: 'Robin Judge' });
  });
});

describe('a docket known in part', () => {
  const part = when(NOTHING_KNOWN, [motion], { complete: false, clock: NOON }).next;

  it('has no baseline: what is seen is available from the case clock on', () => {
    expect(part.state).toMatchObject({ knownInPart: true, baseline: 'none', checked: true });
    expect([...part.state.times]).toEqual([NOON]);
  });

  it('at its first complete snapshot treats as new what was entered after the oldest query', () => {
    const { events, asksClock } = when(part, [complaint, motion, order], {
      askedAt: LATER,
      now: LATER,
      clock: LATER,
      oldestAsked: '2024-03-05T00:00:00.000000Z',
    });
    expect(asksClock).toBe(true);
    expect(
      recorded(events).map(({ entryNumber, availableAt, backfilled }) => [entryNumber, availableAt, backfilled]),
    ).toEqual([
      [1, '2024-02-06T07:59:59.999999Z', false],
      [3, LATER, true],
    ]);
    expect(events.map(({ type }) => type)).toContain('BaselineCompleted');
  });

  it('treats everything as history if there was never a query', () => {
    const { events } = when(part, [complaint, motion, order], { askedAt: LATER, now: LATER, clock: LATER });
    expect(recorded(events).every(({ baseline }) => baseline)).toBe(true);
  });
});

describe('a first look that comes in parts', () => {
  const part = { complete: false, claims: { ofFirstLook: true } } as const;

  it('records entries as old as they are, and is answered before it ends', () => {
    const { events, next, asksClock } = when(NOTHING_KNOWN, [complaint], part);
    expect(recorded(events)).toMatchObject([
      { availableAt: '2024-02-06T07:59:59.999999Z', backfilled: false, baseline: false },
    ]);
    expect(events.find(({ type }) => type === 'FilingsRecorded')?.data).toMatchObject({ backlog: true });
    expect(asksClock).toBe(false);
    expect(next.state).toMatchObject({ baseline: 'none', knownInPart: true });
  });

  it('makes new what is younger than an answer, and nothing else', () => {
    const { next } = when(NOTHING_KNOWN, [complaint], part);
    const asked = { ...part, askedAt: LATER, now: LATER, clock: LATER, oldestAsked: '2024-03-05T00:00:00.000000Z' };
    const { events, asksClock } = when(next, [complaint, motion, order], asked);
    expect(asksClock).toBe(true);
    expect(
      recorded(events).map(({ entryNumber, availableAt, backfilled }) => [entryNumber, availableAt, backfilled]),
    ).toEqual([
      [2, '2024-03-02T07:59:59.999999Z', false],
      [3, LATER, true],
    ]);
  });

  it('ends with its complete part, which repeats nothing', () => {
    const { next } = when(NOTHING_KNOWN, [complaint, motion], part);
    const { types } = when(next, [complaint, motion], { askedAt: LATER, clock: LATER });
    expect(types).toEqual(['BaselineCompleted', 'DocketChecked']);
  });
});

describe('a look at all that changed', () => {
  const changes = { complete: false, claims: { showsAllChanges: true }, askedAt: LATER, clock: LATER } as const;

  it('is complete after a complete one, and completes nothing before', () => {
    const { next } = when(NOTHING_KNOWN, [complaint, motion]);
    const after = when(next, [], changes);
    expect(after.events.map(({ data }) => data)).toMatchObject([{ complete: true, outcome: 'unchanged' }]);
    expect(after.next.state.lastCompleteAskedAt).toBe(LATER);
    const { next: partly } = when(NOTHING_KNOWN, [complaint], { complete: false, clock: NOON });
    const before = when(partly, [order], changes);
    expect(before.events.at(-1)?.data).toMatchObject({ complete: false, outcome: 'partial' });
    expect(before.next.state).toMatchObject({ baseline: 'none', lastCompleteAskedAt: null });
  });

  it('takes no entry that it does not show for one that it shows', () => {
    const { next } = when(NOTHING_KNOWN, [complaint, motion]);
    const { events } = when(next, [order], changes);
    expect(recorded(events).map(({ entryNumber, availableAt }) => [entryNumber, availableAt])).toEqual([[3, LATER]]);
  });
});

describe('an entry of a feed that was made before the last complete look', () => {
  const minutes = rawEntry(null, '2026-03-01', 'Minute Entry for proceedings held: Initial Case Management.');
  const stub = { ...rawEntry(null, '2026-03-01', ''), short_description: 'Case Management Conference' };
  const entered = { date_filed: null, date_entered: '2026-03-01T11:50:00.000000Z' };
  const feed = { complete: false, askedAt: LATER, clock: LATER, claims: { isBrief: true } } as const;

  it('was on the docket sheet, under a text that resembles it', () => {
    const { next } = when(NOTHING_KNOWN, [minutes]);
    expect(recorded(when(next, [{ ...stub, ...entered }], { ...feed, source: 'rss' }).events)).toEqual([]);
  });

  it('is another one if CourtListener was asked, which has only what somebody has brought to it', () => {
    const { next } = when(NOTHING_KNOWN, [minutes], { source: 'courtlistener' });
    const { events } = when(next, [{ ...stub, ...entered }], { ...feed, source: 'rss' });
    expect(recorded(events)).toMatchObject([{ availableAt: LATER }]);
  });
});

describe('a document that becomes sealed', () => {
  const sealed = (more: object = {}) => ({ ...motion, is_sealed: true, ...more });
  const given = { askedAt: LATER, clock: LATER };
  const AFTER = { askedAt: '2026-03-05T00:00:00.000000Z', clock: '2026-03-05T00:00:00.000000Z' };

  it('leaves its entry the public text, also one that changes with the seal', () => {
    const { next } = when(NOTHING_KNOWN, [complaint, motion]);
    for (const entry of [sealed(), sealed({ description: 'MOTION to Dismiss, corrected.' })]) {
      const { events } = when(next, [complaint, entry], given);
      expect(events[0]).toMatchObject({ type: 'FilingRevised', data: { filing: { sealed: true } } });
    }
  });

  it('stays sealed for a source that says nothing, until one says otherwise or the text changes', () => {
    const { next } = when(when(NOTHING_KNOWN, [complaint, motion]).next, [complaint, sealed()], given);
    expect(when(next, [complaint, motion], AFTER).types).toEqual(['DocketChecked']);
    expect(when(next, [complaint, { ...motion, description: '' }], AFTER).types).toEqual(['DocketChecked']);
    for (const open of [
      { ...motion, is_sealed: false },
      { ...motion, description: 'MOTION to Dismiss, unsealed.' },
    ]) {
      const { events } = when(next, [complaint, open], AFTER);
      expect(events[0]).toMatchObject({ type: 'FilingRevised', data: { filing: { sealed: false } } });
    }
  });
});
