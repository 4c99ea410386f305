/** The folder for temporary files: TMPDIR, or else the one of the system. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

/**
 * Creates the folder if it is missing, for its owner alone. A volume that is older than the setting does not have it.
 * @throws errors of `node:fs` if no file can be created in it
 */
export function temporaryFolder(folder = tmpdir()): string {
  // Not with its parents: in /proc, where nothing can be made, a recursive mkdir of Node never returns.
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.X_OK);
  return folder;
}
