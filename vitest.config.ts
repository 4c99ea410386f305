import { configDefaults, defineConfig } from 'vitest/config';

/**
 * The quick suite (`npm test`, under three minutes): everything but `*.full.test.ts`, `*.integration.test.ts` and
 * `*.versions.test.ts`.
 */
export default defineConfig({
  test: {
    setupFiles: ['test/support/watch-answers.ts', 'test/support/patience.ts'],
    expect: { poll: { timeout: 30_000, interval: 25 } },
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/**/*.{full,integration,versions}.test.ts'],
    // Most tests wait more than they compute: three workers keep two cores busy; by default those get one.
    maxWorkers: 3,
    // Ends what hangs, and judges no speed: on a busy machine the first import of a client's libraries takes long.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
