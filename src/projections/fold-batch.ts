/** Turns a batch of events into the writes that make it visible. Pure: documents come in, writes go out. */
import type { JsonObject } from '../events/event.ts';
import type { DocumentState, DocumentWrite } from '../storage/read-store.ts';
import type { ProjectedEvent, Projection, Target } from './projection.ts';

/** An event and the documents that it touches. */
export interface TargetedEvent {
  readonly projected: ProjectedEvent;
  readonly targets: readonly Target[];
}

/** Events whose documents are written once each, in an order that is valid for every one of the events. */
export interface FoldStep {
  readonly events: readonly TargetedEvent[];
  /** Every document that the events touch, in the order in which the writes must become visible. */
  readonly order: readonly Target[];
}

export const targetKey = ({ collection, id }: Target): string => `${collection}\n${id}`;

/** Asks a projection which documents an event touches. If a document is named twice, its last place counts. */
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
 * Divides a batch into steps. In a step each document is written once, in its final state, so a reader who sees an event
 * in one document must already find it in all documents that the event lists before that one. The order therefore
 * follows the order of targets in *every* event of the step. Events with opposite orders go into different steps.
 */
export function planSteps(events: readonly TargetedEvent[]): readonly FoldStep[] {
  if (events.length === 0) return [];
  const order = commonOrder(events);
  if (order) return [{ events, order }];
  // The targets of a single event are distinct, so it always has an order, and halving ends.
  const middle = Math.ceil(events.length / 2);
  return [...planSteps(events.slice(0, middle)), ...planSteps(events.slice(middle))];
}

interface TargetOrder {
  readonly target: Target;
  /** How many documents must be written directly before this one. */
  before: number;
  readonly behind: TargetOrder[];
}

/** A topological order of all targets, otherwise by first appearance; null if there is a cycle. */
function commonOrder(events: readonly TargetedEvent[]): readonly Target[] | null {
  const places = new Map<string, TargetOrder>();
  for (const { targets } of events) {
    let previous: TargetOrder | null = null;
    for (const target of targets) {
      const key = targetKey(target);
      const place: TargetOrder = places.get(key) ?? { target, before: 0, behind: [] };
      places.set(key, place);
      if (previous) {
        previous.behind.push(place);
        place.before++;
      }
      previous = place;
    }
  }
  const ready = [...places.values()].filter((place) => place.before === 0);
  // The list grows while it is read: a document is added once all those before it have their place.
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
 * Folds a step over the stored documents. Skips an event for a document that already contains it: after a crash, or a
 * late commit of a former owner, the documents of a batch may be at different positions.
 * @throws what the fold throws
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
