/**
 * `x402-fetch`, the reference client of x402 v1, as its users have it: installed from the registry, for tests only and
 * outside of the project, since its dependencies are ten times the size of the service.
 */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installRecipe } from './install-recipe.ts';

const RECIPE = fileURLToPath(new URL('./x402-v1/', import.meta.url));

export type InstalledClient =
  /** The folder whose `node_modules` contains it. */
  { readonly directory: string } | { readonly missing: string };

/**
 * Installs it once for each state of its lock file; a failure is returned as a value, so that tests can skip and report
 * it.
 */
export async function installX402V1Client(): Promise<InstalledClient> {
  try {
    return { directory: await installRecipe('x402-v1-client', RECIPE, ['--omit=optional']) };
  } catch (error) {
    return { missing: (error as Error).message };
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
