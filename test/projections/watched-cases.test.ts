/** What the watch over cases knows: given events of the log, then these documents. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/events/event.ts';
import type { ProjectedEvent } from '../../src/projections/projection.ts';
import { watchedCases } from '../../src/projections/watched-cases.ts';

const DOCKET = 'docket-cand-3:26-cv-02417';
const WANTED = 'source-wanted-cand-3:26-cv-00001';
const at = (hour: number): string => `2026-03-02T${String(hour).padStart(2, '0')}:00:00.000000Z`;

interface Recorded {
  readonly stream: string;
  readonly event: object;
  readonly hour: number;
}
const on = (stream: string) => (hour: number, type: string, data: object) => ({ stream, hour, event: { type, data } });
const docket = on(DOCKET);
const opened = docket(1, 'DocketOpened', { court: 'cand', caseNumber: '3:26-cv-02417' });
const checked = (hour: number, more: object = {}) =>
  docket(hour, 'DocketChecked', {
    source: 'courtlistener',
    askedAt: at(hour),
    complete: true,
    outcome: 'complete',
    ingestId: null,
    ...more,
  });
const recorded = (hour: number, baseline = false) =>
  docket(hour, 'FilingsRecorded', {
    askedAt: at(hour),
    baseline,
    filings: [{ filingId: `f${hour}`, availableAt: at(hour) }],
  });
const answered = (hour: number, ...cases: readonly string[]) =>
  on(`payment-${hour}`)(hour, 'QueryAnswered', cases.length === 0 ? {} : { cases });
const forgotten = docket(20, 'DocketForgotten', { numbers: [] });

/** The documents after these events, by id. */
function given(...events: readonly Recorded[]): Readonly<Record<string, JsonObject>> {
  const documents = new Map<string, JsonObject | null>();
  for (const { stream, event, hour } of events) {
    const projected = {
      event,
      recorded: { stream, metadata: { recordedAt: at(hour) } },
      contents: new Map(),
    } as unknown as ProjectedEvent<never>;
    for (const target of watchedCases.targets(projected)) {
      documents.set(target.id, watchedCases.fold(target, documents.get(target.id) ?? null, projected));
    }
  }
  return Object.fromEntries([...documents].filter((entry): entry is [string, JsonObject] => entry[1] !== null));
}

describe('a known case', () => {
  it('is not watched before somebody has asked for it', () => {
    expect(given(opened, checked(2))[DOCKET]).not.toHaveProperty('askedAt');
  });
  it('was last asked for when an answer about it was given', () => {
    expect(given(opened, answered(5, DOCKET), answered(3, DOCKET))[DOCKET]).toMatchObject({ askedAt: at(5) });
  });
  it('is not written again for answers within an hour', () => {
    const before = given(opened, answered(5, DOCKET))[DOCKET] ?? null;
    const projected = (minute: string) =>
      ({
        event: { type: 'QueryAnswered', data: { cases: [DOCKET] } },
        recorded: { stream: 'payment-1', metadata: { recordedAt: `2026-03-02T05:${minute}:00.000000Z` } },
        contents: new Map(),
      }) as unknown as ProjectedEvent<never>;
    const target = { collection: 'watched-cases', id: DOCKET };
    expect(watchedCases.fold(target, before, projected('59'))).toBe(before);
    expect(given(opened, answered(5, DOCKET), answered(6, DOCKET))[DOCKET]).toMatchObject({ askedAt: at(6) });
  });
  it('has each source’s newest check, and when it last showed everything', () => {
    const partly = { complete: false, outcome: 'partial' };
    const feed = { ...partly, source: 'rss' };
    expect(given(opened, checked(2), checked(4, partly), checked(3, feed))[DOCKET]).toMatchObject({
      checks: [
        { source: 'courtlistener', at: at(4), completeAt: at(2) },
        { source: 'rss', at: at(3), completeAt: null },
      ],
    });
  });
  it('counts looks that failed until one succeeds, and forgets an abandoned ingest', () => {
    const failed = (hour: number) => checked(hour, { complete: false, outcome: 'failed' });
    expect(given(opened, failed(2), failed(3))[DOCKET]).toMatchObject({ failures: 2, failedAt: at(3), checks: [] });
    expect(given(opened, failed(2), checked(3))[DOCKET]).toMatchObject({ failures: 0, failedAt: null });
    expect(given(opened, checked(2, { outcome: 'abandoned' }))[DOCKET]).toMatchObject({ checks: [] });
  });
  it('was active at its newest filing or visible change, not at a change of the source’s ids', () => {
    const revised = (hour: number, revisedAt: string | null) =>
      docket(hour, 'FilingRevised', { revisedAt, changed: ['sealed'] });
    expect(given(opened, recorded(2, true), recorded(4))[DOCKET]).toMatchObject({ activeAt: at(4) });
    expect(given(opened, recorded(2), revised(6, at(6)), revised(7, null))[DOCKET]).toMatchObject({ activeAt: at(6) });
  });
  const feed = (hour: number, more: object = {}) =>
    checked(hour, { source: 'rss', complete: false, outcome: 'partial', ...more });
  const text = (hour: number, filingId: string) =>
    docket(hour, 'FilingRevised', { revisedAt: at(hour), changed: ['description'], filing: { filingId } });
  it('waits for the texts of the filings that a feed brought, until each has come', () => {
    const news = [opened, checked(2), recorded(5), recorded(6), feed(6)] as const;
    expect(given(...news)[DOCKET]).toMatchObject({ stubsSince: at(6), stubs: ['f5', 'f6'], unchecked: [] });
    expect(given(...news, text(7, 'f5'), checked(7))[DOCKET]).toMatchObject({ stubsSince: at(6), stubs: ['f6'] });
    expect(given(...news, text(7, 'f5'), text(8, 'f6'))[DOCKET]).toMatchObject({ stubsSince: null, stubs: [] });
  });
  it('waits for a day at most, and anew for each filing after a look that could not fill the others', () => {
    const day = (hour: number) => `2026-03-03T0${hour}:00:00.000000Z`;
    const news = [opened, checked(2), recorded(5), feed(5)] as const;
    expect(given(...news, checked(6, { askedAt: day(4) }))[DOCKET]).toMatchObject({ stubsSince: at(5) });
    expect(given(...news, checked(6, { askedAt: day(5) }))[DOCKET]).toMatchObject({ stubsSince: null, stubs: [] });
    expect(given(...news, recorded(7), feed(7))[DOCKET]).toMatchObject({ stubsSince: at(5) });
    expect(given(...news, checked(6), recorded(7), feed(7))[DOCKET]).toMatchObject({ stubsSince: at(7) });
  });
  it('does not wait for the text of what a whole look brought', () => {
    expect(given(opened, checked(2), recorded(5), checked(5))[DOCKET]).toMatchObject({ stubsSince: null, stubs: [] });
  });
  it('does not wait for the texts of a first look that comes in parts', () => {
    const part = docket(5, 'FilingsRecorded', {
      askedAt: at(5),
      baseline: false,
      backlog: true,
      filings: [{ filingId: 'f5', availableAt: at(1) }],
    });
    const looked = [opened, part, checked(5, { complete: false, outcome: 'partial' })] as const;
    expect(given(...looked)[DOCKET]).toMatchObject({ stubs: [], stubsSince: null, activeAt: at(1) });
    expect(given(...looked, recorded(6), feed(6))[DOCKET]).toMatchObject({ stubs: ['f6'], stubsSince: at(6) });
  });
  it('waits for a look after a gap of its feed', () => {
    const gap = feed(5, { outcome: 'unchanged', gap: { from: at(3), to: at(5) } });
    expect(given(opened, checked(2), gap)[DOCKET]).toMatchObject({ stubsSince: at(5) });
    expect(given(opened, checked(2), gap, checked(6, { askedAt: at(4) }))[DOCKET]).toMatchObject({ stubsSince: at(5) });
    expect(given(opened, checked(2), gap, checked(6))[DOCKET]).toMatchObject({ stubsSince: null });
  });
  it('leaves when it is forgotten, and no later answer brings it back', () => {
    expect(given(opened, answered(3, DOCKET), forgotten, answered(21, DOCKET))).toEqual({});
  });
  it('keeps a bounded list of sources', () => {
    const pushed = Array.from({ length: 40 }, (_, index) => checked(3, { source: `scraper-${index}` }));
    expect(given(opened, ...pushed, checked(4))[DOCKET]?.checks).toHaveLength(12);
  });
  it('is not watched by an answer of an earlier version, which names no case', () => {
    expect(given(opened, answered(3))[DOCKET]).not.toHaveProperty('askedAt');
  });
});

describe('a case that no source has shown', () => {
  const wanted = (hour: number) =>
    on(WANTED)(hour, 'CaseWanted', { court: 'cand', caseNumber: '3:26-cv-00001', wantedBy: 'query' });
  const ended = (hour: number, why: string) =>
    on(WANTED)(hour, 'CaseNoLongerWanted', { court: 'cand', caseNumber: '3:26-cv-00001', why });
  it('is wanted since it was first asked for, until it is found or given up', () => {
    expect(given(wanted(2), wanted(4))[WANTED]).toMatchObject({ since: at(2), wantedAt: at(4), court: 'cand' });
    expect(given(wanted(2), ended(5, 'found'))).toEqual({});
    expect(given(wanted(2), ended(5, 'expired'))).toEqual({});
  });
  it('is watched from the moment at which it is found, because it was asked for', () => {
    const stream = 'docket-cand-3:26-cv-00001';
    const found = on(stream)(4, 'DocketOpened', { court: 'cand', caseNumber: '3:26-cv-00001' });
    expect(given(wanted(2), found, ended(5, 'found'))[stream]).toMatchObject({ askedAt: at(5) });
    expect(given(wanted(2), found, ended(5, 'expired'))[stream]).not.toHaveProperty('askedAt');
  });
});

describe('a backfill', () => {
  const backfillId = '0d9ad0d4-3b44-4a35-a8f5-6f2b5c3b8b11';
  const backfill = on(`source-backfill-${backfillId}`);
  const ordered = backfill(2, 'BackfillOrdered', {
    backfillId,
    courts: ['cand'],
    since: null,
    by: 'ana',
    reason: 'new',
  });
  it('is open until it has ended', () => {
    expect(given(ordered)[backfillId]).toMatchObject({ status: 'open', orderedAt: at(2), courts: ['cand'] });
    expect(
      given(ordered, backfill(9, 'BackfillEnded', { backfillId, outcome: 'completed', looked: 7 }))[backfillId],
    ).toMatchObject({ status: 'completed', endedAt: at(9), looked: 7 });
  });
});
