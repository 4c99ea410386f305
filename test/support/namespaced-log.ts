/**
 * A part of a log that looks like a separate log. A test of the whole service needs an empty log and reuses the same
 * docket, but an event store is shared, forgets nothing, and cannot be emptied. So every stream gets a prefix on the
 * way in, which is removed on the way out; everything else is the real log's behaviour.
 */
import type {
  Append,
  EventBatch,
  EventFilter,
  EventLog,
  Position,
  RecordedEvent,
} from '../../src/storage/event-log.ts';

export async function namespaced(log: EventLog, prefix: string): Promise<EventLog> {
  const start = await log.head();
  const inside = (stream: string): string => `${prefix}${stream}`;
  const outside = (events: readonly RecordedEvent[]): RecordedEvent[] =>
    events
      .filter(({ stream }) => stream.startsWith(prefix))
      .map((event) => ({ ...event, stream: event.stream.slice(prefix.length) }));
  const within = (filter: EventFilter): EventFilter => {
    if (filter.by === 'all') return { by: 'streams', prefixes: [prefix] };
    return filter.by === 'streams' ? { by: 'streams', prefixes: filter.prefixes.map(inside) } : filter;
  };
  const after = (from: Position | null): Position | null => (from === null || (start && from < start) ? start : from);
  async function* shown(batches: AsyncIterable<EventBatch>): AsyncIterable<EventBatch> {
    for await (const batch of batches) yield { ...batch, events: outside(batch.events) };
  }
  return {
    append: ({ stream, expected, events }: Append) =>
      log.append({
        stream: inside(stream),
        expected,
        events: events.map((event) => ({ ...event, stream: inside(event.stream) })),
      }),
    read: async (stream, options) => outside(await log.read(inside(stream), options)),
    readAll: (from, filter) => shown(log.readAll(after(from), within(filter))),
    subscribe: (from, filter, signal) => shown(log.subscribe(after(from), within(filter), signal)),
    head: () => log.head(),
    async countAfter(from, limit) {
      let count = 0;
      for await (const { events } of log.readAll(after(from), within({ by: 'all' }))) count += outside(events).length;
      return Math.min(limit, count);
    },
    doubts: () => log.doubts?.() ?? 0,
    check: () => log.check(),
    close: () => log.close(),
  };
}
