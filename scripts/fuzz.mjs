// Fuzzes a running service from its own OpenAPI document, in the sandbox and without payment: npm run fuzz
// Fails on any 5xx, on any status, media type, header or body that the document does not list, and if the service
// accepts a request that the document forbids. FUZZ_SECONDS (120) is the total time; FUZZ_SEED repeats a run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended } from './engines/processes.mjs';
import { pythonWith } from './python/environment.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const seconds = Number(process.env.FUZZ_SECONDS ?? 120);
const seed = process.env.FUZZ_SEED ?? String(Math.floor(Math.random() * 2 ** 31));

/** Each has half of the time. No request pays: answers come from fixtures or are payment terms. */
const RUNS = [
  { title: 'in the sandbox', options: ['--header', 'X-Service-Test: 1'] },
  { title: 'without payment', options: [] },
];

const CONFIGURATION = fileURLToPath(new URL('./python/schemathesis.toml', import.meta.url));

/** Runs the service on free ports with its own folder; resolves once it answers. */
async function startService(directory) {
  const child = spawn(process.execPath, [here('../bin/docket.js'), 'serve', '--json'], {
    env: {
      ...process.env,
      NODE_ENV: 'test',
      PORT: '0',
      ADMIN_PORT: '0',
      SOLANA_LOCAL_PORT: '0',
      DATA_DIR: directory,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const failures = [];
  let rest = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (/"level":(5|6)0\b/.test(line)) failures.push(line);
  });
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the service ended with ${code} before it was ready`)));
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
      const line = text.split('\n').find((each) => each.startsWith('{') && each.endsWith('}'));
      if (line) resolve(JSON.parse(line).url);
    });
  });
  return { child, url, failures };
}

const schemathesis = (python, url, options) =>
  new Promise((resolve, reject) => {
    const child = spawn(
      python,
      [
        ...['-m', 'schemathesis.cli', '--no-color', '--config-file', CONFIGURATION, 'run', `${url}/openapi.json`],
        ...['--max-time', String(Math.ceil(seconds / RUNS.length)), '--seed', seed],
        ...['--request-timeout', '30', '--continue-on-failure', '--warnings', 'off'],
        ...options,
      ],
      { stdio: 'inherit', cwd: tmpdir() },
    );
    child.once('error', reject);
    child.once('exit', resolve);
  });

const directory = mkdtempSync(join(tmpdir(), 'fuzz-'));
let service;
let failed = false;
try {
  const python = await pythonWith(here('./python/schemathesis.txt'));
  service = await startService(join(directory, 'data'));
  for (const { title, options } of RUNS) {
    console.log(`\n-- ${title}, seed ${seed}`);
    if ((await schemathesis(python, service.url, options)) !== 0) failed = true;
  }
  const alive = await fetch(`${service.url}/v2/status`).catch(() => null);
  if (alive?.status !== 200) {
    console.error('the service no longer answers');
    failed = true;
  }
  if (service.failures.length > 0) {
    console.error('the service logged errors:');
    for (const line of service.failures.slice(0, 20)) console.error(line.slice(0, 2_000));
    failed = true;
  }
} catch (error) {
  console.error(error.message);
  failed = true;
} finally {
  if (service) await ended(service.child);
  rmSync(directory, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
