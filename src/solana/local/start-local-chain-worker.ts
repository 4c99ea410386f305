/** Runs the local chain in a separate thread, so that executing transactions never delays the service's requests. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ChainWorkerData, ChainWorkerMessage, WorkerError } from './chain-worker.ts';
import {
  DEFAULT_SLOT_MS,
  type LocalChain,
  type LocalChainOptions,
  LocalChainRefused,
  startLocalChain,
} from './start-local-chain.ts';

/**
 * Starts the chain in a worker thread. If the sources run uncompiled (tests under vitest), it runs in this thread: Node
 * cannot load TypeScript into a worker, and an existing compiled file may be older than the sources under test.
 *
 * @throws the errors of `startLocalChain`; those from the other thread keep their message and `code`
 */
export async function startLocalChainWorker(options: LocalChainOptions): Promise<LocalChain> {
  if (options.environment.NODE_ENV === 'production') throw new LocalChainRefused();
  const entry = new URL('./chain-worker.js', import.meta.url);
  if (!existsSync(fileURLToPath(entry))) return startLocalChain(options);
  const data: ChainWorkerData = {
    directory: options.directory,
    port: options.port,
    slotMs: options.slotMs ?? DEFAULT_SLOT_MS,
    lighthouseStandIn: options.lighthouseStandIn ?? false,
    nodeEnvironment: options.environment.NODE_ENV,
  };
  return supervise(new Worker(entry, { workerData: data, name: 'local-chain' }), options);
}

function supervise(worker: Worker, { logger, onFailure }: LocalChainOptions): Promise<LocalChain> {
  return new Promise((resolve, reject) => {
    let closing = false;
    let broken = false;
    const ended = new Promise<void>((done) => worker.once('exit', () => done()));
    const failed = (error: unknown) => {
      if (broken) return;
      broken = true;
      reject(error);
      onFailure?.(error);
    };
    worker.once('error', failed);
    worker.once('exit', (code) => {
      if (!closing) failed(new Error(`the local chain’s thread ended with code ${code}`));
    });
    worker.on('message', (message: ChainWorkerMessage) => {
      switch (message.type) {
        case 'log':
          logger[message.level](message.details, message.message);
          break;
        case 'refused':
          closing = true;
          reject(revive(message.error));
          break;
        case 'failed':
          onFailure?.(revive(message.error));
          break;
        case 'listening':
          resolve({
            url: message.url,
            port: message.port,
            async close() {
              closing = true;
              worker.postMessage('close');
              await ended;
            },
          });
      }
    });
  });
}

function revive({ name, message, code, stack }: WorkerError): Error {
  return Object.assign(new Error(message), { name, ...(code ? { code } : {}), ...(stack ? { stack } : {}) });
}
