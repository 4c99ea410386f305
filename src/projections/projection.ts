/** A projection is a pure fold from events to documents, and its name; `runner.ts` does the rest. */
import type { DomainEvent, EventDefinition, JsonObject } from '../events/event.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { CollectionSpec } from '../storage/read-store.ts';

/** A document that an event touches. */
export interface Target {
  readonly collection: string;
  readonly id: string;
}

/**
 * The content that an event names. `redacted` where it is gone by record: then the bytes are what stands in its place,
 * none where nothing does.
 */
export type Content = { readonly bytes: Buffer; readonly redacted: boolean };

/** An event as a fold sees it: its newest schema, where it stands, and the content that it names. */
export interface ProjectedEvent<Event extends DomainEvent = DomainEvent> {
  readonly event: Event;
  readonly recorded: RecordedEvent;
  /** By blob name; a blob past the `keepUntil` of its event may be missing. */
  readonly contents: ReadonlyMap<string, Content>;
}

export interface Projection<Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  readonly events: readonly EventDefinition[];
  readonly collections: readonly CollectionSpec[];
  /** Names of the blobs that the fold needs. A missing one is a failing event. */
  contentOf?(event: Event): readonly string[];
  /** The documents that an event touches, in the order in which they must become visible. */
  targets(projected: ProjectedEvent<Event>): readonly Target[];
  /** The document after the event; null deletes it. Pure and total. */
  fold(target: Target, document: JsonObject | null, projected: ProjectedEvent<Event>): JsonObject | null;
}
