import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecretFile, privateFolder, replaceSecretFile } from '../../src/runtime/secret-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'secret-file-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

it.each([0o000, 0o022, 0o077])('a secret and its folder are private to their owner under umask %o', (mask) => {
  const folder = join(directory, 'data', 'keys');
  const before = process.umask(mask);
  try {
    privateFolder(folder);
    createSecretFile(join(folder, 'one'), 'secret');
    replaceSecretFile(join(folder, 'one'), 'newer');
    createSecretFile(join(directory, 'other', 'two'), 'secret');
  } finally {
    process.umask(before);
  }
  expect(modeOf(folder)).toBe('700');
  expect(modeOf(join(directory, 'other'))).toBe('700');
  expect(modeOf(join(folder, 'one'))).toBe('600');
  expect(modeOf(join(directory, 'other', 'two'))).toBe('600');
});

it("a folder of keys that others may read is closed to them; a folder for another user's secret is left unchanged", () => {
  const keys = join(directory, 'keys');
  mkdirSync(keys);
  chmodSync(keys, 0o755);
  privateFolder(keys);
  expect(modeOf(keys)).toBe('700');
  const home = join(directory, 'home');
  mkdirSync(home);
  chmodSync(home, 0o755);
  createSecretFile(join(home, 'wallet.json'), 'secret');
  expect(modeOf(home)).toBe('755');
});
