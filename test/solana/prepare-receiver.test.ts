import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/solana/addresses.ts';
import type { Chain } from '../../src/solana/chain.ts';
import { createFaucetClient, type FaucetClient, NoFaucet } from '../../src/solana/faucet-client.ts';
import { checkReceiver, MOST_FEE_LAMPORTS, prepareLocalReceiver } from '../../src/solana/prepare-receiver.ts';
import { createRpcChain } from '../../src/solana/rpc-chain.ts';
import { openFaultyRpc } from './faulty-rpc.ts';
import { openChain, silent, type TestChain } from './local/harness.ts';
import { tokenAccountOf } from './payment-transactions.ts';

let local: TestChain;
let chain: Chain & { close(): void };
let faucet: FaucetClient;
beforeAll(async () => {
  local = await openChain({ slotMs: 100 });
  chain = createRpcChain({ urls: [local.url], logger: silent });
  faucet = createFaucetClient(local.url);
});
afterAll(async () => {
  chain.close();
  faucet.close();
  await local.dispose();
});

const newReceiver = () => {
  const [payTo, feePayer] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const receiver = { payTo: payTo.toBase58(), feePayer: feePayer.toBase58(), mint: NETWORKS.local.usdcMint };
  return { payTo, feePayer, receiver };
};

describe('what is missing for a receiver', () => {
  it('is named, part by part', async () => {
    const { payTo, feePayer, receiver } = newReceiver();
    const nothing = await checkReceiver(chain, receiver);
    expect(nothing).toEqual({
      feePayerLamports: 0n,
      feePayerCanPay: false,
      feePayerLow: true,
      tokenAccount: tokenAccountOf(payTo).toBase58(),
      tokenAccountExists: false,
      tokenAmount: 0n,
      missing: ['fee_payer_funds', 'token_account'],
    });
    await faucet.giveSol(feePayer.toBase58(), 890_880n + MOST_FEE_LAMPORTS - 1n);
    expect((await checkReceiver(chain, receiver)).missing).toContain('fee_payer_funds');
    await faucet.giveSol(feePayer.toBase58(), 1n);
    expect(await checkReceiver(chain, receiver)).toMatchObject({ missing: ['token_account'], feePayerLow: true });
  });

  it('is created on the local chain, once', async () => {
    const { payTo, feePayer, receiver } = newReceiver();
    expect(await prepareLocalReceiver(chain, faucet, receiver)).toMatchObject({ missing: [], feePayerLow: false });
    const balance = await local.connection.getBalance(feePayer);
    await prepareLocalReceiver(chain, faucet, receiver);
    expect(await local.connection.getBalance(feePayer)).toBe(balance);
    expect(await local.usdc(payTo)).toBe(0n);
  });

  it('is not created on a chain without our faucet', async () => {
    const other = await openFaultyRpc(local.url, ({ method }) =>
      method === 'requestTokenAirdrop' ? { type: 'error', code: -32601 } : { type: 'pass' },
    );
    const there = createFaucetClient(other.url);
    await expect(prepareLocalReceiver(chain, there, newReceiver().receiver)).rejects.toThrow(NoFaucet);
    there.close();
    await other.close();
  });
});
