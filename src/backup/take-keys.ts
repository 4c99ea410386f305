/** Copies the key files of this node into a part. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupFile } from './manifest.ts';
import { CopyRefused } from './refused.ts';
import { writeBackupFile } from './segments.ts';

const MOST_KEY_BYTES = 1024 * 1024;
const KEY_FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Copies the key files; temporary ones of a process that was killed are left out. */
export async function writeKeys(folder: string, keys: string): Promise<readonly BackupFile[]> {
  const names = await readdir(keys).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files: BackupFile[] = [];
  for (const name of names.sort()) {
    if (!KEY_FILE.test(name) || name.endsWith('.tmp')) continue;
    // Followed if it is a link, as the files of mounted secrets are: the service reads through it, too.
    const found = await stat(join(keys, name)).catch((error: NodeJS.ErrnoException) => {
      throw new CopyRefused(
        `The key file ${join(keys, name)} cannot be read (${error.code}).`,
        'Correct it or move it away, or leave all keys out with --without-keys.',
      );
    });
    if (!found.isFile() || found.size > MOST_KEY_BYTES) continue;
    files.push(await writeBackupFile(folder, `keys/${name}`, await readFile(join(keys, name))));
  }
  return files;
}
