/**
 * The floors of `src` (ARCHITECTURE.md): a file imports from its own floor and those below, never from one above. The
 * linter rejects import cycles. Only one file of commands and processes appends to the log.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');

/** From the ground up. A name with an extension is a file at the root of `src`. */
const FLOORS = [
  'runtime',
  'tracing',
  'courts',
  'events',
  'errors.ts',
  'callbacks',
  'storage',
  'failure-problem.ts',
  'solana',
  'dockets',
  'sources',
  'backup',
  'commands',
  'projections',
  'queries',
  'audit',
  'processes',
  'http',
  'config',
  'config.ts',
  'identity',
  'service',
  'main.ts',
  'cli',
];

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** The floor of a file of `src`; -1 if it has none. */
const floorOf = (file: string): number => FLOORS.indexOf(file.split('/')[0] ?? '');

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']*\.ts)'/g;

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(join(SOURCE, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    posix.normalize(posix.join(posix.dirname(file), path)),
  );

describe('the floors of src', () => {
  it('are complete: no other file or folder is at the root', () => {
    expect(files.filter((file) => floorOf(file) === -1)).toEqual([]);
    expect(FLOORS.filter((_, floor) => !files.some((file) => floorOf(file) === floor))).toEqual([]);
  });

  it('import from their own floor and those below', () => {
    const upwards = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => floorOf(imported) > floorOf(file))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(upwards).toEqual([]);
  });
});

describe('the table of floors in ARCHITECTURE.md', () => {
  it('names each floor once, from the top down', () => {
    const text = readFileSync(join(SOURCE, '../ARCHITECTURE.md'), 'utf8');
    const section = /^## Floors\n(.*?)^## /ms.exec(text)?.[1] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `src/'));
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`src\/([^`]+)`/g)].map(([, name]) => name),
    );
    // Folders of the same rule share a row, highest first.
    expect(named).toEqual(FLOORS.toReversed());
  });
});

describe('the event log', () => {
  const APPENDS = /\bappend\s*(?:\?\.)?\(|\.append\b|\bprepareAppend\b/;
  const textOf = (file: string): string => readFileSync(join(SOURCE, file), 'utf8');

  it('is appended to in one file of all that decide and react', () => {
    const above = files.filter((file) => floorOf(file) >= FLOORS.indexOf('commands'));
    // A log that others append through, of which each append is checked.
    const wrappers = ['identity/watched-log.ts'];
    expect(above.filter((file) => APPENDS.test(textOf(file)) && !wrappers.includes(file))).toEqual([
      'commands/handle.ts',
    ]);
  });
});
