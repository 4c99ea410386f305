/** Real processes for tests that kill: the service and the chain, each alone, as an operator runs them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export const DOCKET = fileURLToPath(new URL('../../bin/docket.js', import.meta.url));

/**
 * Below the ports that systems give to connections and to servers without a port of their own: none of those can take it
 * before the test does, or while a killed process is started again. Each process of the tests begins elsewhere.
 */
const [FIRST_PORT, PORTS] = [11_000, 20_000];
let nextPort = randomInt(PORTS);

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    const port = FIRST_PORT + (nextPort++ % PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

/** Characters of its output. */
const MOST_KEPT = 1_000_000;

export interface RunningProcess {
  readonly child: ChildProcess;
  /** What it has written to stdout and stderr so far; only the newest part if there is much. */
  output(): string;
  /** How much it has written so far, for `outputSince`. */
  written(): number;
  /** What it has written since then. */
  outputSince(written: number): string;
  /** Ends it immediately. */
  kill(): Promise<void>;
  /** Asks it to end; returns its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Runs `docket …` in its own process. The project must be built.
 * @param within a command that runs the one that follows it, e.g. on another disk
 */
export function spawnDocket(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  within: readonly string[] = [],
): RunningProcess {
  if (!existsSync(fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)))) {
    throw new Error('this test runs the built service: npm run build first');
  }
  const [command = process.execPath, ...rest] = [...within, process.execPath, DOCKET, ...args];
  const child = spawn(command, rest, {
    env: { ...process.env, NODE_ENV: 'test', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let written = 0;
  const keep = (part: Buffer) => {
    const more = part.toString();
    written += more.length;
    text = (text + more).slice(-MOST_KEPT);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await exited;
    }
  };
  return {
    child,
    output: () => text,
    written: () => written,
    outputSince: (mark) => text.slice(Math.max(0, text.length - (written - mark))),
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM');
      return child.exitCode;
    },
  };
}

/** Waits until a condition holds; fails with the process's output if it ended or time ran out. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  { process: running, within = 30_000, every = 25 }: { process?: RunningProcess; within?: number; every?: number } = {},
): Promise<void> {
  const began = performance.now();
  for (;;) {
    if (await condition().catch(() => false)) return;
    const ended = running && (running.child.exitCode !== null || running.child.signalCode !== null);
    if (ended || performance.now() - began > within) {
      throw new Error(
        `${what}: ${ended ? 'the process ended' : `not within ${within} ms`}\n${running?.output() ?? ''}`,
      );
    }
    await new Promise((done) => setTimeout(done, every));
  }
}
