/**
 * How much one source may push: requests and bytes a minute over all nodes, and bodies at the same time on this node,
 * which bounds memory and disk.
 */
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';

const MIB = 1024 * 1024;
const MINUTE: Micros = 60 * MICROS_PER_SECOND;

/** The largest body, as sent and unpacked. */
export const MAX_PUSH_BYTES = 64 * MIB;
export const PUSHES_PER_MINUTE = 120;
export const PUSHED_BYTES_PER_MINUTE = 256 * MIB;
/** Bodies of one source, and of all sources, at the same time on one node. */
export const PUSHES_AT_ONCE = 2;
const ALL_PUSHES_AT_ONCE = 4;

/** A larger body may be one docket, which takes many times its bytes in memory: such bodies are worked on in turn. */
const LARGE_BYTES = 4 * MIB;

const requestsOf = (source: string): string => `push-requests ${source}`;
const bytesOf = (source: string): string => `push-bytes ${source}`;

export interface PushLimits {
  /** Counts a request. Takes one of the places, unless the source must wait. */
  enter(source: string): Promise<{ readonly leave: () => void } | Problem>;
  /** Counts the bytes of a body that was read, unpacked, whatever becomes of it. */
  countBytes(source: string, bytes: number): Promise<void>;
  /** Does the work on a body of that size: that on large ones in turn. */
  inTurn<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>;
}

export function createPushLimits(readStore: Pick<ReadStore, 'increment'>, clock: Clock): PushLimits {
  const running = new Map<string, number>();
  let all = 0;
  let largeDone: Promise<unknown> = Promise.resolve();

  const mustWait = async (source: string): Promise<Problem | null> => {
    const now = clock.now();
    // How many bytes come is known only once they have come, so a source that has used up its minute must wait.
    const { count, resetsAt } = await readStore.increment(bytesOf(source), 0, PUSHED_BYTES_PER_MINUTE, now, MINUTE);
    if (count >= PUSHED_BYTES_PER_MINUTE) {
      return waiting('push_bytes', PUSHED_BYTES_PER_MINUTE, secondsUntil(resetsAt, now), 'bytes a minute');
    }
    const requests = await readStore.increment(requestsOf(source), 1, PUSHES_PER_MINUTE, now, MINUTE);
    if (requests.allowed) return null;
    return waiting('push_requests', PUSHES_PER_MINUTE, secondsUntil(requests.resetsAt, now), 'requests a minute');
  };

  return {
    async enter(source) {
      const own = running.get(source) ?? 0;
      if (own >= PUSHES_AT_ONCE) return waiting('push_uploads', PUSHES_AT_ONCE, 1, 'bodies at the same time');
      if (all >= ALL_PUSHES_AT_ONCE) {
        return waiting('push_uploads', ALL_PUSHES_AT_ONCE, 1, 'bodies at the same time, from all sources');
      }
      // Taken before anything is awaited, so that two requests do not take one place.
      running.set(source, own + 1);
      all++;
      const leave = () => {
        const rest = (running.get(source) ?? 1) - 1;
        if (rest > 0) running.set(source, rest);
        else running.delete(source);
        all--;
      };
      try {
        const refusal = await mustWait(source);
        if (refusal === null) return { leave };
        leave();
        return refusal;
      } catch (error) {
        leave();
        throw error;
      }
    },
    inTurn(bytes, work) {
      if (bytes <= LARGE_BYTES) return work();
      const working = largeDone.then(work);
      largeDone = working.catch(() => undefined);
      return working;
    },
    async countBytes(source, bytes) {
      await readStore.increment(bytesOf(source), bytes, Number.MAX_SAFE_INTEGER, clock.now(), MINUTE);
    },
  };
}

const secondsUntil = (at: Micros, now: Micros): number => Math.max(1, Math.ceil((at - now) / MICROS_PER_SECOND));

const waiting = (window: string, limit: number, retry_after: number, of: string): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after, limit, window, hint: `Wait ${retry_after} seconds and send the same body again.` },
    `A source may push at most ${limit} ${of}.`,
  );
