/**
 * One commit for many writers: the writes of concurrent callers are collected and committed together. Each caller gets
 * its result only after the COMMIT.
 */
import { nextTurn } from '../../runtime/next-turn.ts';
import type { Outcome } from './commit-together.ts';

interface Job<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Keeps one transaction, and its time on the thread, short. */
const MOST_JOBS_AT_ONCE = 256;
/**
 * How long a group may gather while each turn of the event loop brings another writer. A lone writer waits for two
 * empty turns, which take microseconds. In a busy process turns are long, and fewer commits leave room for more of
 * them.
 */
const LONGEST_GATHERING_MS = 2;

export interface GroupCommitterOptions<Work> {
  /** Commits a group and returns an outcome for each work, in order. Groups are committed one after the other. */
  readonly commit: (group: readonly Work[]) => Promise<readonly Outcome[]>;
  /** Called after each group, before its writers get their results. */
  readonly committed?: () => void;
}

export class GroupCommitter<Work> {
  readonly #commit: GroupCommitterOptions<Work>['commit'];
  readonly #committed: () => void;
  #waiting: Job<Work>[] = [];
  #between: (() => void)[] = [];
  #running: Promise<void> | null = null;

  constructor({ commit, committed = () => undefined }: GroupCommitterOptions<Work>) {
    this.#commit = commit;
    this.#committed = committed;
  }

  /**
   * Joins the next group; resolves with the work's result once it is on disk.
   * @throws StorageFailure if the database cannot run the transaction, or what the work throws
   */
  submit<Result>(work: Work): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.#run();
    });
  }

  /** Runs a task while no group is being committed, on any thread; resolves when it has run. */
  between(task: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#between.push(() => {
        try {
          resolve(task());
        } catch (error) {
          reject(error);
        }
      });
      this.#run();
    });
  }

  /** Resolves when everything that waits now is committed or rejected. */
  async flush(): Promise<void> {
    await this.#running;
  }

  #run(): void {
    this.#running ??= this.#commitWaiting();
  }

  async #commitWaiting(): Promise<void> {
    // After one turn of the event loop, every caller about to write has arrived; after a commit, so have its writers.
    for (await nextTurn(); this.#waiting.length > 0 || this.#between.length > 0; await nextTurn()) {
      for (const task of this.#between.splice(0)) task();
      if (this.#waiting.length === 0) continue;
      await this.#gather();
      await this.#commitGroup(this.#waiting.splice(0, MOST_JOBS_AT_ONCE));
    }
    this.#running = null;
  }

  /** Waits while more writers arrive: until a turn brings none, the group is full, or the time limit is reached. */
  async #gather(): Promise<void> {
    const until = performance.now() + LONGEST_GATHERING_MS;
    for (;;) {
      const before = this.#waiting.length;
      if (before >= MOST_JOBS_AT_ONCE || performance.now() >= until) return;
      await nextTurn();
      if (this.#waiting.length === before) return;
    }
  }

  async #commitGroup(jobs: readonly Job<Work>[]): Promise<void> {
    try {
      const outcomes = await this.#commit(jobs.map(({ work }) => work));
      this.#committed();
      for (const [index, job] of jobs.entries()) settle(job, outcomes[index]);
    } catch (error) {
      for (const job of jobs) job.reject(error);
    }
  }
}

function settle({ resolve, reject }: Job<unknown>, outcome: Outcome | undefined): void {
  if (!outcome) reject(new Error('a group was committed without this work'));
  else if ('error' in outcome) reject(outcome.error);
  else resolve(outcome.value);
}
