/**
 * Builds generations of read models on a thread of its own, with its own connection to the storage, so that folding takes
 * no time from the thread that answers callers. This file is both sides: it starts the thread, and it is what it runs.
 */
import { setPriority } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { createProjectionRunner } from '../projections/runner.ts';
import { systemClock } from '../runtime/instant.ts';
import { makeLogger } from '../runtime/logger.ts';
import { openStorage } from './open-storage.ts';

const ROLE = 'docket generations';

export interface GenerationThread {
  /** How busy the thread is that answers callers, 0 to 1. */
  reportLoad(load: number): void;
  /** Whether it has ended, by itself or not. */
  readonly ended: boolean;
  /** Ends the thread after its pending commits. */
  stop(): Promise<void>;
}

interface ThreadData {
  readonly role: typeof ROLE;
  readonly config: Config;
  /** Under which name it acquires leases. */
  readonly owner: string;
  /** The load, in thousandths. */
  readonly load: SharedArrayBuffer;
}

/** A thread runs only compiled code; from sources, the main thread builds. */
export const canStartGenerationThread = (): boolean => import.meta.url.endsWith('.js');

/** MiB: a few batches of events with their content. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

/** On Linux, a priority is one of a thread: the kernel prefers those that answer. */
const LOWER_PRIORITY = 5;

/**
 * @param owner under which name it acquires leases
 * @param failed called if the thread ends by itself
 */
export function startGenerationThread(
  config: Config,
  owner: string,
  failed: (error: unknown) => void,
): GenerationThread {
  const load = new SharedArrayBuffer(4);
  const shared = new Int32Array(load);
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { role: ROLE, config, owner, load } satisfies ThreadData,
    resourceLimits: LIMITS,
  });
  let ended = false;
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      ended = true;
      if (!stopping && code !== 0) failed(new Error(`the thread that builds read models ended with ${code}`));
      resolve();
    });
  });
  worker.on('error', failed);
  return {
    reportLoad: (now) => void Atomics.store(shared, 0, Math.round(now * 1000)),
    get ended() {
      return ended;
    },
    async stop() {
      stopping = true;
      worker.postMessage('stop');
      await exited;
    },
  };
}

async function runThread(port: NonNullable<typeof parentPort>, { config, owner, load }: ThreadData): Promise<void> {
  if (process.platform === 'linux') setPriority(LOWER_PRIORITY);
  const shared = new Int32Array(load);
  const stopped = new Promise<void>((resolve) => port.once('message', () => resolve()));
  const logger = makeLogger(config.logLevel);
  const storage = await openStorage(config, logger);
  const runner = createProjectionRunner({
    ...storage,
    projections: PROJECTIONS,
    clock: systemClock,
    logger,
    owner,
    folds: 'beside',
    load: () => Atomics.load(shared, 0) / 1000,
  });
  await runner.start();
  await stopped;
  await runner.stop();
  await storage.close();
  port.close();
}

if (parentPort !== null && (workerData as ThreadData | null)?.role === ROLE) {
  await runThread(parentPort, workerData as ThreadData);
}
