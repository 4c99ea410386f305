/**
 * A separate file system that is as small as a test needs: a tmpfs that is visible only to processes that are started
 * for it. It needs no root if the system allows user namespaces, and is gone when its keeper ends, however the test
 * ends.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SmallDisk {
  /** The command prefix that makes a command see the disk at its directory. */
  readonly within: readonly string[];
  /** The disk as this process sees it. */
  readonly outside: string;
  freeBytes(): Promise<number>;
  /** Fills all space but this much. */
  fill(leaveBytes: number): Promise<void>;
  /** Frees all that `fill` used. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const BALLAST = 'ballast';

/** Mounts it over an existing directory; null if this system does not allow that. */
export async function openSmallDisk(directory: string, bytes: number): Promise<SmallDisk | null> {
  const asRoot = process.getuid?.() === 0;
  const mount = `mount -t tmpfs -o size=${bytes},mode=0700 small-disk "$0" && echo mounted && exec sleep 86400`;
  const keeper = spawn('unshare', [...(asRoot ? [] : ['-Ur']), '-m', 'sh', '-c', mount, directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(keeper, 'exit').catch(() => undefined);
  const mounted = await Promise.race([once(keeper.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!mounted || keeper.pid === undefined) return null;
  const outside = `/proc/${keeper.pid}/root${directory}`;
  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(outside);
    return bavail * bsize;
  };
  const ballast = join(outside, BALLAST);
  return {
    within: [
      'nsenter',
      '--target',
      String(keeper.pid),
      '--mount',
      ...(asRoot ? [] : ['--user', '--preserve-credentials']),
    ],
    outside,
    freeBytes,
    async fill(leaveBytes) {
      const taken = Math.max(0, (await freeBytes()) - leaveBytes);
      try {
        await writeFile(ballast, Buffer.alloc(taken), { flag: 'a' });
      } catch (error) {
        // Others write there too: it filled as much as was free.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    async clear() {
      await rm(ballast, { force: true });
    },
    async close() {
      keeper.kill('SIGKILL');
      await ended;
    },
  };
}
