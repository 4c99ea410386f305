import { decodeEvent } from '../../events/codec.ts';
import type { DomainEvent } from '../../events/event.ts';
import { isOwnEvent } from '../../events/own-event.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { ReadableLog } from '../readable-log.ts';
import { StreamChains } from '../replay/stream-chains.ts';

export interface OwnEvent {
  readonly recorded: RecordedEvent;
  readonly event: DomainEvent;
}

/** Decodes an event that this service wrote; null for events of other programs in a shared log. */
export const ownEvent = (recorded: RecordedEvent): OwnEvent | null =>
  isOwnEvent(recorded.stream, recorded.type) ? { recorded, event: decodeEvent(recorded) } : null;

/**
 * The service's events in streams with these prefixes, in log order. Revisions and hashes are checked, also of events
 * that are not asked for.
 * @throws UnreadableEvent at the first that does not fit its schema or does not follow from the event before it
 */
export async function* ownEvents(log: ReadableLog, prefixes: readonly string[]): AsyncIterable<OwnEvent> {
  const chains = new StreamChains(log);
  for await (const { events } of log.readAll(null, { by: 'streams', prefixes })) {
    for (const recorded of events) {
      const problem = await chains.check(recorded);
      if (problem !== null) {
        const { type, stream, revision, position } = recorded;
        throw new UnreadableEvent({ type, stream, revision, position }, problem);
      }
      const own = ownEvent(recorded);
      if (own) yield own;
    }
  }
}
