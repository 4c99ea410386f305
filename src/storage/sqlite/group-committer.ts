/**
 * One fsync for many writers: what concurrent callers write is collected and committed in one transaction, and each
 * caller hears of it only after the COMMIT.
 */
import { asStorageFailure, type SqliteFile } from './sqlite-file.ts';

/** A piece of work refuses itself by throwing *before* its first write; then the others are not touched by it. */
export class Refusal extends Error {
  constructor(readonly reason: Error) {
    super('refused', { cause: reason });
    this.name = 'Refusal';
  }
}

interface Job {
  readonly work: () => unknown;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly refused: Error };

/** Keeps one transaction, and so one stay on the main thread, short. */
const MOST_JOBS_AT_ONCE = 256;
/**
 * How long a group may gather while each turn of the event loop brings another writer. A lone writer waits for two
 * empty turns, which are microseconds; in a busy process the turns are long, and fewer commits leave more of them.
 */
const LONGEST_GATHERING_MS = 4;

export class GroupCommitter {
  readonly #file: SqliteFile;
  readonly #committed: () => void;
  #waiting: Job[] = [];
  #committing: Promise<void> | null = null;

  /** @param committed called after each COMMIT that wrote something, before the writers hear of it */
  constructor(file: SqliteFile, committed: () => void = () => undefined) {
    this.#file = file;
    this.#committed = committed;
  }

  /**
   * Runs the work inside the next transaction; resolves with its result once that is on disk.
   * @throws StorageFailure if the database cannot take the transaction
   */
  submit<Result>(work: () => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (outcome: unknown) => void, reject });
      this.#committing ??= this.#commitWaiting();
    });
  }

  /** Resolves when all that waits now is committed or refused. */
  async flush(): Promise<void> {
    await this.#committing;
  }

  async #commitWaiting(): Promise<void> {
    // One turn of the event loop later everybody who was about to write has come, and after a commit its writers again.
    for (await nextTurn(); this.#waiting.length > 0; await nextTurn()) {
      await this.#gather();
      await this.#commitTogether(this.#waiting.splice(0, MOST_JOBS_AT_ONCE));
    }
    this.#committing = null;
  }

  /** Waits while others go on coming: until a turn brings nobody, the group is full, or it has waited long enough. */
  async #gather(): Promise<void> {
    const until = performance.now() + LONGEST_GATHERING_MS;
    for (;;) {
      const before = this.#waiting.length;
      if (before >= MOST_JOBS_AT_ONCE || performance.now() >= until) return;
      await nextTurn();
      if (this.#waiting.length === before) return;
    }
  }

  async #commitTogether(jobs: Job[]): Promise<void> {
    let remaining = jobs;
    while (remaining.length > 0) {
      let failing: Job | null = null;
      const attempt = remaining;
      try {
        const outcomes = await this.#file.transaction(() =>
          attempt.map((job): Outcome => {
            try {
              return { value: job.work() };
            } catch (error) {
              if (error instanceof Refusal) return { refused: error.reason };
              failing = job;
              throw error;
            }
          }),
        );
        this.#committed();
        for (const [index, job] of attempt.entries()) settle(job, outcomes[index]);
        return;
      } catch (error) {
        const failure = asStorageFailure(error);
        if (failure || !failing) {
          for (const job of attempt) job.reject(failure ?? error);
          return;
        }
        // Rolled back because of one job: it alone fails, the others go again.
        (failing as Job).reject(error);
        remaining = attempt.filter((job) => job !== failing);
      }
    }
  }
}

function settle(job: Job, outcome: Outcome | undefined): void {
  if (!outcome) job.reject(new Error('a group was committed without this job'));
  else if ('refused' in outcome) job.reject(outcome.refused);
  else job.resolve(outcome.value);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
