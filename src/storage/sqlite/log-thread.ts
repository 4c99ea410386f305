/**
 * The main thread's side of the thread that commits the log. While that thread waits for an fsync, the main thread
 * serves other requests.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StorageFailure } from '../storage-failure.ts';
import type { Outcome } from './commit-together.ts';
import { type FromLogThread, type LogThreadData, outcomeReceived, type ToLogThread } from './log-thread-messages.ts';
import type { LogWrite } from './log-writes.ts';

const ENTRY = new URL('./log-thread-entry.js', import.meta.url);

/** The main thread's open file. */
export type LogFile = Pick<LogThreadData, 'path' | 'opened'>;

export interface LogThreadOptions {
  /** The compiled thread, if it is not in the default place. */
  readonly entry?: URL;
  /** Smaller groups are left to the main thread. */
  readonly fewestWrites?: number;
  /** Another database whose write-ahead log the thread checkpoints from time to time. */
  readonly alsoCheckpoints?: string;
}

/** A single write is made on the main thread: nothing else waits there, and the hand-over would cost time. */
const FEWEST_WRITES = 2;

type State = 'starting' | 'ready' | 'ended';

export class LogThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #state: State = 'starting';
  readonly #fewestWrites: number;
  /** Resolves once the thread accepts groups, or has ended. */
  readonly started: Promise<void>;
  #answer: ((outcomes: readonly Outcome[]) => void) | null = null;
  #size = 0;

  /**
   * Starts the thread for a file that has the newest schema. Null if the sources run uncompiled (tests under vitest):
   * Node cannot load TypeScript into a thread.
   * @param broke called if the thread ends unexpectedly
   */
  static start(file: LogFile, broke: (error: unknown) => void, options: LogThreadOptions = {}): LogThread | null {
    const { entry = ENTRY } = options;
    return existsSync(fileURLToPath(entry)) ? new LogThread(file, broke, entry, options) : null;
  }

  private constructor(file: LogFile, broke: (error: unknown) => void, entry: URL, options: LogThreadOptions) {
    const { fewestWrites = FEWEST_WRITES, alsoCheckpoints = null } = options;
    this.#fewestWrites = fewestWrites;
    const data: LogThreadData = { ...file, alsoCheckpoints };
    this.#worker = new Worker(entry, { workerData: data, name: 'log' });
    // Storage that is never closed must not keep a process alive; a group that is being committed does.
    this.#worker.unref();
    let failure: unknown = null;
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.started = new Promise((resolve) => {
      this.#worker.on('message', (message: FromLogThread) => {
        if (message !== 'ready') return this.#answered(message.map(outcomeReceived));
        if (this.#state === 'starting') this.#state = 'ready';
        resolve();
      });
      this.#worker.once('exit', () => resolve());
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        const asked = this.#state === 'ended';
        this.#state = 'ended';
        const text = 'the thread that commits the log has ended; its last writes may or may not be stored';
        const lost = new StorageFailure('storage_unavailable', text, { cause: failure });
        this.#answered(Array.from({ length: this.#size }, () => ({ error: lost })));
        if (!asked) broke(failure ?? new Error(`the thread that commits the log ended with code ${code}`));
        resolve();
      });
    });
  }

  /** Whether the thread accepts this group: it has started, is alive, and the group is worth the hand-over. */
  takes(group: readonly LogWrite[]): boolean {
    return this.#state === 'ready' && group.length >= this.#fewestWrites;
  }

  /**
   * Commits a group, one at a time. If the thread ends during a group, it is unknown whether the group is on disk: each
   * of its works then fails with a StorageFailure and may be repeated unchanged.
   */
  commit(group: readonly LogWrite[]): Promise<readonly Outcome[]> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#size = group.length;
      this.#worker.ref();
      this.#worker.postMessage(group satisfies ToLogThread);
    });
  }

  /** Ends the thread; resolves once its connection is closed. Call it when no group is running. */
  async end(): Promise<void> {
    if (this.#state !== 'ended') {
      this.#state = 'ended';
      this.#worker.ref();
      this.#worker.postMessage('end' satisfies ToLogThread);
    }
    await this.#ended;
  }

  #answered(outcomes: readonly Outcome[]): void {
    const answer = this.#answer;
    this.#answer = null;
    this.#worker.unref();
    answer?.(outcomes);
  }
}
