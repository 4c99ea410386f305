/** Removes what unfinished looks at cases have kept, once nobody will continue them. */
import { knownStreamOf } from '../commands/docket/alias.ts';
import { parseCaseNumber } from '../courts/case-number.ts';
import { findCourt } from '../courts/registry.ts';
import { DocketForgotten } from '../events/docket.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';
import { createLookStore } from '../sources/courtlistener/look-store.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface ExpiredLooksPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
}

/** A round reads every page that is older than a day. */
const EVERY: Micros = 3_600 * MICROS_PER_SECOND;

/** @returns removes pages of expired looks, at most once an hour, and resolves to how many those were */
export function expiredLooks({ log, readStore, payloads, clock }: ExpiredLooksPorts) {
  const looks = createLookStore({ readStore, payloads, clock });
  let next: Micros = 0;

  async function isForgotten(code: string, written: string): Promise<boolean> {
    const court = findCourt(code);
    const number = court && parseCaseNumber(court, written);
    const stream = court && number && (await knownStreamOf(log, court, number));
    return stream !== null && (await log.read(stream)).at(-1)?.type === DocketForgotten.type;
  }

  return async (signal?: AbortSignal): Promise<number> => {
    const now = clock.now();
    // A clock that was ahead and is set back must not put it off.
    if (now < next && next <= now + EVERY) return 0;
    const removed = await looks.removeExpired(isForgotten, signal);
    next = clock.now() + EVERY;
    return removed;
  };
}
