/**
 * Runs two linters and three client generators, unmodified, on the published document. Each client buys from the
 * service.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../../http/world.ts';
import { installRecipe } from '../install-recipe.ts';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ENVIRONMENT = at('../../../scripts/python/environment.mjs');

/**
 * What each client reads: a batch of the sandbox, one case, and a batch that is charged in full though one query fails.
 */
const BOUGHT = {
  sandbox: [{ status: 'success', caseName: expect.stringMatching(/./) }],
  caseName: 'Meadow v. Lantern Works',
  batch: [
    { status: 'success', caseName: 'Meadow v. Lantern Works' },
    { status: 'error', code: 'case_not_found', charged: true },
  ],
};
const COST = 3n * 990_000n;

let world: World;
let directory: string;
let python: string;
beforeAll(async () => {
  // Never skipped: if a generator cannot be installed, the test did not run.
  const recipe = at('./recipe/');
  const installed = await installRecipe('openapi-clients', recipe);
  python = (await run(process.execPath, [ENVIRONMENT, join(recipe, 'requirements.txt')])).stdout.trim();
  world = await openWorld();
  await world.importDocket({
    court_id: 'cand',
    docket_number: '3:24-cv-00042',
    case_name: 'Meadow v. Lantern Works',
    date_filed: '2024-01-08',
    docket_entries: [{ document_number: 1, date_filed: '2024-01-08', description: 'COMPLAINT filed by Meadow.' }],
  });
  directory = await mkdtemp(join(tmpdir(), 'generated-clients-'));
  await cp(at('./consumers/'), directory, { recursive: true });
  for (const file of ['redocly.yaml', 'spectral.yaml']) await cp(join(recipe, file), join(directory, file));
  await symlink(join(installed, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{}');
  await writeFile(join(directory, 'openapi.json'), JSON.stringify(await published()));
}, 600_000);
afterAll(async () => {
  await world?.close();
  if (directory) await rm(directory, { recursive: true, force: true });
});

/** The document as the running service publishes it. */
async function published() {
  return (await (await fetch(`${world.url}/openapi.json`)).json()) as Document;
}

interface Document {
  readonly components: { readonly schemas: Record<'BatchResult' | 'BatchFailure', Schema> };
}
interface Schema {
  type: string;
  readonly discriminator: { readonly propertyName: string; readonly mapping: Record<string, string> };
}

/** Runs a program of the recipe, or of the Python environment. @throws Error with its output if it fails */
async function program(name: string, ...args: readonly string[]): Promise<string> {
  const path = [join(directory, 'node_modules/.bin'), dirname(python), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    const { stdout } = await run(name, args, { cwd: directory, env, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${name} failed: ${`${stdout}${stderr}`.slice(-4_000) || String(error)}`);
  }
}

async function spentBy<T>(wallet: Keypair, work: () => Promise<T>) {
  const before = await world.balance(wallet);
  const result = await work();
  return { result, spent: before - (await world.balance(wallet)) };
}

const linters = {
  redocly: (file: string) => program('redocly', 'lint', file, '--format=json'),
  spectral: (file: string) =>
    program('spectral', 'lint', file, '--ruleset=spectral.yaml', '--fail-severity=hint', '--format=json', '--quiet'),
};

describe('the OpenAPI document', () => {
  it('passes redocly lint with its strict rules', async () => {
    const { totals, problems } = JSON.parse(await linters.redocly('openapi.json'));
    expect([problems, totals.errors, totals.warnings]).toEqual([[], 0, 0]);
  });

  it('passes spectral lint', async () => {
    expect(JSON.parse((await linters.spectral('openapi.json')) || '[]')).toEqual([]);
  });

  it.each(Object.entries(linters))('with an invalid schema fails %s', async (name, lint) => {
    const broken = await published();
    broken.components.schemas.BatchFailure.type = 'record';
    await writeFile(join(directory, `broken-for-${name}.json`), JSON.stringify(broken));
    await expect(lint(`broken-for-${name}.json`)).rejects.toThrow(/BatchFailure/);
  });

  it('names the variant of an entry by a discriminator', async () => {
    const { BatchResult } = (await published()).components.schemas;
    const { propertyName, mapping } = BatchResult.discriminator;
    const named = BOUGHT.batch.map((entry) => mapping[(entry as Record<string, unknown>)[propertyName] as string]);
    expect(named).toEqual(['#/components/schemas/BatchSuccess', '#/components/schemas/BatchFailure']);
  });
});

describe('a generated client compiles, reads both entries of a batch, and buys', () => {
  /** Compiles one of the consumers in strict mode against the generated code, and loads it. */
  async function compiled(consumer: string): Promise<(url: string, pay: typeof fetch) => Promise<unknown>> {
    const out = join(directory, 'compiled', consumer);
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    await program('tsc', ...options, '--rootDir', '.', '--outDir', out, `${consumer}.ts`);
    return createRequire(import.meta.url)(join(out, `${consumer}.js`)).use;
  }

  it.each<[string, () => Promise<unknown>]>([
    [
      'openapi-typescript',
      () => program('openapi-typescript', 'openapi.json', '--output', 'generated/openapi-typescript.ts'),
    ],
    [
      'hey-api',
      () => program('openapi-ts', '--input', 'openapi.json', '--output', 'generated/hey-api', '--no-log-file'),
    ],
  ])('of %s', async (generator, generate) => {
    await generate();
    const use = await compiled(generator);
    const wallet = await world.wallet();
    const pay = await world.agentOf(wallet, fetch, '$2');
    const { result, spent } = await spentBy(wallet, () => use(world.url, pay));
    expect([result, spent]).toEqual([BOUGHT, COST]);
  });

  it('of openapi-python-client', async () => {
    const output = ['--meta', 'none', '--output-path', 'docket_monitor_client'];
    await program('openapi-python-client', 'generate', '--path', 'openapi.json', ...output);
    await program('mypy', '--strict', '--follow-imports=silent', 'consumer.py');
    const wallet = await world.wallet();
    await writeFile(join(directory, 'wallet.json'), JSON.stringify([...wallet.secretKey]));
    const { result, spent } = await spentBy(wallet, () => program(python, 'consumer.py', world.url, world.rpcUrl));
    expect([JSON.parse(result), spent]).toEqual([BOUGHT, COST]);
  });
});
