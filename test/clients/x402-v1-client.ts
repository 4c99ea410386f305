/**
 * `x402-fetch`, the reference client of x402 v1, as its users have it: installed from the registry, for tests alone and
 * outside of the project, since what it brings along is ten times as much as the service itself.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const RECIPE = fileURLToPath(new URL('./x402-v1/', import.meta.url));
const INSTALL_MS = 240_000;

export type InstalledClient =
  /** The folder whose `node_modules` has it. */
  { readonly directory: string } | { readonly missing: string };

/** Installs it once for each state of its lock file; later calls find it there. */
export async function installX402V1Client(): Promise<InstalledClient> {
  const lock = readFileSync(join(RECIPE, 'package-lock.json'));
  const directory = join(tmpdir(), `x402-v1-client-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  if (existsSync(directory)) return { directory };
  const partial = await mkdtemp(join(tmpdir(), 'x402-v1-client-'));
  try {
    await cp(RECIPE, partial, { recursive: true });
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'], {
      cwd: partial,
      timeout: INSTALL_MS,
    });
    await rename(partial, directory);
    return { directory };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another run was faster.
    if (existsSync(directory)) return { directory };
    const said = (error as { stderr?: string }).stderr || String(error);
    return { missing: `x402-fetch could not be installed: ${said.trim().split('\n')[0]}` };
  }
}

export interface X402V1Client {
  createSigner(network: string, secretKey: string): Promise<unknown>;
  wrapFetchWithPayment(
    fetch: typeof globalThis.fetch,
    signer: unknown,
    mostBaseUnits: bigint,
    select: undefined,
    config: { readonly svmConfig: { readonly rpcUrl: string } },
  ): typeof globalThis.fetch;
}

export const loadX402V1Client = async (directory: string): Promise<X402V1Client> =>
  import(pathToFileURL(join(directory, 'node_modules/x402-fetch/dist/esm/index.mjs')).href);
