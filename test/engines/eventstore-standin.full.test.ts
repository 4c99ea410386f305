/** The stand-in's own tests: durability under kills, faults, and the answers that a real node gave to 129 questions. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('eventstore-standin/test/', import.meta.url));

test.each(readdirSync(TESTS).filter((name) => name.endsWith('.test.mjs')))('stand-in for EventStoreDB: %s', (name) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--test', TESTS + name], { encoding: 'utf8' });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
});
