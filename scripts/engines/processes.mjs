// Runs programs and waits for their output.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns the output of a program; throws with its error output if it fails. */
export async function output(program, args, options = {}) {
  const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024, ...options });
  return stdout;
}

/** Waits until a process has printed a match for every pattern; returns the first group of each. */
export function started(child, ...patterns) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code} before it was ready`)));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = patterns.map((pattern) => pattern.exec(text)?.[1]);
      if (found.every((value) => value !== undefined)) resolve(found);
    });
  });
}

/** Ends a process and waits for its exit. */
export async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await gone;
}
