/** A copy of a log that a test changes, as an insider would who recomputes everything that the log holds. */
import type { Json, JsonObject } from '../../src/events/event.ts';
import { eventId } from '../../src/storage/event-id.ts';
import type { EventMetadata, RecordedEvent } from '../../src/storage/event-log.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';

/** An event of the copy; a test may change any of it. */
export interface CopiedEvent {
  stream: string;
  revision: number;
  type: string;
  data: { [member: string]: Json };
  metadata: Omit<EventMetadata, 'hash'>;
}

export class LogCopy {
  readonly events: CopiedEvent[];
  /** Events that name another event by its revision, which may move, and that one. */
  readonly #references = new Map<CopiedEvent, { readonly revision: Json | undefined; readonly to: CopiedEvent }>();

  constructor(events: readonly RecordedEvent[]) {
    this.events = structuredClone(events) as unknown as CopiedEvent[];
    for (const event of this.events) {
      const { stream, revision } = event.data;
      const to = this.events.find((one) => one.stream === stream && one.revision === revision);
      if (event.type === 'ContentRedacted' && to) this.#references.set(event, { revision, to });
    }
  }

  /** The nth event of a type in a stream; negative numbers count from the end. */
  at(stream: string, type: string, nth = 0): CopiedEvent {
    const found = this.events.filter((event) => event.stream === stream && event.type === type).at(nth);
    if (!found) throw new Error(`${stream} has no ${type} ${nth}`);
    return found;
  }

  /** Changes members of an event's data. */
  set(event: CopiedEvent, data: JsonObject): CopiedEvent {
    Object.assign(event.data, data);
    return event;
  }

  /** Gives an event the first schema of its type, which had not these members. */
  downgrade(event: CopiedEvent, ...members: readonly string[]): CopiedEvent {
    for (const member of members) delete event.data[member];
    event.metadata = { ...event.metadata, schemaVersion: 1 };
    return event;
  }

  drop(...events: readonly CopiedEvent[]): void {
    for (const event of events) this.events.splice(this.events.indexOf(event), 1);
  }

  dropStream(stream: string): void {
    this.drop(...this.events.filter((event) => event.stream === stream));
  }

  /** Puts an event behind another; what is not given is as in the other, or as in `like`. */
  insert(after: CopiedEvent, over: Partial<CopiedEvent>, like: CopiedEvent = after): CopiedEvent {
    const inserted = structuredClone({ ...like, ...over });
    this.events.splice(this.events.indexOf(after) + 1, 0, inserted);
    return inserted;
  }

  /** Repeats an event behind another. */
  repeat(event: CopiedEvent, after: CopiedEvent = event): CopiedEvent {
    return this.insert(after, {}, event);
  }

  last(): CopiedEvent {
    const last = this.events.at(-1);
    if (!last) throw new Error('the log is empty');
    return last;
  }

  /** Moves an event to the end of the log and its time, with other data where it has such members. */
  moveToEnd(event: CopiedEvent, data: JsonObject): CopiedEvent {
    const { recordedAt } = this.last().metadata;
    this.set(event, Object.fromEntries(Object.entries(data).filter(([member]) => member in event.data)));
    event.metadata = { ...event.metadata, recordedAt };
    this.drop(event);
    this.events.push(event);
    return event;
  }

  swap(one: CopiedEvent, other: CopiedEvent): void {
    const [at, otherAt] = [this.events.indexOf(one), this.events.indexOf(other)];
    this.events[at] = other;
    this.events[otherAt] = one;
  }

  /** The log with positions, revisions, ids and hashes that fit. */
  sealed(): readonly RecordedEvent[] {
    const hashes = new Map<string, string>();
    this.#renumber();
    return this.events.map((event, index): RecordedEvent => {
      const { stream, revision, type, data } = event;
      const previousHash = hashes.get(stream) ?? '';
      // Each event by a command of its own, so that the id fits whatever was appended with it.
      const { hash: _, ...kept } = event.metadata as EventMetadata;
      const commandId = `planted-${index}`;
      const metadata = { ...kept, commandId };
      const id = eventId(commandId, stream, revision - 1, 0);
      const hash = hashEvent(previousHash, { id, stream, revision, type, data, metadata });
      hashes.set(stream, hash);
      const position = String(index + 1).padStart(20, '0');
      return { id, stream, revision, position, type, data, metadata: { ...metadata, hash } };
    });
  }

  #renumber(): void {
    const next = new Map<string, number>();
    for (const event of this.events) {
      event.revision = next.get(event.stream) ?? 0;
      next.set(event.stream, event.revision + 1);
    }
    for (const [event, { revision, to }] of this.#references) {
      if (event.data.revision === revision) event.data.revision = to.revision;
    }
  }
}
