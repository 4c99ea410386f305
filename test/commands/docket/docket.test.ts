/** The rules of a docket and of its numbers: given what happened, when a command comes, then this happens. */
import { describe, expect, it } from 'vitest';
import { docketAliases } from '../../../src/commands/docket/alias.ts';
import { docket } from '../../../src/commands/docket/docket.ts';
import {
  AliasClaimed,
  BaselineCompleted,
  DocketChecked,
  DocketDetailsChanged,
  type DocketEvent,
  DocketOpened,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
} from '../../../src/events/docket.ts';
import { given } from '../../given-when-then.ts';

const NOON = '2026-03-01T12:00:00.000000Z';
const CONTENT = 'c'.repeat(64);
const [A, B, C] = ['filing-a', 'filing-b', 'filing-c'] as const;

const timeOf = (filingId: string) => `2026-02-0${[A, B, C].indexOf(filingId as typeof A) + 1}T12:00:00.000000Z`;

const filing = (filingId: string) => ({
  filingId,
  entryNumber: 1,
  dateFiled: '2026-02-01',
  dateEntered: null,
  enteredAt: null,
  filedAt: null,
  filingType: 'motion',
  filingTypes: ['motion'],
  sealed: false,
  availableAt: timeOf(filingId),
  backfilled: false,
});

const opened = DocketOpened.of({ court: 'cand', caseNumber: '3:24-cv-01234' });
const described = DocketDetailsChanged.of({ askedAt: NOON, content: CONTENT, masking: 1 });
const recorded = (...ids: readonly string[]) =>
  FilingsRecorded.of({ askedAt: NOON, content: CONTENT, masking: 1, baseline: true, filings: ids.map(filing) });
const completed = BaselineCompleted.of({ askedAt: NOON, filingCount: 1 });
const revised = (filingId: string) =>
  FilingRevised.of({
    askedAt: NOON,
    content: CONTENT,
    masking: 1,
    revisedAt: '2026-02-10T12:00:00.000000Z',
    changed: ['description'],
    filing: filing(filingId),
  });
const merged = (kept: string, gone: string) =>
  FilingsMerged.of({
    kept,
    merged: gone,
    availableAt: timeOf(kept),
    revisedAt: '2026-02-11T12:00:00.000000Z',
  });
const withdrawn = (filingId: string) =>
  FilingWithdrawn.of({ filingId, reason: 'sealed', revisedAt: '2026-02-12T12:00:00.000000Z' });
const checked = DocketChecked.of({
  source: 'test',
  askedAt: NOON,
  complete: true,
  outcome: 'complete',
  ingestId: 'ingest',
});

const changes = (...events: readonly DocketEvent[]) => ({ type: 'RecordChanges', changes: events }) as const;

describe('changes of a docket', () => {
  it('are recorded as they were decided', () => {
    const all = [opened, described, recorded(A, B), completed, checked];
    given(docket)
      .when(changes(...all))
      .then(...all);
    given(docket, ...all)
      .when(changes(recorded(C), merged(A, B), revised(A), withdrawn(C), checked))
      .then(recorded(C), merged(A, B), revised(A), withdrawn(C), checked);
  });

  it('open it once, and complete its baseline once', () => {
    given(docket, opened).when(changes(opened)).thenRejected('already_opened');
    given(docket, opened, completed).when(changes(completed)).thenRejected('already_completed');
  });

  it('record a filing once', () => {
    given(docket, opened, recorded(A))
      .when(changes(recorded(B, A)))
      .thenRejected('filing_known');
    given(docket, opened)
      .when(changes(recorded(A), recorded(A)))
      .thenRejected('filing_known');
  });

  it.each([
    ['revise', revised(B)],
    ['merge', merged(A, B)],
    ['merge into', merged(B, A)],
    ['withdraw', withdrawn(B)],
  ])('%s no filing that it does not have', (_title, change) => {
    given(docket, opened, recorded(A)).when(changes(change)).thenRejected('filing_unknown');
    given(docket, opened, recorded(A, B), merged(A, B)).when(changes(change)).thenRejected('filing_unknown');
    given(docket, opened, recorded(A))
      .when(changes(recorded(B), change))
      .then(recorded(B), change);
  });

  it('note once that a feed said nothing of some time, until a complete look after it', () => {
    const at = (hour: number) => `2026-03-02T${String(hour).padStart(2, '0')}:00:00.000000Z`;
    const gap = (from: number, to: number) => ({ from: at(from), to: at(to) });
    const note = (from: number, to: number) =>
      ({ type: 'NoteGap', source: 'rss', askedAt: at(to + 1), gap: gap(from, to) }) as const;
    const noted = (from: number, to: number) =>
      DocketChecked.of({
        source: 'rss',
        askedAt: at(to + 1),
        complete: false,
        outcome: 'partial',
        gap: gap(from, to),
        ingestId: null,
      });
    const whole = (hour: number) =>
      DocketChecked.of({ source: 'x', askedAt: at(hour), complete: true, outcome: 'unchanged', ingestId: null });
    given(docket, opened).when(note(3, 5)).then(noted(3, 5));
    given(docket, opened, noted(3, 5)).when(note(3, 5)).then();
    given(docket, opened, noted(3, 5), noted(9, 10)).when(note(4, 9)).then();
    given(docket, opened, noted(3, 5)).when(note(5, 8)).then(noted(5, 8));
    given(docket, opened, noted(3, 5), whole(4)).when(note(3, 5)).then();
    given(docket, opened, whole(6)).when(note(3, 5)).then();
    given(docket, opened, noted(3, 5), whole(6)).when(note(7, 8)).then(noted(7, 8));
    given(docket).when(note(3, 5)).then();
  });

  it('fold alike one by one and all at once', () => {
    const all = [opened, described, recorded(A, B, C), completed, merged(A, B), revised(A), withdrawn(C), checked];
    expect(docket.evolveAll?.(docket.initialState, all)).toEqual(given(docket, ...all).state);
  });
});

describe('an ingest that died', () => {
  it('is abandoned by an event that shows nothing of the docket', () => {
    const abandoned = {
      source: 'recovery',
      askedAt: NOON,
      complete: false,
      outcome: 'abandoned',
      ingestId: null,
    } as const;
    given(docket).when({ type: 'AbandonIngest', at: NOON }).then(DocketChecked.of(abandoned));
    expect(given(docket, opened, DocketChecked.of(abandoned)).state.checked).toBe(false);
  });
});

describe('a number', () => {
  const number = { court: 'cand', number: '24-cv-01234', core: '24-cv-01234', stream: 'docket-cand-24-cv-01234' };
  const other = { ...number, number: '3:24-cv-01234', stream: 'docket-cand-3:24-cv-01234' };

  it('means one docket for good', () => {
    given(docketAliases).when({ type: 'ClaimAlias', claim: number }).then(AliasClaimed.of(number));
    given(docketAliases, AliasClaimed.of(number)).when({ type: 'ClaimAlias', claim: number }).then();
    given(docketAliases, AliasClaimed.of(number))
      .when({ type: 'ClaimAlias', claim: { ...number, stream: other.stream } })
      .thenRejected('means_another_docket');
  });

  it('without its office may mean several', () => {
    given(docketAliases, AliasClaimed.of(number))
      .when({ type: 'ClaimAlias', claim: other })
      .then(AliasClaimed.of(other));
  });
});
