/**
 * Runs projections: each under its own lease, at its own position, halting alone
 * (docs/design/architecture.md#projections and #growing-past-one-machine).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import { type Clock, type Instant, MICROS_PER_SECOND, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type Halt, readHalt } from './halt.ts';
import type { Projection } from './projection.ts';
import { Projector } from './projector.ts';

export interface ProjectionRunnerOptions {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** How long an owner that died keeps the others waiting, milliseconds. */
  readonly leaseMs?: number;
  readonly retryDelaysMs?: readonly number[];
}

export interface ProjectionStatus {
  readonly projection: string;
  readonly generation: number;
  /** Everything up to here is visible; null before the first event. */
  readonly position: Position | null;
  /** `standby`: another process runs it, or none. */
  readonly state: 'running' | 'halted' | 'standby';
  /** Events of the whole log behind the position, counted to `MOST_EVENTS_COUNTED`. */
  readonly eventsBehind: number;
  /** Age of the oldest of them; 0 where there is none. */
  readonly secondsBehind: number;
  /** When this process last moved it. */
  readonly lastProgressAt: Instant | null;
  readonly halt: Halt | null;
  /** What is being waited out, such as storage that cannot be reached. */
  readonly trouble: string | null;
}

export interface ProjectionRunner {
  /** Prepares the collections and begins; returns before anything is caught up. */
  start(): Promise<void>;
  /** Ends after the commits that are on their way, and gives the leases back. */
  stop(): Promise<void>;
  status(): Promise<readonly ProjectionStatus[]>;
  /**
   * Waits until a projection shows everything up to a position, whoever runs it. False after the time-out, and at once
   * where it is halted before that position.
   * @throws RangeError for a projection that is not among the runner's
   */
  waitFor(projection: string, position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Brings every projection to the present head, here or by waiting for the process that runs it. A runner that was not
   * started is stopped again.
   * @throws ProjectionHalted
   */
  catchUp(signal?: AbortSignal): Promise<void>;
}

/** A projection cannot come to the head of the log before somebody mends or skips the event that it failed at. */
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

export const MOST_EVENTS_COUNTED = 1_000_000;

const LEASE_MS = 15_000;
const RETRY_DELAYS_MS = [50, 250, 1000];
/** How often the checkpoint of a projection that another process runs is looked at. */
const LOOK_EVERY_MS = 10;
/** An owner may lose its lease while somebody waits: then the checkpoint is what tells. */
const LONGEST_WAIT_ON_OWNER_MS = 200;

export function createProjectionRunner(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, readStore, projections, clock, leaseMs = LEASE_MS, retryDelaysMs = RETRY_DELAYS_MS } = options;
  const names = projections.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new RangeError(`projections share a name: ${names.join(', ')}`);
  let projectors = new Map<string, Projector>();

  const storedPosition = async (projection: string): Promise<Position | null> =>
    readStore.checkpoint(projection, await readStore.activeGeneration(projection));

  async function start(): Promise<void> {
    if (projectors.size > 0) return;
    for (const { name, collections } of projections) {
      await readStore.prepare(name, await readStore.activeGeneration(name), collections);
    }
    projectors = new Map(
      projections.map((projection) => [
        projection.name,
        new Projector({ ...options, projection, leaseMs, retryDelaysMs }),
      ]),
    );
    for (const projector of projectors.values()) projector.start();
  }

  async function stop(): Promise<void> {
    await Promise.all([...projectors.values()].map((projector) => projector.stop()));
    projectors = new Map();
  }

  async function waitFor(projection: string, position: Position, timeoutMs: number): Promise<boolean> {
    if (!names.includes(projection)) throw new RangeError(`no projection is called ${projection}`);
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const projector = projectors.get(projection);
      if (projector?.progress.reached(position)) return true;
      if (projector?.halt) return false;
      const remaining = deadline - performance.now();
      if (projector?.isOwner) {
        if (remaining <= 0) return false;
        if (await projector.progress.waitFor(position, Math.min(remaining, LONGEST_WAIT_ON_OWNER_MS))) return true;
        continue;
      }
      const stored = await storedPosition(projection);
      if (stored !== null && stored >= position) return true;
      if (remaining <= 0) return false;
      await delay(Math.min(remaining, LOOK_EVERY_MS));
    }
  }

  async function statusOf({ name }: Projection): Promise<ProjectionStatus> {
    const projector = projectors.get(name);
    const generation = await readStore.activeGeneration(name);
    const position = projector?.progress.position ?? (await readStore.checkpoint(name, generation));
    const halt = projector?.halt ?? (projector?.isOwner ? null : await readHalt(readStore, name));
    const eventsBehind = await log.countAfter(position, MOST_EVENTS_COUNTED);
    return {
      projection: name,
      generation,
      position,
      state: halt ? 'halted' : projector?.isOwner ? 'running' : 'standby',
      eventsBehind,
      secondsBehind: eventsBehind === 0 ? 0 : await secondsBehind(position),
      lastProgressAt: projector?.lastProgressAt ?? null,
      halt,
      trouble: projector?.trouble ?? null,
    };
  }

  async function secondsBehind(position: Position | null): Promise<number> {
    for await (const { events } of log.readAll(position, { by: 'all' })) {
      const [oldest] = events;
      if (!oldest) continue;
      return Math.max(0, (clock.now() - toMicros(oldest.metadata.recordedAt)) / MICROS_PER_SECOND);
    }
    return 0;
  }

  async function catchUp(signal?: AbortSignal): Promise<void> {
    const head = await log.head();
    if (head === null) return;
    const wasRunning = projectors.size > 0;
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
      const projector = projectors.get(projection);
      // A halt that an earlier owner recorded may be mended by now: who owns the projection finds out for itself.
      const halt = projector?.halt ?? (projector?.isOwner ? null : await readHalt(readStore, projection));
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
