/** Which SQLite driver is installed and loaded on which Node. What the driver does is the conformance suites' matter. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Database, driverPackage } from '../../src/storage/sqlite/driver.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const readJson = (name: string) => JSON.parse(readFileSync(`${ROOT}${name}`, 'utf8'));
const manifest = readJson('package.json') as { optionalDependencies: Record<string, string> };
const { packages } = readJson('package-lock.json') as {
  packages: Record<string, { version: string; optional?: boolean; engines?: { node: string } }>;
};

describe('the SQLite driver', () => {
  it.each([
    ['20.19.0', 'better-sqlite3-node20'],
    ['20.20.2', 'better-sqlite3-node20'],
    ['22.0.0', 'better-sqlite3'],
    ['24.21.0', 'better-sqlite3'],
    ['26.10.0', 'better-sqlite3'],
    ['100.0.0', 'better-sqlite3'],
  ])('on Node %s is %s', (version, name) => {
    expect(driverPackage(version)).toBe(name);
  });

  it('is an exact version of each of two packages', () => {
    expect(manifest.optionalDependencies).toEqual({
      'better-sqlite3': '13.2.0',
      'better-sqlite3-node20': 'npm:better-sqlite3@12.9.0',
    });
  });

  // An optional package whose `engines` exclude the running Node is left out by npm. Version 12 itself also names later
  // lines, so its range is narrowed in the lock, where npm reads it and keeps it.
  it('is the only one of the two that npm installs', () => {
    const newer = packages['node_modules/better-sqlite3'];
    const older = packages['node_modules/better-sqlite3-node20'];
    expect([newer?.optional, newer?.engines?.node]).toEqual([true, '>=22']);
    expect([older?.optional, older?.engines?.node]).toEqual([true, '20.x']);
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
