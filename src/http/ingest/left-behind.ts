/** Bodies that a killed process left in the folder of pushes: removed at the start, and while the service runs. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** No body is worked on for so long. */
const LEFT_BEHIND_MS = 3_600_000;
const EVERY_MS = 600_000;

export interface Sweeping {
  end(): void;
}

/** Removes what is there now, then what becomes old enough. @param everyMs between two rounds */
export async function sweepLeftBehind(folder: string, everyMs = EVERY_MS): Promise<Sweeping> {
  await removeLeftBehind(folder);
  const timer = setInterval(() => void removeLeftBehind(folder), everyMs);
  timer.unref();
  return { end: () => clearInterval(timer) };
}

/** Never rejects: what cannot be removed now is tried again. */
async function removeLeftBehind(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs > LEFT_BEHIND_MS) {
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
