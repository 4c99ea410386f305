/** The worker thread of the local chain, started by `start-local-chain-worker.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ChainLog } from './chain-log.ts';
import { startLocalChain } from './start-local-chain.ts';

/** The data that the worker starts with. */
export interface ChainWorkerData {
  readonly directory: string;
  readonly port: number;
  readonly slotMs: number;
  readonly lighthouseStandIn: boolean;
  readonly nodeEnvironment: string | undefined;
}

/** Messages from the worker. */
export type ChainWorkerMessage =
  | { readonly type: 'listening'; readonly url: string; readonly port: number }
  | { readonly type: 'refused'; readonly error: WorkerError }
  | { readonly type: 'failed'; readonly error: WorkerError }
  | {
      readonly type: 'log';
      readonly level: keyof ChainLog;
      readonly details: Readonly<Record<string, unknown>>;
      readonly message: string;
    };

/** An error in a form that can cross between threads, where classes are lost. */
export interface WorkerError {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
  readonly stack: string | undefined;
}

const port = parentPort;
if (!port) throw new Error('chain-worker.ts must run in a worker thread');

const say = (message: ChainWorkerMessage): void => port.postMessage(message);

const describe = (error: unknown): WorkerError => {
  const { name, message, code, stack } = error as NodeJS.ErrnoException;
  return { name: name ?? 'Error', message: message ?? String(error), code, stack };
};

const log =
  (level: keyof ChainLog) =>
  (details: object, message: string): void => {
    const plain = Object.fromEntries(
      Object.entries(details).map(([key, value]) => [key, value instanceof Error ? describe(value) : value]),
    );
    say({ type: 'log', level, details: plain, message });
  };

const { directory, port: rpcPort, slotMs, lighthouseStandIn, nodeEnvironment } = workerData as ChainWorkerData;

try {
  const chain = await startLocalChain({
    directory,
    port: rpcPort,
    slotMs,
    lighthouseStandIn,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    environment: { NODE_ENV: nodeEnvironment },
    onFailure: (error) => say({ type: 'failed', error: describe(error) }),
  });
  // The parent's only message is the request to stop.
  port.once('message', async () => {
    await chain.close();
    port.close();
  });
  say({ type: 'listening', url: chain.url, port: chain.port });
} catch (error) {
  say({ type: 'refused', error: describe(error) });
  port.close();
}
