/**
 * Given a path,
 * when a folder is made there,
 * then it and its missing parents are there for their owner alone, or an error says why not, on any file system.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/runtime/make-folder.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'docket-folder-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('makeFolder', () => {
  it('creates the folder and its missing parents for their owner alone', () => {
    const folder = join(directory, 'a', 'b', 'c');
    makeFolder(folder);
    expect([modeOf(folder), modeOf(join(directory, 'a'))]).toEqual([0o700, 0o700]);
  });

  it('leaves a folder that exists as it is, also behind a link', () => {
    mkdirSync(join(directory, 'real'));
    chmodSync(join(directory, 'real'), 0o755);
    symlinkSync(join(directory, 'real'), join(directory, 'link'));
    makeFolder(join(directory, 'link'));
    makeFolder(join(directory, 'link', 'inner'));
    expect([modeOf(join(directory, 'real')), readdirSync(join(directory, 'real'))]).toEqual([0o755, ['inner']]);
  });

  it('throws if a file is in the way', () => {
    writeFileSync(join(directory, 'file'), '');
    expect(() => makeFolder(join(directory, 'file'))).toThrow(/EEXIST/);
    expect(() => makeFolder(join(directory, 'file', 'inner'))).toThrow(/ENOTDIR/);
  });

  it('throws at a link to nothing, and for an empty path', () => {
    symlinkSync(join(directory, 'nothing'), join(directory, 'link'));
    expect(() => makeFolder(join(directory, 'link', 'inner'))).toThrow(/EEXIST/);
    expect(() => makeFolder('')).toThrow(/ENOENT/);
  });

  it.skipIf(!existsSync('/proc/self'))('throws where nothing can be created', () => {
    expect(() => makeFolder('/proc/nothing/inner/folder')).toThrow(/ENOENT/);
  });
});

it('is what every module uses, because a recursive mkdir may never return', () => {
  const source = new URL('../../src/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const using = files.filter((file) =>
    /mkdir(?:Sync)?\([^;]*recursive/.test(readFileSync(new URL(file, source), 'utf8')),
  );
  expect(using).toEqual([]);
});
