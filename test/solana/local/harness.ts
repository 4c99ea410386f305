/** A local chain in a temporary folder, over a real socket, with helpers for its tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, Keypair, type PublicKey } from '@solana/web3.js';
import {
  type LocalChain,
  type LocalChainOptions,
  startLocalChain,
} from '../../../src/solana/local/start-local-chain.ts';
import { build, memo, type Parties, tokenAccountOf, transfer } from '../payment-transactions.ts';

export const silent = { info: () => {}, warn: () => {}, error: () => {} };

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly err: unknown } };
}

export interface TestChain extends LocalChain {
  readonly connection: Connection;
  readonly directory: string;
  /** One call, with its raw answer. */
  rpc(method: string, ...params: readonly unknown[]): Promise<RpcAnswer>;
  /** Gives SOL and USDC, in lamports and base units. */
  fund(owner: PublicKey, lamports: number, usdc: number): Promise<void>;
  usdc(owner: PublicKey): Promise<bigint>;
  blockhash(): Promise<string>;
  /** Ends the chain and removes its folder. */
  dispose(): Promise<void>;
}

export async function openChain(
  options: Partial<LocalChainOptions> & { readonly keep?: boolean } = {},
): Promise<TestChain> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'chain-'));
  const chain = await startLocalChain({ port: 0, slotMs: 400, logger: silent, environment: {}, ...options, directory });
  const connection = new Connection(chain.url, 'confirmed');
  const rpc = async (method: string, ...params: readonly unknown[]): Promise<RpcAnswer> =>
    (await (await post(chain.url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).json()) as RpcAnswer;
  return {
    ...chain,
    connection,
    directory,
    rpc,
    async fund(owner, lamports, usdc) {
      if (lamports) await connection.requestAirdrop(owner, lamports);
      await rpc('requestTokenAirdrop', owner.toBase58(), usdc);
    },
    async usdc(owner) {
      return BigInt((await connection.getTokenAccountBalance(tokenAccountOf(owner))).value.amount);
    },
    blockhash: async () => (await connection.getLatestBlockhash()).blockhash,
    async dispose() {
      await chain.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export const post = (url: string, body: string, contentType = 'application/json'): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body });

/** Two funded parties, and a function that writes the transfer from one to the other. */
export async function openMarket(chain: TestChain) {
  const [buyer, seller] = [Keypair.generate(), Keypair.generate()];
  await chain.fund(buyer.publicKey, 1_000_000_000, 100_000_000);
  await chain.fund(seller.publicKey, 0, 0);
  const parties: Parties = { feePayer: buyer.publicKey, payTo: seller.publicKey };
  /** A payment that the buyer signs and pays for alone. */
  const payment = async (amount = 990_000n, more: { blockhash?: string; version?: 'legacy' | 0 } = {}) =>
    build({
      instructions: [transfer(parties, buyer.publicKey, { amount }), memo()],
      payer: buyer.publicKey,
      signers: [buyer],
      blockhash: await chain.blockhash(),
      ...more,
    });
  return { buyer, seller, parties, payment };
}
