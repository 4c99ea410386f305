/** One transaction as each kind of client sends it. */
import type { Keypair } from '@solana/web3.js';
import { type build, selfPaid, sponsored } from '../solana/payment-transactions.ts';
import type { World } from './world.ts';

export type Headers = Record<string, string>;

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

const first = (wire: Buffer, network: string) => ({
  x402Version: 1,
  scheme: 'exact',
  network,
  payload: { transaction: wire.toString('base64') },
});

export const v1 = (wire: Buffer, network = 'solana-devnet'): Headers => ({
  'x-payment': encoded(first(wire, network)),
});

export interface Dialect {
  readonly name: string;
  /** A valid transaction of this dialect, or one with other instructions. */
  build(world: World, wallet: Keypair, over?: Partial<Parameters<typeof build>[0]>): Buffer;
  headers(world: World, wire: Buffer, network?: string): Headers;
}

const fresh = (world: World) => ({ blockhash: world.blockhashes.latest()!.blockhash });

/** All dialects; a self-paid transfer comes bare or wrapped. */
export const DIALECTS: readonly Dialect[] = [
  {
    name: 'x402 v2',
    build: (world, wallet, over) => sponsored(world.parties, wallet, { ...fresh(world), ...over }),
    headers: (world, wire, network) => world.header(wire, network ? { network } : {}),
  },
  {
    name: 'x402 v1',
    build: (world, wallet, over) => sponsored(world.parties, wallet, { ...fresh(world), ...over }),
    headers: (_world, wire, network) => v1(wire, network),
  },
  {
    name: 'a self-paid transfer',
    build: (world, wallet, over) => selfPaid(world.parties, wallet, { ...fresh(world), ...over }),
    headers: (_world, wire) => ({ 'x402-payment': wire.toString('base64') }),
  },
  {
    name: 'a self-paid transfer, wrapped',
    build: (world, wallet, over) => selfPaid(world.parties, wallet, { ...fresh(world), ...over }),
    headers: (_world, wire, network = 'solana-devnet') => ({ 'x402-payment': encoded(first(wire, network)) }),
  },
];
