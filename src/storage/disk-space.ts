/** The free space of the file system that holds the embedded storage's files. */
import { statfs } from 'node:fs/promises';

/** With less than this, operators are warned, and no read model is built beside another: a full disk stops all sales. */
export const LOW_DISK_BYTES = 64 * 1024 * 1024;

/** Bytes that this process may still write to a folder's file system; null where the file system does not report it. */
export async function freeBytes(directory: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail, bsize } = await statfs(directory);
    if (blocks === 0) return null;
    // Only root may use the space that a file system reserves for root.
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return null;
  }
}
