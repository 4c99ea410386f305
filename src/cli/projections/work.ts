/** What the commands of `docket projections` share: the storage, the projection that is named, a runner, its waits. */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { nearestName } from '../../http/nearest-name.ts';
import { generationLease } from '../../projections/generations.ts';
import { type Halt, readHalt, skipCommand } from '../../projections/halt.ts';
import type { OperatorPorts } from '../../projections/move-readers.ts';
import type { Projection } from '../../projections/projection.ts';
import { createProjectionRunner, type ProjectionRunnerOptions } from '../../projections/runner.ts';
import { systemClock } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import { leaseOwner, partOf } from '../../storage/lease-owner.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT } from '../command.ts';
import { type ActOptions, actContext, readAct } from '../operator-act.ts';

export interface ProjectionsSetup {
  readonly open: (environment: NodeJS.ProcessEnv) => Promise<Storage>;
  readonly projections: readonly Projection[];
  /** How long a generation is kept after readers have left it, by the configuration. */
  readonly graceMs: (environment: NodeJS.ProcessEnv) => number;
  /** How long a recorded halt may be out of date: the process that folds notices its end within this time. */
  readonly haltStandsMs?: number;
}

/** @throws CliError that names the nearest one */
export function projectionNamed(projections: readonly Projection[], name: string): Projection {
  const found = projections.find((projection) => projection.name === name);
  if (found) return found;
  const names = projections.map((projection) => projection.name);
  const nearest = nearestName(name, names);
  throw new CliError(
    `There is no projection ${name.slice(0, 100)}.`,
    nearest === null ? `Use one of ${names.join(', ')}.` : `Did you mean ${nearest}? There are ${names.join(', ')}.`,
  );
}

/** Who acts, on which projection. @throws CliError for a reason or a name that is empty or too long */
export const operatorPorts = (
  { graceMs }: Pick<ProjectionsSetup, 'graceMs'>,
  { environment }: Pick<CliContext, 'environment'>,
  storage: Storage,
  projection: Projection,
  act: ActOptions,
): OperatorPorts => ({
  ...{ log: storage.log, readStore: storage.readStore, clock: systemClock, owner: leaseOwner() },
  graceMs: graceMs(environment),
  projection,
  context: actContext(),
  ...readAct(act),
});

/** Whether another process folds a generation now. */
export async function isFolded({ readStore }: Storage, projection: string, generation: number): Promise<boolean> {
  const name = generationLease(projection, generation);
  const lease = await readStore.acquireLease(name, partOf(leaseOwner(), 'look'), systemClock.now(), 1_000_000);
  if (lease) await readStore.releaseLease(lease);
  return lease === null;
}

/** Folds generations of one projection while the work runs, unless another process does: leases decide which one. */
export async function whileFolding<Result>(
  storage: Storage,
  projection: Projection,
  folds: NonNullable<ProjectionRunnerOptions['folds']>,
  work: () => Promise<Result>,
): Promise<Result> {
  const runner = createProjectionRunner({
    ...storage,
    projections: [projection],
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    owner: partOf(leaseOwner(), 'projections'),
    folds,
  });
  await runner.start();
  try {
    return await work();
  } finally {
    await runner.stop();
  }
}

const LOOK_EVERY_MS = 50;
export const HALT_STANDS_MS = 5_000;
export const NO_PROGRESS_MS = 60_000;

/**
 * Waits until generations have folded everything up to a position.
 * @throws CliError if one is halted before it, or does not move
 */
export async function untilFolded(
  { readStore }: Storage,
  projection: string,
  generations: readonly number[],
  position: Position,
  haltStandsMs = HALT_STANDS_MS,
): Promise<void> {
  for (const generation of generations) {
    let seen: Position | null = null;
    let movedAt = performance.now();
    for (;;) {
      const reached = await readStore.checkpoint(projection, generation);
      if (reached !== null && reached >= position) break;
      if (reached !== seen) movedAt = performance.now();
      seen = reached;
      const still = performance.now() - movedAt;
      const halt = still > haltStandsMs ? await readHalt(readStore, projection, generation) : null;
      if (halt) throw haltedError(projection, generation, halt);
      if (still > NO_PROGRESS_MS) {
        throw new CliError(
          `Generation ${generation} of ${projection} is behind the log and has not moved for ${NO_PROGRESS_MS / 1000} s.`,
          'See docket projections status; the log of the service says what it waits for.',
          EXIT.unavailable,
        );
      }
      await delay(LOOK_EVERY_MS);
    }
  }
}

export const haltedError = (projection: string, generation: number, halt: Halt): CliError =>
  new CliError(
    `Generation ${generation} of ${projection} is halted at ${halt.type} ${halt.revision} of ${halt.stream}: ${halt.error}`,
    `Correct the cause, or skip the event: ${skipCommand(projection, halt.position)}`,
    EXIT.found,
    { projection, generation, halt },
  );
