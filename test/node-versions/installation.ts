/**
 * Other versions of Node than the one that runs the tests, and copies of this checkout that are installed with them.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly end: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeInstallation {
  readonly version: string;
  /** Runs a program with this version of Node first in the PATH. Never rejects. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ended>;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Downloads a version of Node from the package registry.
 * @param folder where the versions are kept, each in its own folder
 */
export async function installNode(version: string, folder: string): Promise<NodeInstallation> {
  const at = join(folder, version);
  await mkdir(at, { recursive: true });
  const name = `node-${process.platform}-${process.arch}`;
  // Directly the package with the binary: the package `node` finds it with its own script.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  const installed = await run('npm', ['install', '--prefix', at, ...flags, `${name}@${version}`], { cwd: at });
  if (installed.end !== 0) throw new Error(`Node ${version} could not be downloaded: ${installed.stderr}`);
  const home = join(at, 'node_modules', name);
  const environment = {
    PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}`,
    // An addon that is compiled needs the headers of this version.
    npm_config_nodedir: home,
  };
  return {
    version,
    run: (program, args, options = {}) => run(program, args, { ...options, env: { ...environment, ...options.env } }),
  };
}

/** What is not part of a clone: the entries of .gitignore that a used checkout has. */
const NOT_COPIED = /^(\.git|node_modules|dist(\..*)?|data|audit-me|coverage|wallet\.json|\.env|.*\.log)$/;

/** Copies what a clone of this checkout would contain, including uncommitted changes, and installs it. */
export async function installCheckout(node: NodeInstallation, folder: string): Promise<void> {
  await mkdir(folder);
  for (const name of await readdir(ROOT)) {
    if (!NOT_COPIED.test(name)) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const installed = await node.run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
    env: { JOBS: String(availableParallelism()) },
  });
  if (installed.end !== 0) throw new Error(`npm ci on Node ${node.version}: ${installed.stderr}`);
}

function run(program: string, args: readonly string[], { cwd = ROOT, env = {} }: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...inherited(), ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      const end = error ? (error.signal ?? (typeof error.code === 'number' ? error.code : 1)) : 0;
      // A program that could not be started has written nothing.
      resolve({ end, stdout, stderr: stderr || (error?.message ?? '') });
    });
  });
}

/** Without the variables that npm and vitest set for the surrounding run. */
function inherited(): NodeJS.ProcessEnv {
  const own = /^(npm_|VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
