/**
 * Prometheus's own checker. Where it is not installed, tests that need it are skipped with a note; in CI
 * (`CI=true`) they fail instead, so that a missing package cannot hide them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const isMissing = spawnSync('promtool', ['--version']).error !== undefined;

if (isMissing && process.env.CI === 'true') throw new Error('promtool is missing: install the package prometheus');
if (isMissing) console.warn('promtool is not installed (package prometheus): its checks are skipped');

export const promtool = {
  isMissing,
  /** @returns the exit code, and everything that it printed */
  async run(args: readonly string[], input = ''): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn('promtool', args, { stdio: 'pipe' });
    // It may end without reading.
    child.stdin.on('error', () => undefined).end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, output: stdout + stderr };
  },
};
