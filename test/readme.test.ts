import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addConfigCommand } from '../src/cli/config.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  string,
  Record<string, string>
>;

describe('the README', () => {
  it('names each dependency once, and no other', () => {
    const rows = read('README.md').matchAll(/^\| (`[^|]+`) \| [^|]+ \|$/gm);
    const named = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(Object.keys({ ...dependencies, ...optionalDependencies }).sort());
  });
});

describe('the pages of the repository', () => {
  it('have a README that is short enough to read at once', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it.each([
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/operating.md',
    'docs/auditing.md',
    'docs/clients.md',
  ])('have links that lead to a file: %s', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });
});

describe('package.json', () => {
  it('pins every version exactly', () => {
    const versions = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
    expect(versions.filter(([, version]) => !/^(npm:[a-z0-9-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('the commands of the README and its pages', () => {
  it('leave a clone unchanged: npx makes a non-executable program executable', () => {
    expect(statSync(join(root, 'bin/docket.js')).mode & 0o111).toBe(0o111);
  });

  it('write no secret key where git would add it', () => {
    const pages = ['README.md', 'docs/clients.md', 'docs/auditing.md', 'docs/operating.md'];
    const written = pages.flatMap((page) => [...read(page).matchAll(/wallet new --out (\S+)|^DATA_DIR=(\S+) npm/gm)]);
    expect(written.length).toBeGreaterThan(2);
    const ignored = new Set(read('.gitignore').split('\n'));
    for (const [, file, folder] of written) expect(ignored).toContain(file ? `/${file}` : `/${folder}/`);
  });
});

describe('docket config --help', () => {
  it('lists every variable of the configuration', () => {
    const inSchema =
      /export const Environment = z\.object\(\{([\s\S]*?)^\}\);/m.exec(read('src/config/environment.ts'))?.[1] ?? '';
    const variables = [...inSchema.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name ?? '');
    expect(variables.length).toBeGreaterThan(10);
    let help = '';
    const program = new Command().configureOutput({
      writeOut: (text) => {
        help += text;
      },
    });
    const stream = new PassThrough();
    addConfigCommand(program, { environment: {}, stdin: stream, stdout: stream, stderr: stream, interactive: false });
    program.commands[0]?.configureOutput(program.configureOutput()).outputHelp();
    expect(variables.filter((name) => !new RegExp(`\\b${name}\\b`).test(help))).toEqual([]);
  });
});
