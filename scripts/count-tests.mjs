// Adds up the reports of several test runs: node count-tests.mjs FAILED_STEPS REPORT…
// A step that failed without a failing test (types, lint, a run that never started) counts as one failure.
import { existsSync, readFileSync } from 'node:fs';

const [failedSteps = '0', ...reports] = process.argv.slice(2);
let passed = 0;
let failed = 0;
let skipped = 0;
for (const path of reports) {
  if (!existsSync(path)) {
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(path, 'utf8'));
  passed += report.numPassedTests;
  skipped += report.numPendingTests + (report.numTodoTests ?? 0);
  failed += report.numFailedTests;
  if (!report.success && report.numFailedTests === 0) failed += 1;
}
failed = Math.max(failed, Number(failedSteps));
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
