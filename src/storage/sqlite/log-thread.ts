/**
 * The main thread's side of the thread that commits the log. An fsync takes its time, and while it waits for the disk
 * the main thread serves others.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StorageFailure } from '../storage-failure.ts';
import type { Outcome } from './commit-together.ts';
import { type FromLogThread, type LogThreadData, outcomeReceived, type ToLogThread } from './log-thread-messages.ts';
import type { LogWrite } from './log-writes.ts';

const ENTRY = new URL('./log-thread-entry.js', import.meta.url);

/** The main thread's file. */
export type LogFile = Pick<LogThreadData, 'path' | 'opened'>;

export interface LogThreadOptions {
  /** The compiled thread, where it lies elsewhere. */
  readonly entry?: URL;
  /** Groups of fewer writes are left to the main thread. */
  readonly fewestWrites?: number;
  /** Another database whose write-ahead log the thread copies back now and then. */
  readonly alsoCheckpoints?: string;
}

/** A write that is alone is made on the main thread: there nobody else waits, and the hand-over would cost it time. */
const FEWEST_WRITES = 2;

type State = 'starting' | 'ready' | 'ended';

export class LogThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #state: State = 'starting';
  readonly #fewestWrites: number;
  /** Resolves once it takes groups, or has ended. */
  readonly started: Promise<void>;
  #answer: ((outcomes: readonly Outcome[]) => void) | null = null;
  #size = 0;

  /**
   * Starts it beside a file that has its newest schema; null where the sources run uncompiled (tests under vitest): Node
   * cannot load TypeScript into a thread.
   * @param broke called if the thread ends without having been asked to
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
    // Storage that nobody closes must not keep a process alive; a group that is being committed does.
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
        const text = 'the thread that commits the log has ended; what it was writing may be there or not';
        const lost = new StorageFailure('storage_unavailable', text, { cause: failure });
        this.#answered(Array.from({ length: this.#size }, () => ({ error: lost })));
        if (!asked) broke(failure ?? new Error(`the thread that commits the log ended with code ${code}`));
        resolve();
      });
    });
  }

  /** Whether it takes this group: it has started, it lives, and the group is worth the hand-over. */
  takes(group: readonly LogWrite[]): boolean {
    return this.#state === 'ready' && group.length >= this.#fewestWrites;
  }

  /**
   * Commits a group, one at a time. Of a group in whose middle the thread ends nobody knows whether it is on disk: each
   * of its works then fails with a StorageFailure, which may be repeated unchanged.
   */
  commit(group: readonly LogWrite[]): Promise<readonly Outcome[]> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#size = group.length;
      this.#worker.ref();
      this.#worker.postMessage(group satisfies ToLogThread);
    });
  }

  /** Ends it; resolves once its connection is closed. To be called when no group is under way. */
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
