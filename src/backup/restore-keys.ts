/** Puts key files back, and never replaces one. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecretFile, privateFolder } from '../runtime/secret-file.ts';
import { CopyRefused } from './refused.ts';

/** @throws CopyRefused if a file of that name holds another key, or is not text */
export async function assertKeysFit(folder: string, keys: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [name, bytes] of keys) {
    const path = join(folder, name);
    if (!Buffer.from(bytes.toString('utf8')).equals(bytes)) {
      throw new CopyRefused(`The key file ${name} of the backup is not text.`, 'Restore with --without-keys.');
    }
    const present = await read(path);
    if (present === null || present.equals(bytes)) continue;
    throw new CopyRefused(
      `${path} exists and holds another key than the backup.`,
      'Nothing was restored. Name an empty DATA_DIR, move that file away, or restore with --without-keys.',
    );
  }
}

export async function writeKeys(folder: string, keys: ReadonlyMap<string, Buffer>): Promise<void> {
  await assertKeysFit(folder, keys);
  if (keys.size > 0) privateFolder(folder);
  for (const [name, bytes] of keys) {
    const path = join(folder, name);
    if ((await read(path)) === null) createSecretFile(path, bytes.toString('utf8'));
  }
}

async function read(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
