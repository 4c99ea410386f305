/**
 * Records a snapshot from a source. Safe to kill at any point and to repeat, because every decision depends only on the
 * stream and every append expects exactly the revision that was read.
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
import { type DocketDraft, decideSnapshot, meetsCallers, needsClock } from './decide.ts';
import { docket as rules } from './docket.ts';
import type { DocketState } from './fold.ts';
import { type LoadedDocket, loadDocket } from './load.ts';

export interface IngestReport {
  readonly stream: string;
  readonly caseNumber: string;
  /** Whether this snapshot opened the docket. */
  readonly opened: boolean;
  /** Whether anything was recorded but that the source was asked. */
  readonly changed: boolean;
  /** Filings recorded as old as the docket; they are not announced as news. */
  readonly baselineFilings: number;
  readonly newFilings: number;
  readonly revised: number;
  /** Pairs of known filings that turned out to be one; also counted in `revised`. */
  readonly merged: number;
  readonly sealed: number;
  readonly unchanged: number;
  /** Entries that repeat another entry of the same snapshot. */
  readonly duplicates: number;
  /** Whether the snapshot is older than what is known. */
  readonly stale: boolean;
  /** The position of the last appended event. */
  readonly position: Position;
}

/** The snapshot cannot be recorded. Nothing was written. */
export interface IngestRefusal {
  readonly refused: string;
}

/** Other writers were first on every attempt of this ingest. */
export class DocketContended extends Error {
  readonly code = 'docket_contended';
  constructor(stream: string) {
    super(`others keep writing to ${stream}; repeat the ingest`);
    this.name = 'DocketContended';
  }
}

const ATTEMPTS = 50;
/** Leaves room for the parts of an event that are not measured. */
const APPEND_BYTES = MAX_APPEND_BYTES - 64 * 1024;

/**
 * Records a snapshot: opens a new docket, completes its baseline, or appends changes with times from the case clock.
 * Once it resolves, answers show the changes. A repetition only records that the source was asked.
 * @throws DocketContended, ProjectionBehind, AppendOutcomeUnknown; repeat the ingest after any of them
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
    return { refused: `${number.canonical} has no office number and may be ${stream.candidates.join(' or ')}` };
  }
  const ingestId = ports.newId();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    // Each attempt has its own command id, so that its events do not look like a repeat of the previous attempt's.
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

/** Why it is not imported. */
export const forgottenDocket = (caseNumber: string): string =>
  `an order forbids it: ${caseNumber} was forgotten, see docket forget list`;

/** Returns null if another process moved the case clock first. */
async function attemptIngest(
  ports: IngestPorts,
  stream: string,
  caseNumber: string,
  snapshot: DocketSnapshot,
  ingestId: string,
  context: CommandContext,
): Promise<IngestReport | IngestRefusal | null> {
  await endPending(ports, stream, context);
  const docket = await loadDocket(ports, stream);
  if (docket.state.forgotten) {
    return { refused: forgottenDocket(caseNumber) };
  }
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
    // A conflict is a known outcome: nothing was written, so the claim can end. After any other error it stays.
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
  /** The first time to use; null if none is needed. */
  readonly time: Micros | null;
  readonly oldestAsked: ReturnType<typeof toInstant> | null;
  readonly pending: boolean;
}

/** Reserves times in the case clock before the append that contains them. Returns null if the clock has moved on. */
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
    // Without any snapshot there were no answers about the docket, so there is no caller to stay consistent with.
    if (first.version === 0 && !state.checked) await ports.readStore.compareAndSet(id, 0, writeClock(FRESH_CLOCK));
    const time = wanted ? nextTime(FRESH_CLOCK, ports.clock.now(), state.newestTime) : null;
    return { time, oldestAsked: null, pending: false };
  }
  for (let cell = first; ; cell = await ports.readStore.cell(id)) {
    const clock = readClock(cell.value) ?? lostClock(ports.clock.now());
    if (clock.pending !== null) return null;
    const time = nextTime(clock, ports.clock.now(), state.newestTime);
    const baseline = meetsCallers(state, snapshot);
    const next = begin(clock, { time: toInstant(time), ingestId, baseline });
    if (await ports.readStore.compareAndSet(id, cell.version, writeClock(next))) {
      return { time, oldestAsked: clock.oldestAsked, pending: true };
    }
  }
}

/**
 * Records everything in as few appends as the log's limit allows. Contents are stored before the event that names them.
 */
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
    const recorded = await recordPatiently(ports, { decider: rules, stream, command, context, known }).catch(
      async (error: unknown) => {
        // Certainly not written, so no event names these contents.
        if (error instanceof RevisionConflict) await removeContents(ports, changes);
        throw error;
      },
    );
    known = recorded;
    ({ position } = recorded);
  }
  if (position === null) throw new Error('an ingest always ends with an event');
  return position;
}

async function removeContents({ payloads }: IngestPorts, changes: readonly DocketEvent[]): Promise<void> {
  for (const { data } of changes) if ('content' in data) await payloads.remove(data.content);
}

async function store({ payloads }: IngestPorts, draft: DocketDraft): Promise<DocketEvent> {
  if (draft.content === null) return draft.event(NO_NAME);
  return draft.event(await payloads.put('docket', encodeBlob(draft.content)));
}

/** An event that ends a baseline or an ingest is appended together with the event before it. */
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

/** Bytes of an event's data. For recorded filings, whose fields are bounded, an upper estimate. */
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
  const recorded = (isOld: boolean): number =>
    events.reduce(
      (count, { type, data }) =>
        type === 'FilingsRecorded' && (data.baseline || data.backlog === true) === isOld
          ? count + data.filings.length
          : count,
      0,
    );
  return {
    stream,
    caseNumber,
    opened: !state.opened,
    changed: events.some(({ type }) => type !== DocketChecked.type),
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
