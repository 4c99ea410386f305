/** Runs the program that docs/auditing.md gives auditors on the output of `docket audit replay`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { freshStream, notes } from '../storage/samples.ts';
import { docketInProcess } from '../support/docket-in-process.ts';

const guide = readFileSync(new URL('../../docs/auditing.md', import.meta.url), 'utf8');
const program = /^```js\n(.*?)^```$/ms.exec(guide)?.[1] ?? '';

let directory: string;
let replayed: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'docket-auditing-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  await log.append(notes(freshStream(), ['first', 'später', '“quoted”\n']));
  await log.append(notes(freshStream(), ['alone']));
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  replayed = (await docketInProcess(['audit', 'replay', 'all', '--json'], { DATA_DIR: directory })).out;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const check = (input: string) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', program], { input, encoding: 'utf8' });

describe('the hash check of the auditor’s guide', () => {
  it('confirms every event that was recorded', () => {
    expect(check(replayed).stdout).toBe('4 events, 2 streams: every hash matches\n');
  });

  it.each([
    [
      'an event that was changed',
      (lines: string[]) => [lines[0]!, lines[1]!.replace('später', 'spaeter'), ...lines.slice(2)],
    ],
    ['an event that was removed', (lines: string[]) => [lines[0]!, ...lines.slice(2)]],
  ])('finds %s', (_, tamper) => {
    const { status, stderr } = check(`${tamper(replayed.trim().split('\n')).join('\n')}\n`);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/Error: \S+ [12] at /);
  });
});
