/** The three clients of x402, unmodified, at one address, all at once. */
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, read, type World } from '../payments/world.ts';
import { build, memo, transfer } from '../solana/payment-transactions.ts';
import { guideOf, runSample, sampleWith } from './printed-samples.ts';
import { type InstalledClient, installX402V1Client, loadX402V1Client, type X402V1Client } from './x402-v1-client.ts';

let world: World;
let installed: InstalledClient;
beforeAll(async () => {
  installed = await installX402V1Client();
  world = await openWorld();
}, 300_000);
afterAll(() => world.close());

async function agentV1({ createSigner, wrapFetchWithPayment }: X402V1Client, wallet: Keypair) {
  const signer = await createSigner('solana-devnet', bs58.encode(wallet.secretKey));
  return wrapFetchWithPayment(fetch, signer, 60_000_000n, undefined, { svmConfig: { rpcUrl: world.rpcUrl } });
}

/** A wallet that signs a transfer by hand, using only the terms. */
async function selfPaid(wallet: Keypair, url: string): Promise<Response> {
  const asked = await fetch(url);
  const { extra } = JSON.parse(asked.headers.get('x-payment-requirements')!);
  const wire = build({
    instructions: [transfer(world.parties, wallet.publicKey), memo(extra.memo)],
    payer: wallet.publicKey,
    signers: [wallet],
    blockhash: extra.recentBlockhash,
    version: 'legacy',
  });
  return fetch(url, { headers: { 'x402-payment': wire.toString('base64') } });
}

describe('x402-fetch, the client of x402 v1, unmodified', () => {
  it('buys for exactly 0.99 and reads its receipt', async (context) => {
    if ('missing' in installed) return context.skip(installed.missing);
    const wallet = await world.wallet();
    const pay = await agentV1(await loadX402V1Client(installed.directory), wallet);
    const { result, spent } = await world.moved(wallet, async () => read(await pay(`${world.url}/v2/case?q=first`)));
    expect([result.status, spent, result.json.answer]).toEqual([200, 990_000n, `for ${wallet.publicKey}`]);
    const receipt = JSON.parse(Buffer.from(result.headers.get('x-payment-response')!, 'base64').toString());
    expect(receipt).toMatchObject({ success: true, network: 'solana-devnet', payer: wallet.publicKey.toBase58() });
    expect(await world.chain.signatureStatus(receipt.transaction)).toMatchObject({ error: null });
  });

  it('buys from version 1 of the API, whose 402 has no meta', async (context) => {
    if ('missing' in installed) return context.skip(installed.missing);
    const wallet = await world.wallet();
    const pay = await agentV1(await loadX402V1Client(installed.directory), wallet);
    const { result, spent } = await world.moved(wallet, async () => read(await pay(`${world.url}/v1/case?q=first`)));
    expect([result.status, spent, result.json.answer]).toEqual([200, 990_000n, `for ${wallet.publicKey}`]);
    expect(result.headers.get('sunset')).toBeTruthy();
  });

  it('buys with the sample of docs/clients.md', async (context) => {
    if ('missing' in installed) return context.skip(installed.missing);
    const wallet = await world.wallet();
    const modules = join(installed.directory, 'node_modules');
    const { result, spent } = await world.moved(wallet, () =>
      runSample(sampleWith('x402-fetch'), world, wallet, modules),
    );
    expect([spent, result.includes(wallet.publicKey.toBase58())]).toEqual([990_000n, true]);
  });

  it('buys as the documentation says', async (context) => {
    if ('missing' in installed) return context.skip(installed.missing);
    const wallet = await world.wallet();
    const sample = sampleWith('x402-fetch', guideOf('payments', world.url, world.rpcUrl));
    const modules = join(installed.directory, 'node_modules');
    const { result, spent } = await world.moved(wallet, () => runSample(sample, world, wallet, modules));
    expect([spent, result.includes(wallet.publicKey.toBase58())]).toEqual([990_000n, true]);
  });

  it('buys from the same address as @x402/fetch and a hand-signed transfer, interleaved', async (context) => {
    if ('missing' in installed) return context.skip(installed.missing);
    const v1 = await loadX402V1Client(installed.directory);
    const wallets = await Promise.all(Array.from({ length: 3 }, () => world.wallet(20_000_000n)));
    const [first, second, alone] = wallets as [Keypair, Keypair, Keypair];
    const [payFirst, paySecond] = [await agentV1(v1, first), await world.agent(second)];
    const before = await world.tokens(world.parties.payTo);
    const rounds = 5;
    const buyers = [payFirst, paySecond, (url: string) => selfPaid(alone, url)];
    const answers: number[] = [];
    await Promise.all(
      buyers.map(async (buy, client) => {
        for (let round = 0; round < rounds; round++) {
          // Clients of x402 v1 add no memo: a second call within one blockhash would be the same transaction.
          if (client === 0 && round > 0) await new Promise((resolve) => setTimeout(resolve, 1_200));
          answers.push((await read(await buy(`${world.url}/v2/case?q=round-${round}`))).status);
        }
      }),
    );
    expect(answers).toEqual(Array<number>(3 * rounds).fill(200));
    expect((await world.tokens(world.parties.payTo)) - before).toBe(990_000n * BigInt(3 * rounds));
    for (const { publicKey } of wallets) expect(await world.tokens(publicKey)).toBe(20_000_000n - 990_000n * 5n);
  });
});
