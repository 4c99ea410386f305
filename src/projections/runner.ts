/**
 * Runs projections, each generation under its own lease and at its own position; if one halts, the others continue
 * (docs/design/architecture.md#projections and #growing-past-one-machine).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import type { Clock, Instant } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { type GenerationRole, readGenerations } from './generations.ts';
import { type Halt, readHalt } from './halt.ts';
import { createPacer } from './pacer.ts';
import type { Projection } from './projection.ts';
import { Projector } from './projector.ts';
import { MOST_EVENTS_COUNTED, secondsBehind } from './status.ts';

export interface ProjectionRunnerOptions {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** How long a dead owner blocks the others, milliseconds. */
  readonly leaseMs?: number;
  readonly retryDelaysMs?: readonly number[];
  readonly haltedRetryMs?: number;
  /**
   * Which generations this process folds: those that readers see (the default), those beside them (being built, or kept
   * for a rollback), or all.
   */
  readonly folds?: 'active' | 'beside' | 'all';
  /** How busy the thread is that serves callers, 0 to 1: what is built beside yields to it. */
  readonly load?: () => number;
  /** Space on the disk of the read store, if that is known: what is built waits while there is little. */
  readonly freeBytes?: () => Promise<number | null>;
}

export interface ProjectionStatus {
  readonly projection: string;
  readonly generation: number;
  /** Everything up to this position is visible; null before the first event. */
  readonly position: Position | null;
  /** `standby`: another process runs it, or none. */
  readonly state: 'running' | 'halted' | 'standby';
  /** Events of the whole log after the position, counted up to `MOST_EVENTS_COUNTED`. */
  readonly eventsBehind: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly secondsBehind: number;
  /** When this process last moved it. */
  readonly lastProgressAt: Instant | null;
  readonly halt: Halt | null;
  /** The failure that is being waited out, such as storage that is unreachable. */
  readonly trouble: string | null;
}

export interface ProjectionRunner {
  /** Prepares the collections and starts; returns before the projections have caught up. */
  start(): Promise<void>;
  /** Ends after the pending commits and releases the leases. */
  stop(): Promise<void>;
  status(): Promise<readonly ProjectionStatus[]>;
  /**
   * Waits until a projection shows everything up to a position, in whichever process it runs. Returns false after the
   * timeout, and at once if the projection is halted before that position.
   * @throws RangeError for an unknown projection
   */
  waitFor(projection: string, position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Brings every projection to the present head, here or by waiting for the process that runs it. A runner that was not
   * started before is stopped afterwards.
   * @throws ProjectionHalted
   */
  catchUp(signal?: AbortSignal): Promise<void>;
}

/** A projection cannot reach the head of the log until an operator fixes or skips the event at which it halted. */
export class ProjectionHalted extends Error {
  readonly code = 'projection_halted';
  constructor(
    readonly projection: string,
    readonly halt: Halt,
  ) {
    super(`projection ${projection} is halted at ${halt.type} ${halt.revision} of ${halt.stream}: ${halt.error}`);
    this.name = 'ProjectionHalted';
  }
}

const LEASE_MS = 15_000;
const RETRY_DELAYS_MS = [50, 250, 1000];
/** How often to read the checkpoint of a projection that another process runs. */
const LOOK_EVERY_MS = 10;
/** An owner may lose its lease during a wait; after this time the wait reads the checkpoint instead. */
const LONGEST_WAIT_ON_OWNER_MS = 200;
/** How often to look which generations there are. */
const GENERATIONS_EVERY_MS = 500;
/** The same while readers are about to move: the process that folds the next generation hands it over at once. */
const MOVES_EVERY_MS = 50;
/** How soon after a move it has been handed over. */
const HANDOVER_MS = 3_000;

const keyOf = (projection: string, generation: number): string => `${projection}@${generation}`;

export function createProjectionRunner(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, readStore, projections, clock, leaseMs = LEASE_MS, retryDelaysMs = RETRY_DELAYS_MS } = options;
  const names = projections.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new RangeError(`duplicate projection names:  ${names.join(', ')}`);
  const { folds = 'active', load, logger, freeBytes } = options;
  const projectors = new Map<string, Projector>();
  const ending = new Set<Promise<void>>();
  /** Projections whose readers are about to move. */
  const moving = new Set<Projection>();
  /** Until when a lease may change hands, by `performance.now()`. */
  const movedUntil = new Map<Projection, number>();
  let running: { readonly stop: AbortController; readonly watching: Promise<void> } | null = null;
  const projectorOf = (projection: string, generation: number): Projector | undefined =>
    projectors.get(keyOf(projection, generation));

  async function start(): Promise<void> {
    if (running) return;
    if (folds !== 'beside') {
      for (const { name, collections } of projections) {
        await readStore.prepare(name, await readStore.activeGeneration(name), collections);
      }
    }
    const stopping = new AbortController();
    await look(stopping.signal);
    running = { stop: stopping, watching: watch(stopping.signal) };
  }

  async function stop(): Promise<void> {
    running?.stop.abort();
    await running?.watching;
    running = null;
    await Promise.all([...ending, ...[...projectors.values()].map((projector) => projector.stop())]);
    projectors.clear();
  }

  /** The pointer may move, and a rebuild may start, in any process. */
  async function watch(signal: AbortSignal): Promise<void> {
    const trouble = new Trouble(logger, {});
    let allAt = performance.now();
    while (!signal.aborted) {
      await pause(moving.size > 0 ? MOVES_EVERY_MS : GENERATIONS_EVERY_MS, signal);
      if (signal.aborted) return;
      const isAllDue = performance.now() - allAt >= GENERATIONS_EVERY_MS;
      try {
        await look(signal, isAllDue ? projections : [...moving]);
        if (isAllDue) allAt = performance.now();
        trouble.recovered();
      } catch (error) {
        trouble.failed(error, 'the generations of read models cannot be read');
      }
    }
  }

  async function look(signal: AbortSignal, looked = projections): Promise<void> {
    for (const projection of looked) {
      const wanted = await wantedOf(projection);
      if (signal.aborted) return;
      for (const [generation, role] of wanted) {
        const key = keyOf(projection.name, generation);
        if (projectors.has(key)) continue;
        const pacer =
          role === 'active'
            ? undefined
            : createPacer({
                readStore,
                projection: projection.name,
                load,
                isLimited: role === 'building',
                freeBytes: role === 'building' ? freeBytes : undefined,
              });
        const isAwaited = () => performance.now() < (movedUntil.get(projection) ?? 0);
        const own = { projection, generation, pacer, leaseMs, retryDelaysMs, isAwaited };
        const projector = new Projector({ ...options, ...own });
        projectors.set(key, projector);
        projector.start();
      }
      for (const [key, projector] of projectors) {
        if (projector.projection !== projection.name || wanted.has(projector.generation)) continue;
        projectors.delete(key);
        const ended = projector.stop().finally(() => ending.delete(ended));
        ending.add(ended);
      }
    }
  }

  async function wantedOf(projection: Projection): Promise<ReadonlyMap<number, GenerationRole>> {
    const { pointer, roles } =
      folds === 'active'
        ? { pointer: await readStore.generationPointer(projection.name), roles: null }
        : await readGenerations({ log, readStore }, projection.name);
    const { active, next } = pointer;
    if (next !== null) movedUntil.set(projection, performance.now() + HANDOVER_MS);
    if (next === null) moving.delete(projection);
    else moving.add(projection);
    if (roles) return new Map([...roles].filter(([, role]) => folds === 'all' || role !== 'active'));
    // The next one too: it waits for the lease.
    return new Map([active, ...(next === null ? [] : [next])].map((generation) => [generation, 'active']));
  }

  async function waitFor(projection: string, position: Position, timeoutMs: number): Promise<boolean> {
    if (!names.includes(projection)) throw new RangeError(`unknown projection: ${projection}`);
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      // Read each time, because the pointer may move at any moment, and readers follow it at once. While it is about to
      // move, what denies something must hold for both generations.
      const { active, next } = await readStore.generationPointer(projection);
      const remaining = Math.max(0, deadline - performance.now());
      const first = await reaches(projection, active, position, remaining);
      const reached = first === 'yes' && next !== null ? await reaches(projection, next, position, remaining) : first;
      if (reached === 'yes') {
        const now = await readStore.generationPointer(projection);
        if (now.active === active && now.next === next) return true;
      }
      if (reached === 'halted' || performance.now() >= deadline) return false;
    }
  }

  /** Waits for a moment, at most this long. */
  async function reaches(
    projection: string,
    generation: number,
    position: Position,
    remaining: number,
  ): Promise<'yes' | 'no' | 'halted'> {
    const projector = projectorOf(projection, generation);
    if (projector?.progress.reached(position)) return 'yes';
    if (projector?.halt) return 'halted';
    if (projector?.isOwner) {
      if (remaining === 0) return 'no';
      const waitMs = Math.min(remaining, LONGEST_WAIT_ON_OWNER_MS);
      return (await projector.progress.waitFor(position, waitMs)) ? 'yes' : 'no';
    }
    const stored = await readStore.checkpoint(projection, generation);
    if (stored !== null && stored >= position) return 'yes';
    await delay(Math.min(remaining, LOOK_EVERY_MS));
    return 'no';
  }

  async function statusOf({ name }: Projection): Promise<ProjectionStatus> {
    const generation = await readStore.activeGeneration(name);
    const projector = projectorOf(name, generation);
    const position = projector?.progress.position ?? (await readStore.checkpoint(name, generation));
    const halt = projector?.halt ?? (projector?.isOwner ? null : await readHalt(readStore, name, generation));
    const eventsBehind = await log.countAfter(position, MOST_EVENTS_COUNTED);
    return {
      projection: name,
      generation,
      position,
      state: halt ? 'halted' : projector?.isOwner ? 'running' : 'standby',
      eventsBehind,
      secondsBehind: eventsBehind === 0 ? 0 : await secondsBehind({ log, clock }, position),
      lastProgressAt: projector?.lastProgressAt ?? null,
      halt,
      trouble: projector?.trouble ?? null,
    };
  }

  async function catchUp(signal?: AbortSignal): Promise<void> {
    const head = await log.head();
    if (head === null) return;
    const wasRunning = running !== null;
    await start();
    try {
      await Promise.all(names.map((name) => comesTo(name, head, signal)));
    } finally {
      if (!wasRunning) await stop();
    }
  }

  async function comesTo(projection: string, head: Position, signal: AbortSignal | undefined): Promise<void> {
    while (!(await waitFor(projection, head, LONGEST_WAIT_ON_OWNER_MS))) {
      signal?.throwIfAborted();
      const generation = await readStore.activeGeneration(projection);
      const projector = projectorOf(projection, generation);
      // A halt recorded by an earlier owner may be fixed by now; the present owner finds out by itself.
      const halt = projector?.halt ?? (projector?.isOwner ? null : await readHalt(readStore, projection, generation));
      if (halt) throw new ProjectionHalted(projection, halt);
    }
  }

  return {
    start,
    stop,
    waitFor,
    catchUp,
    status: () => Promise.all(projections.map(statusOf)),
  };
}
