/** Files that hold secrets: readable only by their owner, durable, and written all or nothing. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';

const MAX_BYTES = 64 * 1024;
/** Without waiting for who writes into a pipe; not every platform knows it. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The text of a file without the line break at its end, or why it cannot be read, without its path. */
export function readSecretFile(path: string): string | { readonly problem: string } {
  try {
    const file = openSync(path, OPEN);
    try {
      return textIn(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problems: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EACCES: 'the user of this process may not read the file',
      EISDIR: IS_FOLDER,
    };
    return { problem: problems[code ?? ''] ?? `the file cannot be read (${code ?? 'for an unknown reason'})` };
  }
}

const IS_FOLDER = 'this is a folder, and a file is expected';

function textIn(file: number): string | { readonly problem: string } {
  const stats = fstatSync(file);
  if (stats.isDirectory()) return { problem: IS_FOLDER };
  // A device may have no end, and a pipe may never have a text.
  if (!stats.isFile()) return { problem: 'this is a device or a pipe, and a file is expected' };
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  for (let read = 1; read > 0 && length < bytes.length; length += read) {
    read = readSync(file, bytes, length, bytes.length - length, null);
  }
  if (length > MAX_BYTES) return { problem: `a file of at most ${MAX_BYTES} bytes is expected` };
  const text = bytes.toString('utf8', 0, length).replace(/[\r\n]+$/, '');
  return text === '' ? { problem: 'the file is empty' } : text;
}

/** Creates a folder that only its owner can enter, with any umask; access of others to an existing one is removed. */
export function privateFolder(folder: string): void {
  makeFolder(folder);
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
  makeFolder(folder);
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
