/**
 * Completes and clears up what a process that died has left: a move of the pointer that the log has recorded, the mark of
 * a swap, generations that nothing needs. Every node with a service does this, and so does each command.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { record } from '../commands/handle.ts';
import { projectionActs, unfinishedMove } from '../commands/projection/projection-acts.ts';
import { operatorStream, projectionSubject } from '../events/operator.ts';
import { type Clock, toMicros } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog } from '../storage/event-log.ts';
import { HeldLease } from '../storage/held-lease.ts';
import { partOf } from '../storage/lease-owner.ts';
import type { GenerationPointer, ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { type Generations, generationLease, readGenerations, uselessGenerations } from './generations.ts';
import { writeHalt } from './halt.ts';
import { writePace } from './pacer.ts';
import type { Projection } from './projection.ts';
import { GRACE_MS, retirementOf } from './status.ts';

export interface KeeperPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  /** Unique for this process. */
  readonly owner: string;
  /**
   * How long a generation is kept after readers left it. Only a service retires: the setting of a shell must not end what
   * the service keeps for longer.
   */
  readonly graceMs?: number;
  readonly retires?: boolean;
}

const LEASE_MS = 15_000;

/** One swap or rollback at a time, and nothing else that changes what readers can be moved to. */
export const swapLease = (projection: string): string => `projection-swap/${projection}`;

/** Completes what was begun, unless another process moves readers at this moment. @returns what there is now */
export async function keepGenerations(ports: KeeperPorts, { name }: Pick<Projection, 'name'>): Promise<Generations> {
  let generations = await readGenerations(ports, name);
  const steps = [finishMove, clearMark, ...(ports.retires ? [retireExpired] : [])];
  for (const { isDue, take } of steps) {
    if (!(await isDue(generations, ports, name))) continue;
    // Who moves readers holds the lease, and waits for the generation to which it will move them.
    const lease = await HeldLease.acquire({ ...ports, name: swapLease(name), durationMs: LEASE_MS });
    if (!lease) continue;
    try {
      // Another process may have moved readers since, to and fro.
      generations = await readGenerations(ports, name);
      if (await isDue(generations, ports, name)) await take(ports, name, generations, lease);
    } finally {
      await lease.release();
    }
    generations = await readGenerations(ports, name);
  }
  return generations;
}

/** What the keeper does under the lease of a move, if it is due. */
interface KeeperStep {
  isDue(generations: Generations, ports: KeeperPorts, projection: string): Promise<boolean> | boolean;
  take(ports: KeeperPorts, projection: string, generations: Generations, lease: HeldLease): Promise<unknown>;
}

/**
 * Moves the pointer where the log says that it was moved, once that generation holds everything up to the record: a power
 * cut or an older copy of the read store may have set it back.
 */
const finishMove: KeeperStep = {
  async isDue({ acts, pointer, prepared, movedAt }, { readStore }, projection) {
    const active = unfinishedMove(acts, pointer.active, prepared);
    if (active === null || movedAt === null) return false;
    const reached = await readStore.checkpoint(projection, active);
    return reached !== null && reached >= movedAt;
  },
  async take({ readStore }, projection, { acts, pointer, prepared }) {
    const active = unfinishedMove(acts, pointer.active, prepared);
    if (active !== null) await movePointer(readStore, projection, pointer, active);
  },
};

/**
 * After the record of a move. The pace of a rebuild ends first: once the pointer has moved, nothing shows that it is still
 * to be cleared, and it would apply to the next rebuild.
 */
export async function movePointer(
  readStore: KeeperPorts['readStore'],
  projection: string,
  from: GenerationPointer,
  active: number,
): Promise<void> {
  await writePace(readStore, projection, null);
  await readStore.movePointer(projection, from, { active, next: null });
}

/** The mark of a swap whose process is gone. */
const clearMark: KeeperStep = {
  isDue: ({ pointer }) => pointer.next !== null,
  take: ({ readStore }, projection, { pointer }) =>
    readStore.movePointer(projection, pointer, { ...pointer, next: null }),
};

const retireExpired: KeeperStep = {
  isDue: (generations, ports) => expired(generations, ports).length > 0,
  async take(ports, projection, generations, lease) {
    for (const generation of expired(generations, ports)) {
      await lease.assertHeld();
      const commandId = randomUUID();
      await record(ports, {
        decider: projectionActs,
        stream: operatorStream(projectionSubject(projection)),
        command: {
          type: 'Retire',
          projection,
          generation,
          by: 'service',
          reason: 'its grace period after the swap is over',
        },
        context: { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'projections' },
      });
    }
  },
};

const expired = (generations: Generations, { clock, graceMs = GRACE_MS }: KeeperPorts): readonly number[] =>
  generations.acts.kept.filter(
    (kept) =>
      kept !== generations.pointer.active &&
      kept !== generations.pointer.next &&
      toMicros(retirementOf(generations, kept, graceMs)) <= clock.now(),
  );

/** Removes what nothing needs; takes long for many documents. */
export async function removeUseless(ports: KeeperPorts, projection: string, generations: Generations): Promise<void> {
  for (const generation of uselessGenerations(generations)) await remove(ports, projection, generation);
}

/** Under the lease of its follower, which therefore writes nothing more. */
async function remove(ports: KeeperPorts, projection: string, generation: number): Promise<void> {
  const name = generationLease(projection, generation);
  const lease = await HeldLease.acquire({ ...ports, owner: partOf(ports.owner, 'keeper'), name, durationMs: LEASE_MS });
  if (!lease) return;
  try {
    await ports.readStore.retireGeneration(projection, generation);
    await writeHalt(ports.readStore, projection, generation, null);
  } finally {
    await lease.release();
  }
}

export interface GenerationKeeper {
  stop(): Promise<void>;
}

export interface GenerationKeeperOptions extends KeeperPorts {
  readonly projections: readonly Projection[];
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Called after each look: whether there are generations beside those that readers see. */
  readonly looked?: (beside: boolean) => Promise<void>;
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 1_000;

/** Looks once a second, until it is stopped. */
export function startGenerationKeeper(options: GenerationKeeperOptions): GenerationKeeper {
  const { projections, logger, looked, everyMs = LOOK_EVERY_MS } = options;
  const stopping = new AbortController();
  const trouble = new Trouble(logger, {});
  const removing = new Set<string>();
  const removeSoon = async (projection: string, generations: Generations): Promise<void> => {
    if (removing.has(projection)) return;
    removing.add(projection);
    try {
      await removeUseless(options, projection, generations);
    } catch (error) {
      // A stop closes the storage; the next start removes the rest.
      if (!stopping.signal.aborted) trouble.failed(error, 'a generation that nothing needs cannot be removed');
    } finally {
      removing.delete(projection);
    }
  };
  const running = (async () => {
    for (; !stopping.signal.aborted; await pause(everyMs, stopping.signal)) {
      let beside = false;
      let isWell = true;
      // One that fails must not keep the others from being built and retired.
      const attempt = async (work: () => Promise<unknown>): Promise<void> => {
        try {
          await work();
        } catch (error) {
          isWell = false;
          trouble.failed(error, 'the generations of read models cannot be kept in order');
        }
      };
      for (const projection of projections) {
        if (stopping.signal.aborted) return;
        await attempt(async () => {
          const generations = await keepGenerations({ ...options, retires: true }, projection);
          beside ||= generations.roles.size > 1;
          void removeSoon(projection.name, generations);
        });
      }
      await attempt(async () => looked?.(beside));
      if (isWell) trouble.recovered();
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
