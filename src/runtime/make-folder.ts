/** Creates folders. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents, for their owner alone; one that exists stays as it is.
 * A recursive `mkdir` of Node never returns for a path such as `/proc/x/y`, where nothing can be created.
 * @throws errors of `node:fs` if the folder cannot be created
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(parent)) {
      makeFolder(parent);
      makeFolder(folder);
    } else if (!isFolder(folder)) {
      throw error;
    }
  }
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();
