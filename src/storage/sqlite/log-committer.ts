/** The one way in which anything is written to the file of the log: in groups, each under one fsync. */
import { commitTogether } from './commit-together.ts';
import { GroupCommitter } from './group-committer.ts';
import type { LogThread } from './log-thread.ts';
import { type LogWrite, logWriter } from './log-writes.ts';
import type { SqliteFile } from './sqlite-file.ts';

export class LogCommitter {
  readonly #file: SqliteFile;
  readonly #thread: LogThread | null;
  readonly #group: GroupCommitter<LogWrite>;
  #holders = 0;

  /**
   * @param committed called after each group, before its writers hear of it
   * @param thread commits the groups that it takes; left out, the main thread commits them all
   */
  constructor(file: SqliteFile, committed: () => void, thread: LogThread | null = null) {
    this.#file = file;
    this.#thread = thread;
    const write = logWriter(file.database);
    this.#group = new GroupCommitter<LogWrite>({
      commit: (group) =>
        thread?.takes(group)
          ? thread.commit(group)
          : commitTogether(
              file,
              group.map((each) => () => write(each)),
            ),
      committed,
    });
  }

  /**
   * Takes part in the next group; resolves once that is on disk, with what `logWriter` gives for the write.
   * @throws RevisionConflict, or StorageFailure if the database cannot take the transaction
   */
  submit<Result = void>(write: LogWrite): Promise<Result> {
    return this.#group.submit<Result>(write);
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
