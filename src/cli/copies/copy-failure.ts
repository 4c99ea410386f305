/** How the commands that copy a storage report why they refuse. */
import { CopyRefused } from '../../backup/refused.ts';
import { asStorageFailure } from '../../storage/sqlite/sqlite-file.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { CliError, EXIT } from '../command.ts';

/** @throws CliError for a refusal: it is what the command found, not a wrong usage */
export async function reportingRefusals<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof CopyRefused)) throw explained(error);
    const { message, hint, details } = error;
    throw new CliError([message, ...details.map((detail) => `  ${detail}`)].join('\n'), hint, EXIT.found, {
      code: error.code,
      ...(details.length > 0 && { problems: details }),
    });
  }
}

/** Failures of the storage itself are StorageFailures already; what is left is the file in TMPDIR. */
function explained(error: unknown): unknown {
  const failure = error instanceof StorageFailure ? null : asStorageFailure(error);
  if (failure === null) return error;
  return new CliError(
    `What the command must remember cannot be written: ${failure.message}.`,
    'Set TMPDIR to a folder with space, not in memory: up to 0.2 KB for each event.',
    EXIT.unavailable,
  );
}
