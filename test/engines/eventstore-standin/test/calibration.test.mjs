// The stand-in answers the calibration questions as the recorded node did, except for the differences that the README
// lists.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { standin } from './standin.mjs';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const DIFFERENT = ['filters: regular expressions that JavaScript reads otherwise'];

test('calibration against the recorded EventStoreDB 23.10.5', { timeout: 300_000 }, async (t) => {
  const recorded = JSON.parse(readFileSync(file('../calibration/eventstoredb-23.10.5.json'), 'utf8'));
  const node = await standin(t);
  const child = spawn(process.execPath, [file('../calibrate.mjs'), node.url], { stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const found = JSON.parse(out);
  assert.deepEqual(Object.keys(found), Object.keys(recorded));
  for (const name of Object.keys(recorded))
    await t.test(name, () =>
      (DIFFERENT.includes(name) ? assert.notDeepEqual : assert.deepEqual)(found[name], recorded[name]),
    );
});
