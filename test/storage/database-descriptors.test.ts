/** The rule of `open-database.ts`: no descriptor of a database file but SQLite's own. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docket } from '../crash/agreement.ts';
import { FOREIGN_PROGRAMS } from '../support/foreign-programs.ts';
import { reported, watching } from './descriptors.ts';
import { freshStream, notes } from './samples.ts';

const FIXTURE = fileURLToPath(new URL('../../fixtures/demo-before.json', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const entry = new URL('../../dist/storage/sqlite/log-thread-entry.js', import.meta.url);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-descriptors-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('no program of ours opens a database file with node:fs', () => {
  it('not the command that imports; `test/crash/descriptors.full.test.ts` has the others and the service', async () => {
    const report = join(directory, 'report');
    const environment = { ...watching(report), DATA_DIR: join(directory, 'data'), SOLANA_NETWORK: 'local' };
    await docket(['import', FIXTURE, '--json'], environment);
    const { watched, opened } = await reported(report);
    expect(opened).toEqual([]);
    expect(watched).toHaveLength(1);
  });

  it('and the watch would detect it', async () => {
    const report = join(directory, 'report');
    const path = join(directory, 'log.sqlite');
    await writeFile(path, '');
    const calls = `
      import fs, { openSync, createReadStream } from 'node:fs';
      import { open, copyFile } from 'node:fs/promises';
      const path = process.argv[1];
      fs.closeSync(openSync(path, 'a'));
      await (await open(path)).close();
      await copyFile(path, path + '.copy');
      createReadStream(path).destroy();
      fs.statSync(path); fs.chmodSync(path, 0o600); fs.existsSync(path); fs.accessSync(path);`;
    const env = { ...process.env, ...watching(report) };
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', calls, path], { env });
    const { opened } = await reported(report);
    expect(new Set(opened.map((line) => line.split(' ')[0]))).toEqual(
      new Set(['openSync', 'open', 'copyFile', 'createReadStream', 'ReadStream']),
    );
  });

  it('a database is opened in four places only', () => {
    const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const opening = sources.filter((name) => /new Database\(/.test(readFileSync(join(SOURCES, name), 'utf8')));
    expect(opening.sort()).toEqual([
      'storage/sqlite/checkpointer.ts',
      'storage/sqlite/fresh-look.ts',
      'storage/sqlite/open-database.ts',
      'storage/sqlite/unreadable-disk.ts',
    ]);
  });
});

describe.each(FOREIGN_PROGRAMS)('read by $name', ({ sql, hold }) => {
  it('a log that two threads have open keeps its write-ahead log', async () => {
    const storage = openSqlite({ directory, logThread: { entry, fewestWrites: 1 } });
    const path = join(directory, 'log.sqlite');
    const texts: string[] = [];
    const append = async (text: string) => {
      await storage.log.append(notes(freshStream(), [text]));
      texts.push(text);
    };
    await append('while the thread opens the file');
    await storage.logThreadStarted;
    for (let n = 0; n < 5; n++) await append(`before ${n}`);
    await sql(path, 'SELECT count(*) FROM sqlite_schema');
    for (let n = 0; n < 5; n++) await append(`after ${n}`);
    // Reads through the file and its write-ahead log as another process sees them.
    expect(await sql(path, 'SELECT count(*) FROM events')).toBe(String(texts.length));
    await storage.log.check();
    const reader = await hold(path, 'BEGIN; SELECT count(*) FROM events');
    await append('with an open reader');
    reader.kill('SIGKILL');
    expect(await sql(path, 'PRAGMA integrity_check')).toBe('ok');
    await storage.close();
  });
});
