/** The only way to write to the file of the log: in groups, each under one fsync. */
import { StorageFailure } from '../storage-failure.ts';
import { commitTogether, type Outcome } from './commit-together.ts';
import { GroupCommitter } from './group-committer.ts';
import type { LogThread } from './log-thread.ts';
import { type LogWrite, logWriter } from './log-writes.ts';
import type { SqliteFile } from './sqlite-file.ts';

export class LogCommitter {
  readonly #file: SqliteFile;
  readonly #thread: LogThread | null;
  readonly #group: GroupCommitter<LogWrite>;
  /** Why the last write failed, if the cause lies in the database; null after the next success. */
  #trouble: StorageFailure | null = null;
  #trying: Promise<void> | null = null;
  #holders = 0;
  #groups = 0;

  /**
   * @param committed called after each group, before its writers get their results
   * @param thread commits the groups that it accepts; if omitted, the main thread commits them all
   */
  constructor(file: SqliteFile, committed: () => void, thread: LogThread | null = null) {
    this.#file = file;
    this.#thread = thread;
    const write = logWriter(file.database);
    const commit = (group: readonly LogWrite[]) =>
      thread?.takes(group)
        ? this.#commitAside(thread, group)
        : commitTogether(
            file,
            group.map((each) => () => write(each)),
          );
    this.#group = new GroupCommitter<LogWrite>({
      commit: async (group) => {
        const outcomes = await commit(group);
        this.#takeNote(outcomes);
        this.#groups++;
        return outcomes;
      },
      committed,
    });
  }

  /** The number of committed groups. The writers of one get their results before the next is committed. */
  get groups(): number {
    return this.#groups;
  }

  /**
   * Joins the next group; resolves with the result of `logWriter` once it is on disk.
   * @throws RevisionConflict, or StorageFailure if the database cannot run the transaction
   */
  submit<Result = void>(write: LogWrite): Promise<Result> {
    return this.#group.submit<Result>(write);
  }

  /**
   * Checks whether the file can be written, if possible without a write. Only after a failed write does it try one,
   * which adds nothing to the log.
   * @throws StorageFailure if it cannot
   */
  async checkWritable(): Promise<void> {
    await this.#file.checkAccess();
    if (!this.#trouble) return;
    // One pending attempt is enough for all concurrent checks.
    this.#trying ??= this.submit({ write: 'nothing new' }).finally(() => {
      this.#trying = null;
    });
    await this.#trying;
  }

  /** The thread knows the content of the file as of its last commit, which may be long ago; this side checks often. */
  async #commitAside(thread: LogThread, group: readonly LogWrite[]): Promise<readonly Outcome[]> {
    try {
      this.#file.assertNotReplaced();
      const outcomes = await thread.commit(group);
      if (outcomes.some((outcome) => 'value' in outcome)) this.#file.assertInPlace();
      return outcomes;
    } catch (error) {
      return group.map(() => ({ error }));
    }
  }

  #takeNote(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      if ('value' in outcome) this.#trouble = null;
      else if (outcome.error instanceof StorageFailure) {
        this.#trouble = outcome.error;
        if (outcome.error.code === 'storage_replaced') this.#file.noteReplaced(outcome.error);
      }
    }
  }

  /** Runs a task while this process is writing nothing; resolves when it has run. */
  between(task: () => void): Promise<void> {
    return this.#group.between(task);
  }

  /** Resolves when everything that waits now is committed or rejected. */
  flush(): Promise<void> {
    return this.#group.flush();
  }

  /** Several ports write here; the last one to release it closes the file. */
  hold(): void {
    this.#holders++;
  }

  async release(): Promise<void> {
    this.#holders--;
    if (this.#holders > 0) return;
    await this.#group.flush();
    await this.#thread?.end();
    this.#file.close();
  }
}
