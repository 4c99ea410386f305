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

export class GroupCommitter {
  readonly #file: SqliteFile;
  readonly #committed: () => void;
  #waiting: Job[] = [];
  #committing: Promise<void> | null = null;

  /** @param committed called after each COMMIT that wrote something, before the writers hear of it */
  constructor(file: SqliteFile, committed: () => void) {
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
      // One turn of the event loop later everybody who was about to write has come.
      this.#committing ??= nextTurn().then(() => this.#commitWaiting());
    });
  }

  /** Resolves when all that waits now is committed or refused. */
  async flush(): Promise<void> {
    await this.#committing;
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const jobs = this.#waiting.splice(0, MOST_JOBS_AT_ONCE);
      await this.#commitTogether(jobs);
      // The writers of this group may be about to write again: let them join the next one.
      await nextTurn();
    }
    this.#committing = null;
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
