/**
 * The role `generations`: keeps the generations of read models in order, and folds those that readers do not see: on a
 * thread that runs only while there are any, or on the main thread when the service runs from sources.
 */
import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { startGenerationKeeper } from '../projections/generation-keeper.ts';
import { createProjectionRunner } from '../projections/runner.ts';
import type { Clock } from '../runtime/instant.ts';
import { leaseOwner, partOf } from '../storage/lease-owner.ts';
import type { Storage } from '../storage/storage.ts';
import { Trouble } from '../storage/trouble.ts';
import { canStartGenerationThread, startGenerationThread } from './generation-thread.ts';

export interface GenerationRoleOptions {
  readonly storage: Storage;
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface GenerationRole {
  stop(): Promise<void>;
}

/** What folds generations beside the active ones. */
interface Beside {
  readonly ended: boolean;
  stop(): Promise<void>;
}

/** Only one of them runs at a time. */
const BESIDE = partOf(leaseOwner(), 'beside');
const LOAD_EVERY_MS = 50;
const HOUR_MS = 3_600_000;

export function startGenerationRole({ storage, config, clock, logger }: GenerationRoleOptions): GenerationRole {
  const { log, readStore } = storage;
  const trouble = new Trouble(logger);
  let beside: Beside | null = null;
  let stopped = false;
  const keeper = startGenerationKeeper({
    ...{ log, readStore, clock, logger, projections: PROJECTIONS, owner: leaseOwner() },
    graceMs: config.projectionGraceHours * HOUR_MS,
    async looked(isWanted) {
      if (beside?.ended) beside = null;
      if (isWanted && beside === null && !stopped) {
        beside = canStartGenerationThread() ? besideThread(config, trouble) : await besideHere(storage, clock, logger);
      } else if (!isWanted && beside !== null) {
        const unneeded = beside;
        beside = null;
        await unneeded.stop();
      }
    },
  });
  return {
    async stop() {
      stopped = true;
      await keeper.stop();
      await beside?.stop();
    },
  };
}

function besideThread(config: Config, trouble: Trouble): Beside {
  const thread = startGenerationThread(config, BESIDE, (error) =>
    trouble.failed(error, 'the thread that builds read models failed; it is started again each second'),
  );
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    thread.reportLoad(performance.eventLoopUtilization(now, last).utilization);
    last = now;
  }, LOAD_EVERY_MS);
  timer.unref();
  return {
    get ended() {
      return thread.ended;
    },
    async stop() {
      clearInterval(timer);
      await thread.stop();
    },
  };
}

async function besideHere(storage: Storage, clock: Clock, logger: Logger): Promise<Beside> {
  const options = { ...storage, projections: PROJECTIONS, clock, logger, owner: BESIDE };
  const runner = createProjectionRunner({ ...options, folds: 'beside' });
  await runner.start();
  return { ended: false, stop: () => runner.stop() };
}
