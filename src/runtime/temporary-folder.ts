/** The folder for temporary files: TMPDIR, or else the one of the system. */
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { makeFolder } from './make-folder.ts';

/**
 * Creates the folder if it is missing, for its owner alone. A volume that is older than the setting does not have it.
 * @throws errors of `node:fs` if no file can be created in it
 */
export function temporaryFolder(folder = tmpdir()): string {
  makeFolder(folder);
  accessSync(folder, constants.W_OK | constants.X_OK);
  return folder;
}
