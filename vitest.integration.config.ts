import { configDefaults, defineConfig } from 'vitest/config';
import { MAIN_JOB } from './test/support/main-job.ts';
import { chooseSeed } from './test/support/seed.ts';

/**
 * The suites of the engines, and the main job on them (`npm run test:integration`). They want EVENTSTORE_URL and
 * MONGODB_URL, and EVENTSTORE_CONTROL_URL for the faults of the event store's stand-in; what lacks is said by the names
 * of the tests that are skipped.
 */
const configured = Boolean(process.env.EVENTSTORE_URL && process.env.MONGODB_URL);

/**
 * `npm run test:integration:kills`: whole services of their own, killed. On engines that were started for this run
 * alone: they hold nothing else, and FerretDB may never come back from a client that died in the middle of a command.
 */
const KILLS = ['test/crash/deliveries.full.test.ts'];

const include = process.env.INTEGRATION === 'kills' ? KILLS : ['test/**/*.integration.test.ts', ...MAIN_JOB];

export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    expect: { poll: { timeout: 30_000, interval: 25 } },
    include: configured ? include : ['test/**/*.integration.test.ts'],
    exclude: configDefaults.exclude,
    env: { TEST_STORAGE: 'engines', ...chooseSeed() },
    // The engines are shared: one file after the other keeps each one's log to itself.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
