/**
 * `docket audit verify` at scale: given a log of a million events as a busy service leaves it, when an auditor verifies
 * it, then all of it holds and memory stays small; and one changed byte among them is found.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeAuditLog } from '../../../bench/support/audit-log.mjs';
import { Database } from '../../../src/storage/sqlite/driver.ts';

const EVENTS = Number(process.env.EVENTS ?? 1_000_000);
/** It takes 255 MiB on an idle machine, and some 300 with content; on a busy one garbage is collected later. */
const MOST_BYTES = 350 * 2 ** 20;
const MOST_BYTES_WITH_CONTENT = 420 * 2 ** 20;
const SIDE = fileURLToPath(new URL('../../../bench/support/verify-side.mjs', import.meta.url));
const DOCKET = fileURLToPath(new URL('../../../bin/docket.js', import.meta.url));

let directory: string;
let written: number;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'docket-scale-'));
  written = await writeAuditLog(directory, EVENTS);
}, 600_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (...argv: readonly string[]) =>
  new Promise<{ readonly code: number; readonly out: string }>((resolve) => {
    const options = { env: { ...process.env, DATA_DIR: directory }, maxBuffer: 1 << 26 };
    const child = execFile(process.execPath, argv, options, (_error, out) =>
      resolve({ code: child.exitCode ?? -1, out }),
    );
  });

it('verifies a million events in little memory, and finds one changed byte', async () => {
  const measured = async (...options: readonly string[]) =>
    JSON.parse((await run(SIDE, 'ours', directory, ...options)).out) as {
      readonly events: number;
      readonly rss: number;
    };
  const withContent = await measured();
  expect(withContent.events).toBe(written);
  expect(withContent.rss).toBeLessThan(MOST_BYTES_WITH_CONTENT);
  const { rss } = await measured('--no-payloads');
  expect(rss).toBeLessThan(MOST_BYTES);

  const database = new Database(join(directory, 'log.sqlite'));
  const changed = database
    .prepare<[number], { stream: string; revision: number; position: number }>(
      "SELECT stream, revision, position FROM events WHERE type = 'PaymentSettled' AND position > ? LIMIT 1",
    )
    .get(Math.floor(written * 0.9))!;
  database
    .prepare(`UPDATE events SET data = replace(data, '"amount":"990000"', '"amount":"1"') WHERE position = ?`)
    .run(changed.position);
  database.close();
  const found = await run(DOCKET, 'audit', 'verify', '--no-payloads', '--json');
  const [breach, { summary }] = found.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([found.code, summary.breaches]).toEqual([1, 1]);
  expect(breach).toMatchObject({ rule: 'hash_matches', stream: changed.stream, revision: changed.revision });
});
