/**
 * Third-party npm programs as their users have them: installed from the registry, for tests only and outside of the
 * project.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const INSTALL_MS = 280_000;

/**
 * Installs what a folder's lock file names, once for each state of that file; later calls reuse it.
 * @param options further ones for `npm ci`
 * @returns the folder whose `node_modules` contains it
 * @throws Error with npm's message
 */
export async function installRecipe(name: string, recipe: string, options: readonly string[] = []): Promise<string> {
  const lock = readFileSync(join(recipe, 'package-lock.json'));
  const directory = join(tmpdir(), `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  if (existsSync(directory)) return directory;
  const partial = await mkdtemp(join(tmpdir(), `${name}-`));
  try {
    await cp(recipe, partial, { recursive: true });
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', ...options], {
      cwd: partial,
      timeout: INSTALL_MS,
    });
    await rename(partial, directory);
    return directory;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another run installed it first.
    if (existsSync(directory)) return directory;
    const said = (error as { stderr?: string }).stderr || String(error);
    throw new Error(`${name} could not be installed: ${said.trim().split('\n')[0]}`);
  }
}
