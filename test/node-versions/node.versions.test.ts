/**
 * Given a version of Node, when a checkout is installed with it, then the service does its main job and no process
 * aborts, or the program says in one line why it does not start.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DRIVER, MAIN_JOB } from '../support/main-job.ts';
import { installCheckout, installNode, type NodeInstallation, ROOT } from './installation.ts';

const ROUNDS = Number(process.env.ROUNDS ?? Math.ceil(Number(process.env.KILLS ?? 20) / 10));

/** Each supported line: its oldest supported version, and its newest. */
const LINES = [
  { line: '20', oldest: '20.19.0', newest: '20.20.2', driver: 'better-sqlite3-node20' },
  { line: '22', oldest: '22.14.0', newest: '22.23.3', driver: 'better-sqlite3' },
  { line: '24', oldest: '24.0.0', newest: '24.21.0', driver: 'better-sqlite3' },
  { line: '26', oldest: '26.0.0', newest: '26.10.0', driver: 'better-sqlite3' },
].filter(({ line }) => (process.env.NODE_LINES ?? line).split(',').includes(line));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-versions-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A demo that keeps its data, and an audit of that data, in separate processes. */
async function demoAndAudit(node: NodeInstallation, checkout: string): Promise<void> {
  const data = await mkdtemp(join(folder, 'data-'));
  const options = { cwd: checkout, env: { DATA_DIR: data } };
  for (const args of [
    ['demo', '--keep', '--json'],
    ['audit', 'replay', 'payments', '--json'],
  ]) {
    const { end, stdout, stderr } = await node.run('node', ['bin/docket.js', ...args], options);
    expect({ args, end, stderr }).toEqual({
      args,
      end: 0,
      stderr: expect.not.stringMatching(/Assertion|DeprecationWarning/),
    });
    expect(stdout).not.toBe('');
  }
  await rm(data, { recursive: true, force: true });
}

describe.each(LINES)('Node $line', ({ oldest, newest, driver, line }) => {
  // For the line that runs these tests the checkout itself is installed, and `npm test` is its main job.
  const isOwn = process.versions.node.startsWith(`${line}.`);
  let node: NodeInstallation;
  let checkout: string;

  beforeAll(async () => {
    node = await installNode(newest, folder);
    checkout = isOwn ? ROOT : join(folder, `checkout-${line}`);
    if (!isOwn) await installCheckout(node, checkout);
  });

  if (!isOwn) {
    it('installs the driver for it, and no other', async () => {
      const packages = await readdir(join(checkout, 'node_modules'));
      expect(packages.filter((name) => name.startsWith('better-sqlite3'))).toEqual([driver]);
    });

    it(`does the main job on ${newest}`, async () => {
      const report = join(folder, `${line}.json`);
      const files = [...DRIVER, ...MAIN_JOB];
      // `npm test` limits the time of a test; here three lines run in sequence on a busy machine.
      const flags = ['--reporter=json', `--outputFile=${report}`, '--testTimeout=120000'];
      const { stderr } = await node.run('npx', ['vitest', 'run', ...flags, ...files], { cwd: checkout });
      const { testResults, numPassedTests } = JSON.parse(await readFile(report, 'utf8').catch(() => '{}'));
      expect(testResults, stderr).toHaveLength(files.length);
      expect(failuresOf(testResults)).toEqual([]);
      expect(numPassedTests).toBeGreaterThan(100);
    });
  }

  it(`runs the demo and an audit ${ROUNDS} times on ${newest}`, async () => {
    for (let round = 0; round < ROUNDS; round++) await demoAndAudit(node, checkout);
  });

  it(`runs the demo and an audit on ${oldest}, the oldest supported version`, async () => {
    await demoAndAudit(await installNode(oldest, folder), checkout);
  });
});

describe('an unsupported version of Node', () => {
  it.each(['16.20.2', '18.20.8', '22.13.1'])(
    '%s is rejected in one line that says what to install',
    async (version) => {
      const node = await installNode(version, folder);
      expect(await node.run('node', ['bin/docket.js', 'serve'])).toEqual({
        end: 2,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`^docket: Node ${version} is not supported\\. Install Node 26, .+\\n$`),
        ),
      });
    },
  );

  it('causes a warning if it has what the driver needs, and runs if that driver is installed', async () => {
    const node = await installNode('25.9.0', folder);
    const { end, stderr } = await node.run('node', ['bin/docket.js', '--version']);
    const [warning, ...more] = stderr.trimEnd().split('\n');
    expect(warning).toMatch(/^docket: not tested on Node 25\.9\.0\. Tested: .+$/);
    // A checkout that Node 20 installed has only the other driver.
    const installed = (await readdir(join(ROOT, 'node_modules'))).includes('better-sqlite3');
    if (installed) expect([end, more]).toEqual([0, []]);
    else
      expect([end, more]).toEqual([2, [expect.stringContaining('better-sqlite3, the SQLite driver for Node 25.9.0')]]);
  });
});

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: string[];
  }[];
}

const failuresOf = (files: readonly FileReport[]): string[] =>
  files.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${name}: ${message}`];
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n').slice(0, 500)}`);
  });
