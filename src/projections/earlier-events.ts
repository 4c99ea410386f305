/** Reads the events before an event in its own stream, for folds that join them. */
import { upcastData } from '../events/codec.ts';
import { isOwnEvent } from '../events/own-event.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';
import type { Earlier, ProjectedEvent, Projection } from './projection.ts';

/** How many streams are read at once. */
const AT_ONCE = 32;

type Log = Pick<EventLog, 'read'>;

/** Adds to each event the earlier events that its fold needs. */
export async function withEarlier(
  { needsEarlier }: Pick<Projection, 'needsEarlier'>,
  projected: readonly ProjectedEvent[],
  { log }: { readonly log: Log },
): Promise<readonly ProjectedEvent[]> {
  if (!needsEarlier) return projected;
  const joined: ProjectedEvent[] = [];
  for (let start = 0; start < projected.length; start += AT_ONCE) {
    const reads = projected
      .slice(start, start + AT_ONCE)
      .map(async (one) => (needsEarlier(one.event) ? { ...one, earlier: await earlierOf(log, one.recorded) } : one));
    joined.push(...(await Promise.all(reads)));
  }
  return joined;
}

/**
 * Events of other programs in a shared log are left out. Those of the service are not validated again: it takes longer than
 * the fold, and the read model of payments halts at one that does not fit.
 */
async function earlierOf(log: Log, { stream, revision }: RecordedEvent): Promise<readonly Earlier[]> {
  if (revision === 0) return [];
  const recorded = await log.read(stream, { limit: revision });
  return recorded
    .filter(({ type }) => isOwnEvent(stream, type))
    .map((one) => ({ event: { type: one.type, data: upcastData(one) }, recorded: one }));
}
