/**
 * Records what a source said of a docket. Safe to kill anywhere and to repeat, since nothing is decided but on what the
 * stream says, and nothing is written but on exactly that.
 */
import { parseCaseNumber } from '../../courts/case-number.ts';
import {
  begin,
  caseClockId,
  FRESH_CLOCK,
  lostClock,
  nextTime,
  readClock,
  writeClock,
} from '../../dockets/case-clock.ts';
import { encodeBlob } from '../../dockets/filing-content.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';
import { BaselineCompleted, DocketChecked, type DocketEvent } from '../../events/docket.ts';
import { type Micros, toInstant } from '../../runtime/instant.ts';
import { type CommandContext, MAX_APPEND_BYTES, type Position, RevisionConflict } from '../../storage/event-log.ts';
import type { Loaded } from '../handle.ts';
import { docketStreamOf } from './alias.ts';
import { clearPending, endPending, type IngestPorts, recordPatiently, waitUntilVisible } from './clock.ts';
import { type Comparison, compareSnapshot, isMaskingOnly } from './compare.ts';
import { type DocketDraft, decideSnapshot, isBaseline, meetsCallers, needsClock } from './decide.ts';
import { docket as rules } from './docket.ts';
import type { DocketState } from './fold.ts';
import { type LoadedDocket, loadDocket } from './load.ts';

export interface IngestReport {
  readonly stream: string;
  readonly caseNumber: string;
  /** Whether this was the first that was heard of the docket. */
  readonly opened: boolean;
  /** Filings recorded as old as the docket: nobody is told of them as news. */
  readonly baselineFilings: number;
  readonly newFilings: number;
  readonly revised: number;
  /** Pairs of known filings that turned out to be one; counted in `revised` too. */
  readonly merged: number;
  readonly sealed: number;
  readonly unchanged: number;
  /** Entries that repeat another entry of the same snapshot. */
  readonly duplicates: number;
  /** Whether the source was asked before what is known. */
  readonly stale: boolean;
  /** Of the last event appended. */
  readonly position: Position;
}

/** The snapshot cannot be recorded; nothing was written. */
export interface IngestRefusal {
  readonly refused: string;
}

/** Others wrote to the docket each time that this ingest tried. */
export class DocketContended extends Error {
  readonly code = 'docket_contended';
  constructor(stream: string) {
    super(`others keep writing to ${stream}; repeat the ingest`);
    this.name = 'DocketContended';
  }
}

const ATTEMPTS = 50;
/** Room for the rest of an event beside the data that is measured. */
const APPEND_BYTES = MAX_APPEND_BYTES - 64 * 1024;

/**
 * Records a snapshot: opens the docket where it is new, completes its baseline, or appends what changed with times
 * from the case clock. When it resolves, answers show it. Repeating it records nothing but that the source was asked.
 * @throws DocketContended, ProjectionBehind, AppendOutcomeUnknown; repeating the ingest is right after each of them
 */
export async function ingestDocket(
  ports: IngestPorts,
  snapshot: DocketSnapshot,
  context: CommandContext,
): Promise<IngestReport | IngestRefusal> {
  const number = parseCaseNumber(snapshot.court, snapshot.caseNumber);
  if (!number) return { refused: `${snapshot.court.code} has no case numbers like ${snapshot.caseNumber}` };
  const stream = await docketStreamOf(ports, snapshot.court, number, snapshot.aliases, context);
  if (typeof stream !== 'string') {
    return { refused: `${number.canonical} lacks its office and may be ${stream.candidates.join(' or ')}` };
  }
  const ingestId = ports.newId();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    // Each attempt is an act of its own: its events must not be taken for those of the attempt before.
    const own = { ...context, commandId: `${context.commandId}\n${ingestId}\n${attempt}` };
    try {
      const report = await attemptIngest(ports, stream, number.canonical, snapshot, `${ingestId}-${attempt}`, own);
      if (report) return report;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
  throw new DocketContended(stream);
}

/** Null where somebody else moved the case clock first. */
async function attemptIngest(
  ports: IngestPorts,
  stream: string,
  caseNumber: string,
  snapshot: DocketSnapshot,
  ingestId: string,
  context: CommandContext,
): Promise<IngestReport | null> {
  await endPending(ports, stream, context);
  const docket = await loadDocket(ports, stream);
  const comparison = compareSnapshot(docket.state, docket.contents, snapshot, caseNumber);
  const claim = await claimClock(ports, stream, docket, comparison, snapshot, ingestId);
  if (!claim) return null;
  const drafts = decideSnapshot(docket.state, comparison, snapshot, {
    stream,
    caseNumber,
    ingestId,
    now: ports.clock.now(),
    clockTime: claim.time,
    oldestAsked: claim.oldestAsked,
  });
  let position: Position;
  try {
    position = await recordAll(ports, stream, docket, drafts, context);
  } catch (error) {
    // A conflict is a known outcome: what was not written never will be. Anything else leaves the claim standing.
    if (error instanceof RevisionConflict && claim.pending) {
      await waitUntilVisible(ports, stream, await headPosition(ports, stream));
      await clearPending(ports, stream, ingestId);
    }
    throw error;
  }
  if (claim.pending) {
    await waitUntilVisible(ports, stream, position);
    await clearPending(ports, stream, ingestId);
  }
  return reportOf(
    stream,
    caseNumber,
    docket,
    comparison,
    drafts.map((draft) => draft.event(NO_NAME)),
    position,
  );
}

const NO_NAME = '0'.repeat(64);

async function headPosition(ports: IngestPorts, stream: string): Promise<Position | null> {
  return (await ports.log.read(stream)).at(-1)?.position ?? null;
}

interface ClockClaim {
  /** The first time to use; null where none is needed. */
  readonly time: Micros | null;
  readonly oldestAsked: ReturnType<typeof toInstant> | null;
  readonly pending: boolean;
}

/** Takes times from the case clock before the append that carries them. Null where the clock has moved on. */
async function claimClock(
  ports: IngestPorts,
  stream: string,
  { state }: LoadedDocket,
  comparison: Comparison,
  snapshot: DocketSnapshot,
  ingestId: string,
): Promise<ClockClaim | null> {
  const id = caseClockId(stream);
  const wanted = needsClock(state, comparison, snapshot);
  const first = await ports.readStore.cell(id);
  if (!wanted || !state.checked) {
    // Nobody was answered about a docket that no source has shown: there is nobody to keep in step with.
    if (first.version === 0 && !state.checked) await ports.readStore.compareAndSet(id, 0, writeClock(FRESH_CLOCK));
    const time = wanted ? nextTime(FRESH_CLOCK, ports.clock.now(), state.newestTime) : null;
    return { time, oldestAsked: null, pending: false };
  }
  for (let cell = first; ; cell = await ports.readStore.cell(id)) {
    const clock = readClock(cell.value) ?? lostClock(ports.clock.now());
    if (clock.pending !== null) return null;
    const time = nextTime(clock, ports.clock.now(), state.newestTime);
    const baseline = isBaseline(state, snapshot) && meetsCallers(state, snapshot);
    const next = begin(clock, { time: toInstant(time), ingestId, baseline });
    if (await ports.readStore.compareAndSet(id, cell.version, writeClock(next))) {
      return { time, oldestAsked: clock.oldestAsked, pending: true };
    }
  }
}

/** Records everything, in as few appends as the log's limit allows; contents are stored before the event that names them. */
async function recordAll(
  ports: IngestPorts,
  stream: string,
  from: Loaded<DocketState>,
  drafts: readonly DocketDraft[],
  context: CommandContext,
): Promise<Position> {
  let known = from;
  let position: Position | null = null;
  for (const group of inAppends(drafts)) {
    const changes = await Promise.all(group.map((draft) => store(ports, draft)));
    const command = { type: 'RecordChanges', changes } as const;
    const recorded = await recordPatiently(ports, { decider: rules, stream, command, context, known });
    known = recorded;
    ({ position } = recorded);
  }
  if (position === null) throw new Error('an ingest always ends with an event');
  return position;
}

async function store({ payloads }: IngestPorts, draft: DocketDraft): Promise<DocketEvent> {
  if (draft.content === null) return draft.event(NO_NAME);
  return draft.event(await payloads.put('docket', encodeBlob(draft.content)));
}

/** What ends a baseline and what ends the ingest are never parted from what they end. */
const ENDINGS: ReadonlySet<string> = new Set([BaselineCompleted.type, DocketChecked.type]);

function inAppends(drafts: readonly DocketDraft[]): DocketDraft[][] {
  const groups: DocketDraft[][] = [[]];
  let bytes = 0;
  for (const draft of drafts) {
    const event = draft.event(NO_NAME);
    const size = sizeOf(event);
    if (bytes > 0 && bytes + size > APPEND_BYTES && !ENDINGS.has(event.type)) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(draft);
    bytes += size;
  }
  return groups;
}

/** Bytes of an event's data; for recorded filings, whose fields are bounded, no less than that. */
function sizeOf({ type, data }: DocketEvent): number {
  if (type !== 'FilingsRecorded') return Buffer.byteLength(JSON.stringify(data));
  return data.filings.reduce((bytes, { filingTypes }) => bytes + 480 + 30 * filingTypes.length, 300);
}

function reportOf(
  stream: string,
  caseNumber: string,
  { state }: LoadedDocket,
  comparison: Comparison,
  events: readonly DocketEvent[],
  position: Position,
): IngestReport {
  const recorded = (baseline: boolean): number =>
    events.reduce(
      (count, { type, data }) =>
        type === 'FilingsRecorded' && data.baseline === baseline ? count + data.filings.length : count,
      0,
    );
  return {
    stream,
    caseNumber,
    opened: !state.opened,
    baselineFilings: recorded(true),
    newFilings: recorded(false),
    revised: comparison.revisions.filter((revision) => !isMaskingOnly(revision)).length,
    merged: comparison.merges.length,
    sealed: comparison.sealed.length,
    unchanged: comparison.unchanged,
    duplicates: comparison.duplicates,
    stale: comparison.stale,
    position,
  };
}
