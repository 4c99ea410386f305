// Compiles src into a new folder and swaps it with dist: no output of a deleted source remains, and a failed build
// keeps the last good one.
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const [output, fresh, previous] = ['dist', `dist.${process.pid}.new`, `dist.${process.pid}.old`].map((name) =>
  join(root, name),
);

const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh], {
  cwd: root,
  stdio: 'inherit',
});
if (status === 0) {
  try {
    renameSync(output, previous);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(fresh, output);
}
for (const left of [fresh, previous]) rmSync(left, { recursive: true, force: true });
process.exit(status ?? 1);
