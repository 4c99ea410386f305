/** Files that hold secrets: readable by their owner alone, durable, and whole or not there at all. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

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
  mkdirSync(folder, { recursive: true });
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
