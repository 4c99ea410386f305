/** Copies the key files of this node into a part. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupFile } from './manifest.ts';
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
    const found = await lstat(join(keys, name));
    if (!found.isFile() || found.size > MOST_KEY_BYTES) continue;
    files.push(await writeBackupFile(folder, `keys/${name}`, await readFile(join(keys, name))));
  }
  return files;
}
