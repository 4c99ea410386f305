/** Which SQLite driver is installed and loaded on which Node. The conformance suites test what the driver does. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Database, driverPackage } from '../../../src/storage/sqlite/driver.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const readJson = (name: string) => JSON.parse(readFileSync(`${ROOT}${name}`, 'utf8'));
const manifest = readJson('package.json') as { optionalDependencies: Record<string, string> };
const { packages } = readJson('package-lock.json') as {
  packages: Record<string, object>;
};

describe('the SQLite driver', () => {
  it.each([
    [9, 'better-sqlite3-node20'],
    [10, 'better-sqlite3'],
    [11, 'better-sqlite3'],
  ])('for Node-API %i is %s', (nodeApi, name) => {
    expect(driverPackage(nodeApi)).toBe(name);
  });

  it('is an exact version of each of two packages', () => {
    expect(manifest.optionalDependencies).toEqual({
      'better-sqlite3': '13.2.0',
      'better-sqlite3-node20': 'npm:better-sqlite3@12.9.0',
    });
  });

  // `npm install` loses both; `node scripts/narrow-lock.mjs` sets them again and says why.
  it('is the only one of the two that npm installs, and is not compiled if it ships a binary', () => {
    const newer = packages['node_modules/better-sqlite3'];
    const older = packages['node_modules/better-sqlite3-node20'];
    expect(newer).toMatchObject({ optional: true, engines: { node: '>=22' }, gypfile: false });
    expect(older).toMatchObject({ optional: true, engines: { node: '20.x' } });
  });

  it('is named in one file of the sources', () => {
    const importing = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /from '(better-sqlite3[^']*|node:sqlite)'/.test(readFileSync(`${ROOT}src/${file}`, 'utf8')));
    expect(importing).toEqual(['storage/sqlite/driver.ts']);
  });

  it('runs', () => {
    const database = new Database(':memory:');
    try {
      expect(database.prepare('SELECT 1 + 1').pluck().get()).toBe(2);
    } finally {
      database.close();
    }
  });
});
