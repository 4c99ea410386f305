// Adds up the reports of several test runs: node count-tests.mjs FAILED_STEPS REPORT…
// A step that failed without a failing test (types, lint, a run that never started) counts as one failure.
// The failing tests are listed briefly before the sum, because often only the end of a long log is kept.
import { existsSync, readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

const [failedSteps = '0', ...reports] = process.argv.slice(2);
const MESSAGE_CHARACTERS = 1500;
const MESSAGES_TOLD = 20;
let told = 0;

function tellFailure(name, messages) {
  told += 1;
  if (told <= MESSAGES_TOLD) console.log(`FAILED ${name}\n${messages.join('\n').slice(0, MESSAGE_CHARACTERS)}\n`);
  else console.log(`FAILED ${name}`);
}

let passed = 0;
let failed = 0;
let skipped = 0;
for (const path of reports) {
  if (!existsSync(path)) {
    console.log(`no report: ${basename(path)}`);
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(path, 'utf8'));
  passed += report.numPassedTests;
  skipped += report.numPendingTests + (report.numTodoTests ?? 0);
  failed += report.numFailedTests;
  if (!report.success && report.numFailedTests === 0) failed += 1;
  for (const file of report.testResults) {
    const name = relative(process.cwd(), file.name);
    if (file.status === 'failed' && file.message) tellFailure(name, [file.message]);
    for (const test of file.assertionResults) {
      if (test.status === 'failed') tellFailure(`${name} > ${test.fullName}`, test.failureMessages);
    }
  }
}
failed = Math.max(failed, Number(failedSteps));
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
