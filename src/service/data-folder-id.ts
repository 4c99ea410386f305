/** Identifies the data folder of a process so that two processes can compare it, without revealing its path. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';

/**
 * Hex. The same for every path to the folder, even inside a container that mounts it.
 * @returns null if there is no such folder or it cannot be read
 */
export function dataFolderId(folder: string): string | null {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  } catch {
    return null;
  }
}
