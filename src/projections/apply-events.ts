/** Applies events: decode, fetch content, load, fold, commit. If that fails, finds the event that cannot be folded. */
import { decodeEvent } from '../events/codec.ts';
import { toInstant } from '../runtime/instant.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import type { Position, RecordedEvent } from '../storage/event-log.ts';
import { LeaseLost } from '../storage/held-lease.ts';
import type { DocumentState, ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { type ContentSources, withContents } from './contents.ts';
import { withEarlier } from './earlier-events.ts';
import { type FoldStep, foldStep, planSteps, targetEvent, targetKey } from './fold-batch.ts';
import type { Pacer } from './pacer.ts';
import type { Projection } from './projection.ts';

/** Most events that are folded at once on the main thread; their content weighs more than the events. */
const MOST_EVENTS = 250;
const MOST_EVENTS_WITH_CONTENT = 32;

/** An event that can never be folded, so the projection halts at it. */
export class PoisonEvent extends Error {
  readonly code = 'poison_event';
  constructor(
    readonly recorded: RecordedEvent,
    cause: unknown,
  ) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause), { cause });
    this.name = 'PoisonEvent';
  }
}

export interface Application extends ContentSources {
  readonly projection: Projection;
  readonly generation: number;
  readonly readStore: ReadStore;
  /** Called before each commit; throws if this process is no longer the owner. */
  readonly assertOwner: () => Promise<void>;
  /** Called after each commit. */
  readonly committed: (position: Position) => void;
  /** Ends the work between two portions. */
  readonly signal?: AbortSignal;
  /** Slows the work down beside that of others. */
  readonly pacer?: Pacer | undefined;
}

/** Failures that are not the event's fault: the engine is down, or the owner has changed. They pass by themselves. */
export const isPassing = (error: unknown): boolean => error instanceof StorageFailure || error instanceof LeaseLost;

/** Applies events in portions, so that the event loop gets its turns. The checkpoint ends at the last event. */
export async function applyEvents(application: Application, events: readonly RecordedEvent[]): Promise<void> {
  const { projection, pacer, signal } = application;
  const usual = projection.contentOf ? MOST_EVENTS_WITH_CONTENT : MOST_EVENTS;
  for (let start = 0; start < events.length && !signal?.aborted; ) {
    if (start > 0) await nextTurn();
    const portion = events.slice(start, start + Math.min(usual, pacer?.portion() ?? usual));
    const began = performance.now();
    await applyPortion(application, portion);
    start += portion.length;
    if (pacer && signal) await pacer.rest(portion.length, performance.now() - began, signal);
  }
}

/**
 * Applies a failed batch half by half: everything before the failing event becomes visible, and the error names the
 * event.
 * @throws PoisonEvent
 */
export async function applyByBisection(application: Application, events: readonly RecordedEvent[]): Promise<void> {
  const [first] = events;
  if (!first) return;
  try {
    await applyPortion(application, events);
    return;
  } catch (error) {
    if (isPassing(error)) throw error;
    if (events.length === 1) throw new PoisonEvent(first, error);
  }
  const middle = Math.ceil(events.length / 2);
  await applyByBisection(application, events.slice(0, middle));
  await nextTurn();
  await applyByBisection(application, events.slice(middle));
}

async function applyPortion(application: Application, events: readonly RecordedEvent[]): Promise<void> {
  const { projection } = application;
  const decoded = events.map((recorded) => ({ event: decodeEvent(recorded), recorded }));
  const projected = await withEarlier(projection, await withContents(projection, decoded, application), application);
  const targeted = projected.map((event) => targetEvent(projection, event));
  for (const step of planSteps(targeted)) await applyStep(application, step);
}

async function applyStep(application: Application, step: FoldStep): Promise<void> {
  const { projection, generation, readStore } = application;
  const last = step.events.at(-1)?.projected.recorded;
  if (last === undefined) return;
  const { position, stream, revision, id } = last;
  const writes = foldStep(projection, step, await loadStates(application, step));
  await application.assertOwner();
  await readStore.commit({
    projection: projection.name,
    generation,
    writes,
    position,
    newest: { position, stream, revision, id },
    at: toInstant(application.clock.now()),
    folded: step.events.length,
  });
  application.committed(position);
}

async function loadStates(
  { readStore, generation }: Application,
  { order }: FoldStep,
): Promise<ReadonlyMap<string, DocumentState>> {
  const idsByCollection = new Map<string, string[]>();
  for (const { collection, id } of order) {
    const ids = idsByCollection.get(collection);
    if (ids) ids.push(id);
    else idsByCollection.set(collection, [id]);
  }
  const states = new Map<string, DocumentState>();
  for (const [collection, ids] of idsByCollection) {
    for (const [id, state] of await readStore.loadStates(collection, ids, generation)) {
      states.set(targetKey({ collection, id }), state);
    }
  }
  return states;
}
