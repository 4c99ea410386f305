/** Printed samples as a reader would use them: copied from a page and run by Node in a folder with a wallet. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Keypair } from '@solana/web3.js';
import { type GuideName, guideText } from '../../src/http/docs/guides.ts';
import { NETWORKS } from '../../src/solana/addresses.ts';
import type { World } from '../payments/world.ts';

const CLIENTS = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
export const OUR_MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The one sample that imports this package, from docs/clients.md unless another text is given. */
export const sampleWith = (packageName: string, text = CLIENTS): string =>
  theSample(text, 'js', `from '${packageName}`);

/** The one sample for Python that imports this name, from docs/clients.md unless another text is given. */
export const pythonSampleWith = (imported: string, text = CLIENTS): string =>
  theSample(text, 'py', `import ${imported}\n`);

function theSample(text: string, language: string, holding: string): string {
  const found = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, written, code]) => written === language && code?.includes(holding))
    .map(([, , code]) => code as string);
  if (found.length !== 1) throw new Error(`found ${found.length} samples in ${language} with ${holding}`);
  return found[0] as string;
}

/** A guide of the documentation, as a service at this address shows it. */
export const guideOf = (name: GuideName, publicUrl: string, localRpcUrl: string | null): string =>
  guideText(name, { publicUrl, localRpcUrl, network: NETWORKS.local });

/** Runs a sample against this world. Only its two addresses are changed. @returns its output */
export async function runSample(code: string, world: World, wallet: Keypair, modules = OUR_MODULES): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sample-'));
  try {
    await symlink(modules, join(directory, 'node_modules'));
    await writeFile(join(directory, 'wallet.json'), JSON.stringify([...wallet.secretKey]));
    const here = code.replaceAll('http://127.0.0.1:8402', world.url).replaceAll('http://127.0.0.1:8899', world.rpcUrl);
    await writeFile(join(directory, 'sample.mjs'), here);
    const { stdout } = await promisify(execFile)(process.execPath, ['sample.mjs'], { cwd: directory, timeout: 60_000 });
    return stdout;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
