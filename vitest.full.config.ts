import { defineConfig } from 'vitest/config';
import { chooseSeed } from './test/support/seed.ts';

/** The long suite (`npm run test:full`): kills, scale and fuzzing. Loops take their count from KILLS (default 20). */
export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    env: chooseSeed(),
    expect: { poll: { timeout: 30_000, interval: 25 } },
    include: ['test/**/*.full.test.ts'],
    fileParallelism: false,
    testTimeout: 30 * 60_000,
    hookTimeout: 120_000,
  },
});
