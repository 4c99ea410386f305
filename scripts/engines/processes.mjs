// Runs programs and waits for what they say.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a program prints; throws with what it complains of. */
export async function output(program, args, options = {}) {
  const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024, ...options });
  return stdout;
}

/** Waits until a process has printed everything asked for; gives the first group of each pattern. */
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

/** Ends a process and waits until it is gone. */
export async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await gone;
}
