/**
 * Prometheus's own checker. Where it is not installed, tests that need it are skipped with a note; in CI
 * (`CI=true`) they fail instead, so that a missing package cannot hide them.
 */
import { spawnSync } from 'node:child_process';

const found = spawnSync('promtool', ['--version'], { encoding: 'utf8' });
const isMissing = found.error !== undefined;

if (isMissing && process.env.CI === 'true') throw new Error('promtool is missing: install the package prometheus');
if (isMissing) console.warn('promtool is not installed (package prometheus): its checks are skipped');

export const promtool = {
  isMissing,
  /** @returns the exit code, and everything that it printed */
  run(args: readonly string[], input?: string): { readonly code: number | null; readonly output: string } {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
    return { code: status, output: stdout + stderr };
  },
};
