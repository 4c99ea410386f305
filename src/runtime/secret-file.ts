/** Files that hold secrets: readable by their owner alone, durable, and whole or not there at all. */
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

/** Makes a folder that is its owner's alone, whatever the umask; one that is there already is closed to all others. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
  } catch (error) {
    // Not every file system has such rights, and another user's folder cannot be changed: its files are closed either way.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EROFS' && code !== 'ENOTSUP') throw error;
  }
}

/** @throws an `EEXIST` error if there is a file already: nothing is overwritten */
export function createSecretFile(path: string, text: string): void {
  // A link, unlike a rename, fails where another process was faster.
  write(path, text, (temporary) => linkSync(temporary, path));
}

/** Puts a new text in place of the old one; whoever reads meanwhile gets the one or the other. */
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

/** The name of a new file is durable only once its folder is. Not every platform lets a folder be opened. */
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
