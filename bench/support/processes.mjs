/** The processes that a benchmark measures: started alone, watched, and ended by process id. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export const DOCKET = fileURLToPath(new URL('../../bin/docket.js', import.meta.url));

/** The node options with which `npm start` runs the service. A rival that is a server gets the same. */
export const SERVER_OPTIONS = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).scripts.start.match(/--\S+/g);

/** Linux counts processor time in ticks of 10 ms, independently of the kernel's timer. */
const MILLISECONDS_PER_TICK = 10;

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts `node …`. Its environment is only what the caller passes and what locates programs, so that no shell variable
 * changes one side only.
 * @param args arguments of node, the script first
 */
export function startNode(args, environment = {}) {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (part) => {
    output = (output + part).slice(-20_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  // Not `exit`: its last output may arrive after that.
  const exited = once(child, 'close');
  const running = () => child.exitCode === null && child.signalCode === null;
  // A benchmark that is interrupted leaves nothing running.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('close', () => process.off('exit', endWithUs));
  return {
    pid: child.pid,
    running,
    /** The end of its output. */
    output: () => output,
    /** Resolves with its exit code. */
    ended: async () => {
      await exited;
      return child.exitCode;
    },
    /** Asks it to end, and kills it after ten seconds. */
    stop: async () => {
      if (!running()) return;
      child.kill('SIGTERM');
      const insist = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(insist);
    },
  };
}

/** Runs `node …` to its end and returns its output. @throws Error with that text if it fails */
export async function runNode(args, environment) {
  const started = startNode(args, environment);
  const code = await started.ended();
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}:\n${started.output()}`);
  return started.output();
}

/** Waits until a condition holds. @throws Error with the process's last output if it ended or the time ran out */
export async function until(what, condition, { process: watched, within = 30_000 } = {}) {
  const began = performance.now();
  while (!(await condition().catch(() => false))) {
    if (watched && !watched.running()) {
      await watched.ended();
      throw new Error(`${what}: the process ended\n${watched.output()}`);
    }
    if (performance.now() - began > within) throw new Error(`${what}: not within ${within} ms\n${watched?.output()}`);
    await pause(25);
  }
}

/** Processor time that a process has used, in ms, user and system together; null where /proc does not show it. */
export function processorTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the command's name, may contain spaces: count from after its closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_PER_TICK;
  } catch {
    return null;
  }
}

/** The peak memory of a running process, in bytes; null once it has ended, or where /proc does not show it. */
export function peakMemory(pid) {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}
