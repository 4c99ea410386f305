import { defineConfig } from 'vitest/config';

/**
 * The supported versions of Node (`npm run test:versions`): each is downloaded and installs a copy of this checkout.
 * On the newest of each line the demo and the audit run ROUNDS times each, by default a quarter of KILLS; NODE_LINES, such
 * as `24,26`, chooses the lines.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.versions.test.ts'],
    fileParallelism: false,
    testTimeout: 15 * 60_000,
    hookTimeout: 15 * 60_000,
  },
});
