/** Runs our programs with a watch on the descriptors that they open. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const HOOK = fileURLToPath(new URL('../support/watch-descriptors.cjs', import.meta.url));

/** What makes a Node process report to a file. */
export const watching = (report: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--require=${JSON.stringify(HOOK)}`,
  WATCH_DESCRIPTORS: report,
});

/**
 * Which processes and threads were watched, and each descriptor of a database that they opened in addition to SQLite's.
 */
export async function reported(report: string): Promise<{ watched: string[]; opened: string[] }> {
  const lines = (await readFile(report, 'utf8')).trim().split('\n');
  return {
    watched: lines.filter((line) => line.startsWith('watching')),
    opened: lines.filter((line) => !line.startsWith('watching')),
  };
}
