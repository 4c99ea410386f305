/** Files that hold secrets: readable only by their owner, durable, and written all or nothing. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Creates a folder that only its owner can enter, with any umask; access of others to an existing one is removed. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
  } catch (error) {
    // Some file systems have no permissions, and another user's folder cannot be changed; the files are private either
    // way.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EROFS' && code !== 'ENOTSUP') throw error;
  }
}

/** @throws an `EEXIST` error if the file exists: nothing is overwritten */
export function createSecretFile(path: string, text: string): void {
  // Unlike a rename, a link fails if another process was faster.
  write(path, text, (temporary) => linkSync(temporary, path));
}

/** Replaces the text of a file; concurrent readers get either the old or the new one. */
export function replaceSecretFile(path: string, text: string): void {
  write(path, text, (temporary) => renameSync(temporary, path));
}

function write(path: string, text: string, place: (temporary: string) => void): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(folder);
}

/** The name of a new file is durable only once its folder is synced. Not every platform allows opening a folder. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM' && code !== 'EINVAL') throw error;
  }
}
