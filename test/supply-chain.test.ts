/**
 * Every installed package that may run a script, or has a known advisory, is on record in SECURITY.md with a reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
}
const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };
const { allowScripts } = JSON.parse(read('package.json')) as { readonly allowScripts: Record<string, boolean> };

const nameAt = (where: string): string => where.slice(where.lastIndexOf('node_modules/') + 'node_modules/'.length);
const placeOf = ({ dev, optional }: Locked): string =>
  dev ? 'development' : `production${optional ? ', optional' : ''}`;

const withScripts = Object.entries(packages)
  .filter(([where, { hasInstallScript }]) => where !== '' && hasInstallScript === true)
  .map(([where, locked]) => ({ name: nameAt(where), locked }));

const rows = read('SECURITY.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', version, place, , script, decision = '']) => ({
    name: name.replaceAll('`', ''),
    version,
    place,
    script,
    decision,
  }));

describe('the installed packages', () => {
  it('have an install script only if SECURITY.md says which, where it runs and why', () => {
    const expected = withScripts.map(({ name, locked }) => `${name} ${locked.version} ${placeOf(locked)}`);
    expect(rows.map(({ name, version, place }) => `${name} ${version} ${place}`).sort()).toEqual(expected.sort());
    for (const { name, decision } of rows) expect(decision.length, name).toBeGreaterThan(30);
  });

  it('run the scripts that SECURITY.md allows and no others, where npm enforces it', () => {
    for (const { name, locked } of withScripts) {
      const row = rows.find((one) => one.name === name);
      expect(allowScripts[locked.name ?? name], name).toBe(row?.script === 'runs');
    }
  });

  it('use bigint-buffer (GHSA-3gc7-fjrx-p6mg) only for development, and no source of ours imports what depends on it', () => {
    const held = Object.entries(packages).filter(([where]) =>
      ['bigint-buffer', '@solana/spl-token', '@solana/buffer-layout-utils'].includes(nameAt(where)),
    );
    expect(held.length).toBeGreaterThan(0);
    for (const [where, { dev }] of held) expect(dev, where).toBe(true);
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const importing = sources
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /from '(?:@solana\/spl-token|bigint-buffer)'/.test(read(join('src', file))));
    expect(importing).toEqual([]);
  });
});
