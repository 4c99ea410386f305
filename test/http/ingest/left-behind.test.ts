/**
 * Given bodies of pushes that a killed process left behind, when the service runs, then they are removed an hour later,
 * without another start, and what is being worked on stays.
 */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Sweeping, sweepLeftBehind } from '../../../src/http/ingest/left-behind.ts';

const HOUR_S = 3_600;

let folder: string;
let sweeping: Sweeping | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pushed-'));
});
afterEach(async () => {
  sweeping?.end();
  await rm(folder, { recursive: true, force: true });
});

async function leave(name: string, hours: number): Promise<void> {
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'body.json'), '{}');
  const at = Date.now() / 1_000 - hours * HOUR_S;
  await utimes(join(folder, name), at, at);
}
const names = async () => (await readdir(folder)).sort();

it('removes at the start what is older than an hour', async () => {
  await leave('push-old', 1.1);
  await leave('push-young', 0.5);
  sweeping = await sweepLeftBehind(folder);
  expect(await names()).toEqual(['push-young']);
});

it('removes later what has become older meanwhile', async () => {
  await leave('push-young', 0);
  sweeping = await sweepLeftBehind(folder, 20);
  await leave('push-left', 1.1);
  await vi.waitUntil(async () => !(await names()).includes('push-left'));
  expect(await names()).toEqual(['push-young']);
});

it('does not need the folder', async () => {
  sweeping = await sweepLeftBehind(join(folder, 'none'));
});
