/** A projection is a name and a pure fold from events to documents; `runner.ts` does the rest. */
import type { DomainEvent, EventDefinition, JsonObject } from '../events/event.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { CollectionSpec } from '../storage/read-store.ts';

/** A document that an event touches. */
export interface Target {
  readonly collection: string;
  readonly id: string;
}

/**
 * Content that an event refers to. If it was removed by an event, `redacted` is true and the bytes are its replacement,
 * or empty.
 */
export type Content = { readonly bytes: Buffer; readonly redacted: boolean };

/** An event as a fold sees it: in its newest schema, with its position and its content. */
export interface ProjectedEvent<Event extends DomainEvent = DomainEvent> {
  readonly event: Event;
  readonly recorded: RecordedEvent;
  /** By blob name. A blob may be missing after the `keepUntil` of its event. */
  readonly contents: ReadonlyMap<string, Content>;
  /** The events before it in its stream, oldest first, if the projection needs them. */
  readonly earlier?: readonly Earlier[];
}

/** An event that was recorded before another one in the same stream. */
export interface Earlier {
  readonly event: DomainEvent;
  readonly recorded: RecordedEvent;
}

export interface Projection<Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  readonly events: readonly EventDefinition[];
  readonly collections: readonly CollectionSpec[];
  /** No caller sees it, so the service sells on while it is behind or halted. */
  readonly forOperators?: true;
  /** Names of the blobs that the fold needs. If one is missing, the event fails. */
  contentOf?(event: Event): readonly string[];
  /** Whether targets and fold need the events before this one in its stream. They never change, so folds stay pure. */
  needsEarlier?(event: Event): boolean;
  /** The documents that an event touches, in the order in which they must become visible. */
  targets(projected: ProjectedEvent<Event>): readonly Target[];
  /** The document after the event; null deletes it. Pure and total. */
  fold(target: Target, document: JsonObject | null, projected: ProjectedEvent<Event>): JsonObject | null;
}
