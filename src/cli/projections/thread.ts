/**
 * Runs the projection of cases on a thread of its own: a large import records on one core while the other makes answers
 * show it. This file is both sides: it starts the thread, and it is what the thread runs.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { readConfig } from '../../config.ts';
import { cases } from '../../projections/cases.ts';
import { createProjectionRunner } from '../../projections/runner.ts';
import { systemClock } from '../../runtime/instant.ts';
import { openStorage } from '../../service/open-storage.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';

const ROLE = 'docket projection of cases';

export interface ProjectionThread {
  /** Ends the thread after its pending commits. */
  stop(): Promise<void>;
}

/** A thread runs only compiled code; from sources, the caller runs the projection itself. */
export const canStartProjectionThread = (): boolean => import.meta.url.endsWith('.js');

/** @param environment of the service that owns the storage */
export async function startProjectionThread(environment: NodeJS.ProcessEnv): Promise<ProjectionThread> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { role: ROLE, environment: { ...environment } } });
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread of the projection ended')));
  });
  // From here on, a failure shows as a projection that stops, and the caller's wait ends with the reason.
  worker.on('error', () => {});
  return {
    stop: () =>
      new Promise((resolve) => {
        worker.once('exit', () => resolve());
        worker.postMessage('stop');
      }),
  };
}

interface ThreadData {
  readonly role: typeof ROLE;
  readonly environment: NodeJS.ProcessEnv;
}

async function runThread(port: NonNullable<typeof parentPort>, { environment }: ThreadData): Promise<void> {
  const storage = await openStorage(readConfig(environment));
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases],
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    owner: `${leaseOwner()}-thread`,
  });
  await runner.start();
  port.once('message', async () => {
    await runner.stop();
    await storage.close();
    port.close();
  });
  port.postMessage('started');
}

if (parentPort !== null && (workerData as ThreadData | null)?.role === ROLE) {
  await runThread(parentPort, workerData as ThreadData);
}
