/** From a batch of events to the writes that make it visible. Pure: the documents come in, the writes go out. */
import type { JsonObject } from '../events/event.ts';
import type { DocumentState, DocumentWrite } from '../storage/read-store.ts';
import type { ProjectedEvent, Projection, Target } from './projection.ts';

/** An event and the documents that it touches. */
export interface TargetedEvent {
  readonly projected: ProjectedEvent;
  readonly targets: readonly Target[];
}

/** Events whose documents can be written once each, in an order that keeps the promise of every one of them. */
export interface FoldStep {
  readonly events: readonly TargetedEvent[];
  /** Every document that the events touch, in the order in which they must become visible. */
  readonly order: readonly Target[];
}

export const targetKey = ({ collection, id }: Target): string => `${collection}\n${id}`;

/** Asks a projection which documents an event touches; one that is named twice counts where it is named last. */
export function targetEvent(projection: Projection, projected: ProjectedEvent): TargetedEvent {
  const targets = projection.targets(projected);
  if (targets.length < 2) return { projected, targets };
  const distinct = new Map<string, Target>();
  for (const target of targets) {
    const key = targetKey(target);
    distinct.delete(key);
    distinct.set(key, target);
  }
  return { projected, targets: [...distinct.values()] };
}

/**
 * Divides a batch into steps. Within a step a document is written once, in its final state, so whoever sees an event in
 * one document must already find it in all documents that this event names before: the order is one that agrees with
 * the order of targets in *every* event of the step. Two events that want opposite orders go into different steps.
 */
export function planSteps(events: readonly TargetedEvent[]): readonly FoldStep[] {
  if (events.length === 0) return [];
  const order = commonOrder(events);
  if (order) return [{ events, order }];
  // One event's targets are distinct, so that alone it always has an order: halving ends.
  const middle = Math.ceil(events.length / 2);
  return [...planSteps(events.slice(0, middle)), ...planSteps(events.slice(middle))];
}

interface Place {
  readonly target: Target;
  /** How many documents must be written directly before this one. */
  before: number;
  readonly behind: Place[];
}

/** A topological order of all targets, in the order of their first appearance where that is free; null for a ring. */
function commonOrder(events: readonly TargetedEvent[]): readonly Target[] | null {
  const places = new Map<string, Place>();
  for (const { targets } of events) {
    let previous: Place | null = null;
    for (const target of targets) {
      const key = targetKey(target);
      const place: Place = places.get(key) ?? { target, before: 0, behind: [] };
      places.set(key, place);
      if (previous) {
        previous.behind.push(place);
        place.before++;
      }
      previous = place;
    }
  }
  const ready = [...places.values()].filter((place) => place.before === 0);
  // The list grows while it is walked: a document joins when the last of those before it has its place.
  for (const { behind } of ready) {
    for (const place of behind) {
      place.before--;
      if (place.before === 0) ready.push(place);
    }
  }
  return ready.length === places.size ? ready.map(({ target }) => target) : null;
}

interface Folding {
  position: string;
  document: JsonObject | null;
  changed: boolean;
}

/**
 * Folds a step over the documents as they are stored. An event that a document already reflects is left out for this
 * document: after a crash, or a former owner's late commit, documents of one batch may stand at different positions.
 * @throws whatever the fold throws
 */
export function foldStep(
  projection: Projection,
  { events, order }: FoldStep,
  stored: ReadonlyMap<string, DocumentState>,
): readonly DocumentWrite[] {
  const foldings = new Map<string, Folding>();
  for (const { projected, targets } of events) {
    const { position } = projected.recorded;
    for (const target of targets) {
      const key = targetKey(target);
      const folding = foldings.get(key) ?? { position: '', document: null, ...stored.get(key), changed: false };
      foldings.set(key, folding);
      if (folding.position >= position) continue;
      const document = projection.fold(target, folding.document, projected);
      folding.changed ||= document !== folding.document;
      folding.document = document;
      folding.position = position;
    }
  }
  return order.flatMap((target) => {
    const folding = foldings.get(targetKey(target));
    if (!folding?.changed) return [];
    return [{ collection: target.collection, id: target.id, document: folding.document, position: folding.position }];
  });
}
