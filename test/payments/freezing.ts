/** Freezes a token account as the issuer of USDC can: with a real transaction of the mint's freeze authority. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createFreezeAccountInstruction } from '@solana/spl-token';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { build, MINT, tokenAccountOf } from '../solana/payment-transactions.ts';
import { until } from './steering.ts';
import type { World } from './world.ts';

/** In another process: this one has the chain open, and would lose its locks if it opened the file itself. */
const cp = (from: string, to: string) => promisify(execFile)('cp', [from, to]);

/** The key behind the local chain's faucet, which issues its USDC. The chain locks its file, so a copy is read. */
async function issuerOf({ directory }: World): Promise<Keypair> {
  const copy = await mkdtemp(join(tmpdir(), 'issuer-'));
  try {
    const file = join(copy, 'local-chain.sqlite');
    for (const end of ['', '-wal']) {
      await cp(join(directory, 'chain', `local-chain.sqlite${end}`), `${file}${end}`).catch(() => undefined);
    }
    const database = new Database(file);
    const { seed } = database.prepare('SELECT faucet_seed AS seed FROM chain').get() as { seed: Buffer };
    database.close();
    return Keypair.fromSeed(seed);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Resolves once the owner's USDC account is frozen on the chain. */
export async function freeze(world: World, owner: PublicKey): Promise<void> {
  const issuer = await issuerOf(world);
  const wire = build({
    instructions: [createFreezeAccountInstruction(tokenAccountOf(owner), MINT, issuer.publicKey)],
    payer: issuer.publicKey,
    signers: [issuer],
    blockhash: await world.rpc.latestBlockhash(),
  });
  const signature = await world.rpc.call<string>('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
  await until(
    () => world.chain.signatureStatus(signature),
    (status) => status !== null && status.commitment !== 'processed',
  );
}
