/** How much room there is where the embedded storage keeps its files. */
import { statfs } from 'node:fs/promises';

/** Bytes that this process may still write where a folder lies; null where the file system does not say. */
export async function freeBytes(directory: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail, bsize } = await statfs(directory);
    if (blocks === 0) return null;
    // What a file system keeps back for root is there for root.
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return null;
  }
}
