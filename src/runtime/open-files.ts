/** How many files and connections this process has open, and its limit. */
import { readdir, readFile, stat } from 'node:fs/promises';

export interface OpenFiles {
  readonly open: number;
  readonly limit: number;
}

/** Null if the system does not report it (it is not Linux), or sets no limit. */
export async function openFiles(): Promise<OpenFiles | null> {
  try {
    const [open, limits] = await Promise.all([countDescriptors(), readFile('/proc/self/limits', 'utf8')]);
    const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isSafeInteger(limit) && limit > 0 ? { open, limit } : null;
  } catch {
    return null;
  }
}

/** Linux 6.2 and later report the count as the folder's size. Older versions report 0, so the entries are counted. */
async function countDescriptors(): Promise<number> {
  const { size } = await stat('/proc/self/fd');
  return size > 0 ? size : (await readdir('/proc/self/fd')).length;
}
