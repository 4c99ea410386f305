/**
 * Runs projections, each under its own lease and at its own position; if one halts, the others continue
 * (docs/design/architecture.md#projections and #growing-past-one-machine).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import type { Clock, Instant } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type Halt, readHalt } from './halt.ts';
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

export function createProjectionRunner(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, readStore, projections, clock, leaseMs = LEASE_MS, retryDelaysMs = RETRY_DELAYS_MS } = options;
  const names = projections.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new RangeError(`duplicate projection names:  ${names.join(', ')}`);
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
    if (!names.includes(projection)) throw new RangeError(`unknown projection: ${projection}`);
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
      secondsBehind: eventsBehind === 0 ? 0 : await secondsBehind({ log, clock }, position),
      lastProgressAt: projector?.lastProgressAt ?? null,
      halt,
      trouble: projector?.trouble ?? null,
    };
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
      // A halt recorded by an earlier owner may be fixed by now; the present owner finds out by itself.
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
