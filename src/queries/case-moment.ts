/**
 * The moment that an answer describes: the query's side of the case clock (docs/design/dockets.md#case-clock). Answers
 * are complete up to `queriedAt`, and every filing recorded later gets a later time.
 */
import {
  afterAnswer,
  answerTime,
  type CaseClock,
  caseClockId,
  isBehind,
  lostClock,
  readClock,
  writeClock,
} from '../dockets/case-clock.ts';
import { CASES, type CaseDocument } from '../dockets/case-document.ts';
import { type Problem, problem } from '../errors.ts';
import { cases } from '../projections/cases.ts';
import type { Clock, Instant } from '../runtime/instant.ts';
import { pinnedTo } from '../storage/pinned-generation.ts';
import type { Cell, QueryStore } from '../storage/read-store.ts';
import { caseNotFound, type LookupPorts } from './case-lookup.ts';
import { headAlone, isHeadAlone } from './head-alone.ts';

export interface QueryPorts extends LookupPorts {
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** How long a query waits for a docket to be complete: for its baseline, and for a read store that is being rebuilt. */
  readonly patienceMs: number;
}

export interface CaseMoment {
  readonly document: CaseDocument;
  /** What the caller sends as its next `last_checked`. */
  readonly queriedAt: Instant;
  /** The generation from which the document comes: what belongs to it is read there too. */
  readonly readStore: QueryStore;
}

const POLL_MS = 25;
const RETRY_AFTER_SECONDS = 5;
/** The version of the clock shows each ingest; this many in one query mean that something is wrong. */
const READINGS = 200;

/**
 * A case that the read model does not show is not found here, even if it is about to appear (`known-case.ts`).
 * @param lastChecked the time since which the caller wants news; null if it does not
 */
export async function readMoment(
  ports: QueryPorts,
  stream: string,
  lastChecked: Instant | null,
): Promise<CaseMoment | Problem> {
  const { readStore, clock } = ports;
  let waited = 0;
  let isRebuilt = false;
  for (let reading = 0; reading < READINGS; reading++) {
    // The clock first, then the document: whatever the clock has released is in the document.
    const [cell, generation] = await Promise.all([
      readStore.cell(caseClockId(stream)),
      readStore.activeGeneration(cases.name),
    ]);
    const pinned = pinnedTo(readStore, generation);
    const stored = (await pinned.load<CaseDocument>(CASES, [stream])).get(stream);
    const document = stored?.document ?? null;
    if (!stored || document === null || !document.opened) return caseNotFound();
    if (cell.value === null && !isRebuilt) {
      // The clock is lost, and with it the record of how much of the case was shown before.
      if (!(await ports.freshness.showsEverything())) break;
      isRebuilt = true;
      continue;
    }
    const now = clock.now();
    const caseClock = readClock(cell.value) ?? lostClock(now);
    const isWhole = document.checked && document.baseline !== 'started' && !isBehind(caseClock, stored.position);
    if (!isWhole || caseClock.pending?.baseline === true) {
      if (waited >= ports.patienceMs) break;
      await ports.sleep(POLL_MS);
      waited += POLL_MS;
      continue;
    }
    if (isHeadAlone(document)) return headAlone();
    const queriedAt = answerTime(caseClock, now, document.newestTime);
    const askedFrom = lastChecked !== null && lastChecked < queriedAt ? lastChecked : queriedAt;
    if (await noteAnswer(readStore, stream, cell, caseClock, queriedAt, askedFrom)) {
      return { document, queriedAt, readStore: pinned };
    }
  }
  return problem(
    'court_unavailable',
    { retry_after: RETRY_AFTER_SECONDS },
    'This case is being read for the first time or again; its docket is not complete yet.',
  );
}

/** Records the answer on the clock. False if an ingest has moved the clock: then everything is read again. */
async function noteAnswer(
  readStore: QueryStore,
  stream: string,
  seen: Cell,
  seenClock: CaseClock,
  queriedAt: Instant,
  askedFrom: Instant,
): Promise<boolean> {
  let cell = seen;
  let clock = seenClock;
  for (;;) {
    const next = afterAnswer(clock, queriedAt, askedFrom);
    if (next === clock && cell.version > 0) return true;
    if (await readStore.compareAndSet(caseClockId(stream), cell.version, writeClock(next))) return true;
    cell = await readStore.cell(caseClockId(stream));
    const moved = readClock(cell.value);
    if (moved === null || moved.version !== seenClock.version || seen.version === 0) return false;
    clock = moved;
  }
}
