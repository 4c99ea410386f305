// Runs a command with engines to test on: node with-engines.mjs [--both] COMMAND ARGUMENT…
//
// Uses the engines in EVENTSTORE_URL and MONGODB_URL if they are set. For a missing one, starts a replacement on free
// ports in a temporary folder: the stand-in for EventStoreDB, FerretDB for MongoDB. If that fails, the engine's suites
// report that they are skipped; with --both, the command is not run. Neither replacement is the real engine, so run the
// same suites on the real engines before a release.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStandin } from './eventstore-standin.mjs';
import { startFerretDb } from './ferretdb.mjs';

const args = process.argv.slice(2);
const needsBoth = args[0] === '--both';
const [command, ...commandArgs] = needsBoth ? args.slice(1) : args;
if (!command) throw new Error('expected a command to run');

const say = (text) => process.stderr.write(`engines: ${text}\n`);
const undo = [];
const environment = { ...process.env };
const folder = await mkdtemp(join(tmpdir(), 'docket-engines-'));
let exitCode = 1;
let running = null;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => running?.kill(signal));
try {
  if (!environment.EVENTSTORE_URL) {
    const standin = await startStandin(folder, undo);
    environment.EVENTSTORE_URL = standin.url;
    environment.EVENTSTORE_CONTROL_URL = standin.control;
    say(`a stand-in for EventStoreDB at ${standin.url}`);
  }
  if (!environment.MONGODB_URL) {
    await mkdir(join(folder, 'documents'));
    const url = await startFerretDb(join(folder, 'documents'), undo, say);
    if (url) {
      environment.MONGODB_URL = url;
      say(`FerretDB for MongoDB at ${url}, one command at a time`);
    }
  }
  if (needsBoth && !(environment.EVENTSTORE_URL && environment.MONGODB_URL)) {
    say(`skipped, for want of an engine: ${command} ${commandArgs.join(' ')}`);
    exitCode = 0;
  } else {
    running = spawn(command, commandArgs, { stdio: 'inherit', env: environment });
    exitCode = await new Promise((resolve, reject) => {
      running.once('error', reject);
      running.once('exit', (code) => resolve(code ?? 1));
    });
  }
} finally {
  for (const step of undo.reverse()) await step();
  await rm(folder, { recursive: true, force: true });
}
process.exit(exitCode);
