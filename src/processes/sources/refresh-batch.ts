/** Refresh of a batch (docs/design/sources.md#refresh): its looks run side by side, under the one deadline of its query. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import { isProblem, type Problem } from '../../errors.ts';
import {
  type Answered,
  type AskedFor,
  afterLook,
  type LookedUp,
  notInTime,
  type Refresh,
  type RefreshCall,
} from './refresh.ts';

/** Looks of one batch at the same time. */
const AT_ONCE = 16;

const NOT_ASKED: LookedUp = { readAgain: false, otherwise: null };

/** The answer to one query of a batch. */
export interface OneAnswer {
  readonly of: Answered;
}

/**
 * @param asked the case of each query; null if it names none
 * @param read answers every query, in order
 */
export async function refreshedBatch<Answer extends OneAnswer>(
  refresh: Refresh | undefined,
  asked: readonly (AskedFor | null)[],
  call: RefreshCall,
  read: () => Promise<readonly (Answer | Problem)[]>,
): Promise<readonly (Answer | Problem)[]> {
  if (refresh === undefined) return read();
  const until = performance.now() + refresh.lookMs;
  const first = await read();
  const needed = new Map<string, { readonly one: AskedFor; readonly read: Answered | Problem }>();
  const keys = asked.map((one, index) => {
    const answer = first[index];
    if (!one || !answer) return null;
    const seen = isProblem(answer) ? answer : answer.of;
    if (!refresh.needsLook(one, seen)) return null;
    // Queries of one case, in whatever form of its number, share a look.
    const number = isProblem(seen)
      ? (parseCaseNumber(one.court, one.caseId)?.canonical ?? one.caseId)
      : seen.caseNumber;
    const key = `${one.court.code} ${number}`;
    if (!needed.has(key)) needed.set(key, { one, read: seen });
    return key;
  });
  if (needed.size === 0) return first;

  const looked = new Map<string, LookedUp>();
  const waiting = needed.entries();
  const work = async (): Promise<void> => {
    for (const [key, { one, read: seen }] of waiting) {
      if (performance.now() >= until || call.signal.aborted) return;
      looked.set(key, await refresh.look(one, seen, call, until));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, needed.size) }, work));
  call.signal.throwIfAborted();
  const again = [...looked.values()].some(({ readAgain }) => readAgain) ? await read() : first;
  return first.map((answer, index) => {
    const key = keys[index] ?? null;
    // Every answer comes from the same reading: they share the size limit of a batch.
    const newest = again[index] ?? answer;
    return afterLook(key === null ? NOT_ASKED : (looked.get(key) ?? notInTime()), answer, newest);
  });
}
