/** Given the lists of test files that other suites run by name, when a file is renamed, then this test notices. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DRIVER, MAIN_JOB } from './main-job.ts';

const ROOT = join(import.meta.dirname, '../..');

it.each([...DRIVER, ...MAIN_JOB])('%s exists', (file) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
});
