/** Which data folder a process works on, in a form that two processes can compare and that tells nothing of its path. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';

/**
 * Hex. The same for every path that leads to the folder, also from within a container that mounts it.
 * @returns null where there is no such folder, or it may not be looked at
 */
export function dataFolderId(folder: string): string | null {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  } catch {
    return null;
  }
}
