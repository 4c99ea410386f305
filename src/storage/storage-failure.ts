/**
 * What goes wrong with an engine itself, apart from what a caller did. Every adapter turns its engine's errors into
 * this one, so that a projection never mistakes a full disk for a poison event.
 */
const HINTS = {
  storage_full: 'Free space on the disk that holds DATA_DIR; a running service goes on by itself.',
  storage_read_only: 'Make DATA_DIR and the files in it writable for the user that runs this process.',
  storage_busy: 'Another process held the database too long; repeat. If it stays, look for a stopped `docket` process.',
  storage_corrupt:
    'Stop the service and keep every file of DATA_DIR, each -wal included: a backup does not have what was recorded after it. Then restore the newest backup into an empty folder.',
  storage_io_error:
    'The disk or its mount failed, not the data: do not restore a backup. Check the disk (kernel log) and that DATA_DIR is mounted; restart the service once its files can be read.',
  read_models_corrupt:
    'Stop every process that uses DATA_DIR, delete read.sqlite, read.sqlite-wal and read.sqlite-shm in it, and start again: the log holds all of it, and it is made anew.',
  storage_replaced:
    'Stop the service with SIGTERM, put the files that belong together back in DATA_DIR (each .sqlite with its own -wal), and start it. Do not delete a -wal: it may hold recorded payments. On Linux a deleted file can still be copied from /proc/PID/fd until the process ends.',
  storage_too_new: 'A newer version of this service wrote the data; start that version.',
  storage_closed: 'The service is shutting down; repeat on another node or after the restart.',
  storage_denied:
    'Check the credentials in EVENTSTORE_URL and MONGODB_URL, and what they are allowed to do: README, “Rights in EventStoreDB”, says how to grant it.',
  storage_unavailable: 'Check that the storage can be reached, then repeat the write unchanged.',
} as const;

export type StorageFailureCode = keyof typeof HINTS;

export interface StorageFailureOptions extends ErrorOptions {
  /** Whether it is certain that nothing of a write was kept, nor ever will be. Left out: it is not. */
  readonly nothingWritten?: boolean;
  /** What to do, where more is known than the code tells. */
  readonly hint?: string;
}

/** The engine could not do what it was asked. A write that failed so may be repeated unchanged. */
export class StorageFailure extends Error {
  /** What an operator can do about it. */
  readonly hint: string;
  /**
   * Of a write: true only where its engine knows that nothing of it was kept and nothing will appear later, whatever
   * crashes next. False says that it may be there: after a failed sync, a lost connection or a time-out.
   */
  readonly nothingWritten: boolean;
  constructor(
    readonly code: StorageFailureCode,
    message: string,
    { nothingWritten = false, hint = HINTS[code], ...options }: StorageFailureOptions = {},
  ) {
    super(message, options);
    this.name = 'StorageFailure';
    this.hint = hint;
    this.nothingWritten = nothingWritten;
  }
}

/** Whether a failed write is certain to have left nothing behind. */
export const isUnwritten = (error: unknown): error is StorageFailure =>
  error instanceof StorageFailure && error.nothingWritten;
