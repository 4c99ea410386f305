/** Tests of the whole service: they run on the embedded engine in `npm test`, on the engines, and on each version of Node. */
export const MAIN_JOB = [
  'test/abuse/withdrawn-text.test.ts',
  'test/commands/forget/forget.test.ts',
  'test/commands/purchase/first-payments.test.ts',
  'test/storage/payloads-along.test.ts',
  'test/payments/buying.test.ts',
  'test/payments/identifier.test.ts',
  'test/payments/recovery.test.ts',
  'test/payments/settlement.test.ts',
  'test/payments/key-calls.test.ts',
  'test/projections/signing-keys.test.ts',
  'test/projections/freshness.test.ts',
  'test/cli/projections.test.ts',
  'test/projections/generations.test.ts',
  'test/dockets/ingest.test.ts',
  'test/queries/case-answer.test.ts',
  'test/queries/delivery-history.test.ts',
  'test/queries/status.test.ts',
  'test/service/node-role.test.ts',
  'test/processes/after-settlement.test.ts',
  'test/processes/payload-housekeeping.test.ts',
  'test/processes/callbacks/clock.test.ts',
  'test/processes/callbacks/deliveries.test.ts',
  'test/http/app.test.ts',
  'test/http/not-yet-shown.test.ts',
];

/** Everything that uses the driver: the storage and its suites, rebuilding, the command line, starting and stopping. */
export const DRIVER = [
  'test/storage/driver.test.ts',
  'test/storage/sqlite.test.ts',
  'test/storage/log-thread.test.ts',
  'test/projections/runner.test.ts',
  'test/cli/audit.test.ts',
  'test/cli/query.test.ts',
  'test/npm-start.test.ts',
];
