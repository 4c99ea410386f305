/**
 * Failures of an engine itself, as opposed to errors of its caller. Every adapter converts its engine's errors to this
 * one, so that a projection never mistakes a full disk for a poison event.
 */
const HINTS = {
  storage_full: 'Free space on the disk that holds DATA_DIR; a running service recovers by itself.',
  storage_read_only: 'Make DATA_DIR and the files in it writable by the user that runs this process.',
  storage_busy:
    'Another process held the database too long; retry. If the error persists, look for a suspended `docket` process.',
  storage_corrupt:
    'Stop the service and keep every file of DATA_DIR, each -wal included: a backup is missing everything recorded after it. Then restore the newest backup into an empty folder.',
  storage_io_error:
    'The disk or its mount failed, not the data: do not restore a backup. Check the disk (kernel log) and that DATA_DIR is mounted; restart the service once its files can be read.',
  read_models_corrupt:
    'Stop every process that uses DATA_DIR, delete read.sqlite, read.sqlite-wal and read.sqlite-shm in it, and start again: the service rebuilds them from the log.',
  storage_replaced:
    'Copy the -wal files in DATA_DIR aside: they may hold recorded payments. Then stop the service, put the matching files back (each .sqlite with its own -wal), and start it. On Linux a deleted file can still be copied from /proc/PID/fd until the process ends.',
  storage_too_new: 'A newer version of this service wrote the data; start that version.',
  storage_closed: 'The service is shutting down; retry on another node or after the restart.',
  storage_denied:
    'Check the credentials in EVENTSTORE_URL and MONGODB_URL, and what they are allowed to do: docs/operating.md, “Rights in EventStoreDB”, explains how to grant it.',
  log_differs:
    'Use an event log and read models of the same service: check DATA_DIR, or EVENTSTORE_URL and MONGODB_URL, or restore the right log; then restart. To keep this log on SQLite, stop every process that uses DATA_DIR and delete read.sqlite, read.sqlite-wal and read.sqlite-shm: they are rebuilt. On MongoDB, name the database that belongs to this log.',
  log_missing:
    'Restore the event log from a backup, or correct DATA_DIR or EVENTSTORE_URL. To start with an empty log on purpose, delete read.sqlite, read.sqlite-wal and read.sqlite-shm, or name another database in MONGODB_URL.',
  log_emptied:
    'Stop the service and restore the event log from a backup, or correct EVENTSTORE_URL; then restart. Nothing is sold until then.',
  log_went_back:
    'If the node has just rejoined its cluster, it catches up by itself, and sales resume. Otherwise stop the service and restore the newest copy of the event log; then restart. A restart on the older log rebuilds the read models from it, and what was recorded after that copy is lost.',
  log_chain_differs:
    'Use the chain that belongs to this log (SOLANA_NETWORK, SOLANA_RPC_URL; the local chain is in DATA_DIR/chain), or a separate log (DATA_DIR, or EVENTSTORE_URL and MONGODB_URL). Two chains never share a log.',
  log_mint_differs: 'Set SOLANA_NETWORK to the network of this log, or use a separate log.',
  log_receiver_differs:
    'Set PAY_TO to the receiver of the log (docket log show). To change the receiver on purpose, stop every node, run docket log receiver ADDRESS --reason TEXT, and start them with PAY_TO=ADDRESS.',
  read_models_ahead: 'Start the service once: it rebuilds the read models from the log. Then run the command again.',
  copy_unfinished:
    'Run docket restore or docket migrate again with the same arguments: it continues where it stopped. To start over, empty the storage first.',
  log_moved:
    'Set EVENTSTORE_URL and MONGODB_URL to the storage that it was moved to. To keep using this one instead, run docket migrate --cancel; never serve both.',
  storage_unavailable: 'Check that the storage can be reached, then repeat the write unchanged.',
} as const;

export type StorageFailureCode = keyof typeof HINTS;

export interface StorageFailureOptions extends ErrorOptions {
  /** Whether nothing of a write was kept and nothing ever will be. If omitted, this is not certain. */
  readonly nothingWritten?: boolean;
  /** What to do, if more is known than the code implies. */
  readonly hint?: string;
}

/** The engine could not do what was requested. A write that failed this way may be repeated unchanged. */
export class StorageFailure extends Error {
  /** What an operator can do about it. */
  readonly hint: string;
  /**
   * For a write: true only if the engine knows that nothing of it was kept and nothing will appear later, even after a
   * crash. False means that it may be stored: after a failed sync, a lost connection or a timeout.
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
