// Creates a Python with the packages of a requirements file and prints its path: node environment.mjs REQUIREMENTS
// Created once per version of the file, in the folder for temporary files; later calls reuse it.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 300_000;

/**
 * @param {string} requirements path of a file that pins every package
 * @returns {Promise<string>} path of the interpreter
 * @throws Error with the error output of pip or venv
 */
export async function pythonWith(requirements) {
  const python = process.env.PYTHON ?? 'python3';
  // A virtual environment refers to its interpreter and cannot be moved, so each Python has its own folder.
  const { stdout: version } = await run(python, ['-c', 'import sys; print(sys.executable, sys.version)']);
  const state = createHash('sha256').update(version).update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const finished = join(tmpdir(), `docket-python-${state}`);
  if (existsSync(finished)) return join(finished, 'bin/python');
  const directory = `${finished}-${process.pid}`;
  try {
    await run(python, ['-m', 'venv', directory], { timeout: INSTALL_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
    await run(join(directory, 'bin/python'), [...pip, '-r', requirements], {
      timeout: INSTALL_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    await symlink(directory, `${directory}.link`);
    await rename(`${directory}.link`, finished);
    return join(finished, 'bin/python');
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    const said = (error.stderr || String(error)).trim().split('\n');
    throw new Error(`the packages of ${requirements} could not be installed: ${said.slice(-3).join(' ')}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [requirements] = process.argv.slice(2);
  if (requirements === undefined) {
    console.error('usage: node environment.mjs REQUIREMENTS');
    process.exit(2);
  }
  try {
    console.log(await pythonWith(requirements));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
