/** One look at a case at a time over all nodes. A node that finds another one looking waits, and uses what was recorded. */
import { type DocketLook, looksAt } from '../../commands/docket/looks.ts';
import type { Micros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { Look, SourceFault } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { HeldLease, type LeaseOptions } from '../../storage/held-lease.ts';
import type { CaseOfCourt } from './desk.ts';

export interface LookLeasePorts extends Omit<LeaseOptions, 'name'> {
  readonly log: Pick<EventLog, 'read'>;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly deadline: Micros | null;
}

const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 250;

export const lookLeaseName = ({ court, caseNumber }: CaseOfCourt): string => `look-${court.code}-${caseNumber}`;

/** The lease, or what another node's look has come to in the meantime. */
export async function lookLease(
  { log, ...lease }: LookLeasePorts,
  asked: CaseOfCourt,
  waiting: Waiting,
): Promise<HeldLease | Look> {
  /** The newest look when the waiting began; undefined if nobody had the lease. */
  let before: number | undefined;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const held = await HeldLease.acquire({ ...lease, name: lookLeaseName(asked) });
    if (held) {
      const other = before === undefined ? null : await lookAfter(log, asked, before).catch(released(held));
      if (other === null) return held;
      await held.release();
      return other;
    }
    before ??= await newestLook(log, asked);
    if (waiting.signal.aborted) return failed('interrupted', 'the look was ended');
    const { deadline } = waiting;
    if (deadline !== null && lease.clock.now() >= deadline) {
      const other = await lookAfter(log, asked, before);
      return other ?? failed('timeout', 'another node is still looking at the case');
    }
    await pause(waitMs, waiting.signal);
  }
}

/** Releases the lease before the error is thrown on. */
const released =
  (held: HeldLease) =>
  async (error: unknown): Promise<never> => {
    await held.release().catch(() => undefined);
    throw error;
  };

async function newestLook(log: Pick<EventLog, 'read'>, { court, caseNumber }: CaseOfCourt): Promise<number> {
  return (await looksAt(log, court, caseNumber))?.looks.at(-1)?.revision ?? -1;
}

/** What was recorded since; null if nothing was, as of a case that the source does not know. */
async function lookAfter(
  log: Pick<EventLog, 'read'>,
  { court, caseNumber }: CaseOfCourt,
  before: number,
): Promise<Look | null> {
  const known = await looksAt(log, court, caseNumber);
  const newest = known?.looks.findLast(({ revision, outcome }) => revision > before && outcome !== 'abandoned');
  return known && newest ? lookOf(known.stream, newest) : null;
}

function lookOf(stream: string, { outcome, complete }: DocketLook): Look {
  if (outcome === 'failed') return failed('unavailable', 'the look of another node failed');
  if (complete) return { look: outcome === 'unchanged' ? 'unchanged' : 'complete', stream };
  return {
    look: 'partial',
    stream,
    because: { fault: 'interrupted', reason: 'another node has looked at a part', retryAt: null },
  };
}

const failed = (fault: SourceFault, reason: string): Look => ({
  look: 'failed',
  because: { fault, reason, retryAt: null },
});
