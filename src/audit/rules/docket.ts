/**
 * The rules of a docket's stream and of its aliases. The state of a docket grows with it, so it is changed in place.
 */
import {
  type DocketAliasEvent,
  type DocketEvent,
  docketAliasStream,
  type RecordedFiling,
} from '../../events/docket.ts';
import type { Json } from '../../events/event.ts';
import { type Instant, latest } from '../../runtime/instant.ts';
import type { Findings, StreamRules } from '../judging.ts';

export interface DocketState {
  readonly [member: string]: Json;
  opened: boolean;
  forgotten: boolean;
  baseline: boolean;
  newestTime: Instant;
  /** When each filing became available, by its id's key. */
  readonly filings: { [key: string]: Instant };
  /** Merged filings: once recorded, never again. */
  readonly merged: { [key: string]: 1 };
  /** Every time in use. */
  readonly times: { [time: Instant]: 1 };
}

const DOCKET_TYPES: ReadonlySet<string> = new Set<DocketEvent['type']>([
  'DocketOpened',
  'DocketChecked',
  'DocketDetailsChanged',
  'FilingsRecorded',
  'BaselineCompleted',
  'FilingRevised',
  'FilingsMerged',
  'FilingWithdrawn',
  'DocketForgotten',
]);

/** Ids are any text, and an object already has some names of its own. */
const keyOf = (id: string): string => `=${id}`;

const isAlias = (stream: string): boolean => stream.startsWith('docket-alias-');

export const docketRules: StreamRules<DocketState> = {
  covers: (stream) => stream.startsWith('docket-') && !isAlias(stream),

  judge(before, { type, data }, findings) {
    const state: DocketState = before ?? {
      opened: false,
      forgotten: false,
      baseline: false,
      newestTime: '',
      filings: {},
      merged: {},
      times: {},
    };
    if (!DOCKET_TYPES.has(type)) findings.breach('event_in_its_stream', 'an event of a docket', type);
    else judgeDocket(state, { type, data } as unknown as DocketEvent, findings);
    return state;
  },
};

function judgeDocket(state: DocketState, event: DocketEvent, findings: Findings): void {
  if (state.forgotten) {
    findings.breach('docket_forgotten_last', 'nothing after DocketForgotten', event.type);
    return;
  }
  state.forgotten = event.type === 'DocketForgotten';
  if (event.type === 'DocketOpened') {
    if (state.opened) findings.breach('docket_order', 'DocketOpened once', 'DocketOpened again');
    state.opened = true;
    return;
  }
  // The append of a dead ingest may be all that a stream has.
  if (!state.opened && event.type !== 'DocketChecked') {
    findings.breach('docket_order', 'DocketOpened first', event.type);
    state.opened = true;
  }
  switch (event.type) {
    case 'FilingsRecorded':
      for (const filing of event.data.filings) judgeFiling(state, filing, isOld(event.data), findings);
      if (isOld(event.data) && state.baseline) {
        findings.breach('docket_order', 'no filings of the baseline after its end', 'filings of the baseline');
      }
      return;
    case 'BaselineCompleted':
      if (state.baseline) findings.breach('docket_order', 'BaselineCompleted once', 'BaselineCompleted again');
      state.baseline = true;
      return;
    case 'FilingRevised': {
      const { filing, revisedAt } = event.data;
      const availableAt = knownTime(state, filing.filingId, findings);
      if (availableAt !== undefined && availableAt !== filing.availableAt) {
        findings.breach('revision_keeps_time', availableAt, filing.availableAt);
      }
      if (revisedAt !== null) takeTime(state, revisedAt, true, findings);
      return;
    }
    case 'FilingsMerged':
      judgeMerge(state, event.data, findings);
      return;
    case 'FilingWithdrawn':
      knownTime(state, event.data.filingId, findings);
      takeTime(state, event.data.revisedAt, true, findings);
      return;
    default:
      return;
  }
}

const isOld = ({
  baseline,
  backlog,
}: {
  readonly baseline: boolean;
  readonly backlog?: boolean | undefined;
}): boolean => baseline || backlog === true;

function judgeFiling(
  state: DocketState,
  { filingId, availableAt }: RecordedFiling,
  old: boolean,
  findings: Findings,
): void {
  const key = keyOf(filingId);
  if (key in state.filings || key in state.merged) {
    findings.breach('filing_announced_once', 'a new filing', `${filingId} again`);
    return;
  }
  state.filings[key] = availableAt;
  takeTime(state, availableAt, !old, findings);
}

function judgeMerge(
  state: DocketState,
  { kept, merged, availableAt, revisedAt }: Extract<DocketEvent, { readonly type: 'FilingsMerged' }>['data'],
  findings: Findings,
): void {
  const [keptAt, mergedAt] = [knownTime(state, kept, findings), knownTime(state, merged, findings)];
  if (keptAt !== undefined && mergedAt !== undefined) {
    const earlier = earliest(keptAt, mergedAt);
    if (availableAt !== earlier) findings.breach('merge_keeps_time', earlier, availableAt);
  }
  delete state.filings[keyOf(merged)];
  state.merged[keyOf(merged)] = 1;
  takeTime(state, revisedAt, true, findings);
}

const earliest = (a: Instant, b: Instant): Instant => (a === latest(a, b) ? b : a);

function knownTime({ filings }: DocketState, filingId: string, findings: Findings): Instant | undefined {
  const availableAt = filings[keyOf(filingId)];
  if (availableAt === undefined) findings.breach('filing_known', 'a filing of this docket', filingId);
  return availableAt;
}

/** @param rises whether the time is one of the case clock, later than all before; the baseline's are as old as it */
function takeTime(state: DocketState, time: Instant, rises: boolean, findings: Findings): void {
  if (time in state.times) findings.breach('filing_time_unique', 'a time of its own', time);
  else if (rises && time <= state.newestTime) {
    findings.breach('filing_time_rises', `a time after ${state.newestTime}`, time);
  }
  state.times[time] = 1;
  if (time > state.newestTime) state.newestTime = time;
}

export interface AliasState {
  [key: string]: string;
}

/** Which docket each number of an alias stream means. */
export const aliasRules: StreamRules<AliasState> = {
  covers: isAlias,

  judge(before, { stream, type, data }, findings) {
    const state = before ?? {};
    if (type !== 'AliasClaimed') {
      findings.breach('event_in_its_stream', 'AliasClaimed', type);
      return state;
    }
    const { court, number, core, stream: docket } = data as unknown as DocketAliasEvent['data'];
    if (stream !== docketAliasStream(court, number) && (core === null || stream !== docketAliasStream(court, core))) {
      findings.breach('event_in_its_stream', `a number of ${stream}`, `${court} ${number}`);
    }
    const key = keyOf(number);
    const meant = state[key];
    if (meant !== undefined) findings.breach('alias_unique', `${number} means ${meant}`, docket);
    state[key] ??= docket;
    return state;
  },
};
