/**
 * Cases that are left alone for a while, because a look at them failed for a reason in the case itself. All nodes
 * know it, by a counter whose window is that while; a lost counter costs one request.
 */
import { createHash } from 'node:crypto';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';

const LIMIT = 1_000_000;
/** No case is left alone for longer. Reading with a shorter window would shorten the one that is open. */
export const LONGEST_BACK_OFF: Micros = 7 * 86_400 * MICROS_PER_SECOND;

export class LookBackOff {
  readonly #counters: Pick<ReadStore, 'increment'>;
  readonly #until = new Map<string, Micros>();

  constructor(counters: Pick<ReadStore, 'increment'>) {
    this.#counters = counters;
  }

  /** Until when the case is left alone; the past if it is not. */
  async until(stream: string, now: Micros): Promise<Micros> {
    const known = this.#until.get(stream);
    // After a clock was set back, the counter is right.
    if (known !== undefined && known <= now + LONGEST_BACK_OFF) return known;
    const { count, resetsAt } = await this.#counters.increment(counterId(stream), 0, LIMIT, now, LONGEST_BACK_OFF);
    const until = count > 0 ? resetsAt : 0;
    this.#until.set(stream, until);
    return until;
  }

  async leave(stream: string, now: Micros, micros: Micros): Promise<void> {
    const { resetsAt } = await this.#counters.increment(counterId(stream), 1, LIMIT, now, micros);
    this.#until.set(stream, Math.max(resetsAt, now + 1));
  }

  /** Forgets what it remembers of other cases. */
  keepOnly(streams: ReadonlySet<string>): void {
    for (const stream of this.#until.keys()) if (!streams.has(stream)) this.#until.delete(stream);
  }
}

/** A hash, so that a counter does not keep the number of a case that is forgotten. */
const counterId = (stream: string): string => `source-look-${createHash('sha256').update(stream).digest('hex')}`;
