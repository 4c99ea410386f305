/**
 * Kills of `docket audit verify`: given a run with a checkpoint that is killed without warning, when it is started again,
 * then it goes on from what was kept and finds what a run without a kill finds.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeAuditLog } from '../../../bench/support/audit-log.mjs';

const EVENTS = 120_000;
const DOCKET = fileURLToPath(new URL('../../../bin/docket.js', import.meta.url));
const KEPT = /events are in the checkpoint/;

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'docket-verify-kill-'));
  await writeAuditLog(directory, EVENTS);
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const argv = (...more: readonly string[]) => [DOCKET, 'audit', 'verify', '--json', ...more];
const environment = () => ({ ...process.env, DATA_DIR: directory });

async function summaryOf(...more: readonly string[]) {
  const out = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, argv(...more), { env: environment() }, (error, text) =>
      error ? reject(error) : resolve(text),
    );
  });
  return JSON.parse(out.trimEnd().split('\n').at(-1) ?? '').summary;
}

/** Starts a run and kills it once it has kept something and goes on. */
async function killOnceKept(checkpoint: string): Promise<void> {
  const child = spawn(process.execPath, argv('--checkpoint', checkpoint), { env: environment() });
  let said = '';
  for await (const part of child.stderr) {
    said += part;
    if (KEPT.test(said)) break;
  }
  expect(said).toMatch(KEPT);
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

it('resumes after kills, and finds the same as a run without', async () => {
  const checkpoint = join(directory, 'audited.sqlite');
  await killOnceKept(checkpoint);
  await killOnceKept(checkpoint);
  const { seconds: _, read, ...resumed } = await summaryOf('--checkpoint', checkpoint);
  const { seconds: __, read: whole, ...expected } = await summaryOf();
  expect(resumed).toEqual(expected);
  expect(resumed).toMatchObject({ breaches: 0, proven_up_to: { events_after: 1 } });
  expect(read).toBeLessThan(whole - 90_000);
});
