/**
 * Runs before every test file. A test with an answer that the OpenAPI document does not describe fails, regardless of its
 * own checks. What a file changes of the process ends with it, because files share their worker's modules.
 */
import fc from 'fast-check';
import { afterAll, afterEach, expect, vi } from 'vitest';
import './patience.ts';
import { SEED } from './seed.ts';
import { violationsSinceLast } from './watched-answers.ts';

fc.configureGlobal({ seed: SEED });

afterEach(async () => {
  expect(await violationsSinceLast(), 'every answer is as the OpenAPI document says').toEqual([]);
});

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
