/** The one way in which anything is written to the file of the log: in groups, each under one fsync. */
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
  /** Why the last write failed, where that lies in the database; null once one has gone well. */
  #trouble: StorageFailure | null = null;
  #trying: Promise<void> | null = null;
  #holders = 0;
  #groups = 0;

  /**
   * @param committed called after each group, before its writers hear of it
   * @param thread commits the groups that it takes; left out, the main thread commits them all
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

  /** How many groups were committed. The writers of one hear of it before the next is committed. */
  get groups(): number {
    return this.#groups;
  }

  /**
   * Takes part in the next group; resolves once that is on disk, with what `logWriter` gives for the write.
   * @throws RevisionConflict, or StorageFailure if the database cannot take the transaction
   */
  submit<Result = void>(write: LogWrite): Promise<Result> {
    return this.#group.submit<Result>(write);
  }

  /**
   * Finds out whether the file can be written, as far as possible without writing: only where the last write failed is
   * one tried, which adds nothing to the log.
   * @throws StorageFailure where it cannot
   */
  async checkWritable(): Promise<void> {
    await this.#file.checkAccess();
    if (!this.#trouble) return;
    // One that waits for its turn is enough, however often somebody asks.
    this.#trying ??= this.submit({ write: 'nothing new' }).finally(() => {
      this.#trying = null;
    });
    await this.#trying;
  }

  /** The thread knows the content of the file as of its last commit, which may be long ago; this side looks often. */
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

  /** Runs something while nothing is being written by this process; resolves when it has run. */
  between(task: () => void): Promise<void> {
    return this.#group.between(task);
  }

  /** Resolves when all that waits now is committed or refused. */
  flush(): Promise<void> {
    return this.#group.flush();
  }

  /** Several ports write here: the last one that lets go closes the file. */
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
