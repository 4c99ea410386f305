import { configDefaults, defineConfig } from 'vitest/config';
import { chooseSeed } from './test/support/seed.ts';

/**
 * The quick suite (`npm test`, under three minutes): everything but `*.full.test.ts`, `*.integration.test.ts` and
 * `*.versions.test.ts`.
 */
export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    env: chooseSeed(),
    expect: { poll: { timeout: 30_000, interval: 25 } },
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/**/*.{full,integration,versions}.test.ts'],
    // Most tests wait more than they compute: three workers keep two cores busy; by default those get one.
    maxWorkers: 3,
    // The files of a worker share its modules: to import them again for each file took longer than the tests. A test
    // must therefore get what it replaces through a parameter, not through `vi.mock`.
    isolate: false,
    // Ends what hangs, and judges no speed: on a busy machine the first import of a client's libraries takes long.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
