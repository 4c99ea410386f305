/** How the commands that copy a storage report why they refuse. */
import { sep } from 'node:path';
import { CopyRefused } from '../../backup/refused.ts';
import { asStorageFailure } from '../../storage/sqlite/sqlite-file.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { CliError, EXIT } from '../command.ts';

/** The folder of a backup, absolute, and how to fix what the operating system refuses in it. */
export interface BackupPlace {
  readonly folder: string;
  readonly hint: string;
}

export const CHECK_FOLDER = 'Check the disk, and the rights of that folder and its files.';

/** @throws CliError for a refusal: it is what the command found, not a wrong usage */
export async function reportingRefusals<Result>(act: () => Promise<Result>, place?: BackupPlace): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof CopyRefused)) throw explained(error, place);
    const { message, hint, details } = error;
    throw new CliError([message, ...details.map((detail) => `  ${detail}`)].join('\n'), hint, EXIT.found, {
      code: error.code,
      ...(details.length > 0 && { problems: details }),
    });
  }
}

/** Failures of the storage itself are StorageFailures already. What is left is the backup, or the file in TMPDIR. */
function explained(error: unknown, place: BackupPlace | undefined): unknown {
  if (error instanceof StorageFailure) return error;
  if (isOfSystem(error)) {
    if (!place || !concerns(error, place)) return error;
    return new CliError(`${place.folder} cannot be used: ${error.message}.`, place.hint, EXIT.unavailable);
  }
  const failure = asStorageFailure(error);
  if (failure === null) return error;
  return new CliError(
    `What the command must remember cannot be written: ${failure.message}.`,
    'Set TMPDIR to a folder with space, not in memory: up to 0.2 KB for each event.',
    EXIT.unavailable,
  );
}

/** Errors of SQLite have a code, but no call. */
const isOfSystem = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error;

/** A failed write does not say its path. The path of the folder may be missing from the middle on. */
function concerns({ path }: NodeJS.ErrnoException, { folder }: BackupPlace): boolean {
  if (path === undefined) return true;
  return `${path}${sep}`.startsWith(`${folder}${sep}`) || `${folder}${sep}`.startsWith(`${path}${sep}`);
}
