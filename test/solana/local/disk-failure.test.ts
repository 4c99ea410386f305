import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ChainStore } from '../../../src/solana/local/chain-store.ts';
import { openChain, openMarket, type TestChain } from './harness.ts';

let directory: string;
let chain: TestChain;
const failures: unknown[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'chain-'));
  chain = await openChain({ directory, slotMs: 1_000, onFailure: (error) => failures.push(error) });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await chain.close();
  rmSync(directory, { recursive: true, force: true });
});

it('a commit that the disk rejects is not acknowledged, and ends the chain’s answers', async () => {
  const { seller, payment } = await openMarket(chain);
  const first = await payment(1n);
  await chain.connection.sendRawTransaction(first);
  const second = await payment(2n);
  vi.spyOn(ChainStore.prototype, 'commit').mockImplementation(() => {
    throw new Error('disk full');
  });
  const refused = await chain.rpc('sendTransaction', second.toString('base64'), { encoding: 'base64' });
  expect(refused.error?.code).toBe(-32603);
  expect(failures).toHaveLength(1);
  expect((await chain.rpc('getBalance', seller.publicKey.toBase58())).error?.code).toBe(-32603);
  vi.restoreAllMocks();
  await chain.close();
  chain = await openChain({ directory, slotMs: 1_000 });
  expect(await chain.usdc(seller.publicKey)).toBe(1n);
});

it('a slot that cannot be saved ends nothing: the chain continues, and a restart finds every transaction', async () => {
  await chain.close();
  const told: unknown[] = [];
  const logger = { info: () => {}, warn: () => {}, error: (_details: unknown, text?: string) => told.push(text) };
  chain = await openChain({ directory, slotMs: 20, logger, onFailure: (error) => failures.push(error) });
  const before = failures.length;
  const { seller, payment } = await openMarket(chain);
  const saving = vi.spyOn(ChainStore.prototype, 'saveSlot').mockImplementation(() => {
    throw new Error('disk full');
  });
  await vi.waitFor(() => expect(saving.mock.calls.length).toBeGreaterThan(5), { timeout: 10_000 });
  await chain.connection.sendRawTransaction(await payment(1n));
  expect(await chain.usdc(seller.publicKey)).toBe(1n);
  expect([told.length, failures.length]).toEqual([1, before]);
  vi.restoreAllMocks();
  await chain.close();
  chain = await openChain({ directory, slotMs: 1_000 });
  expect(await chain.usdc(seller.publicKey)).toBe(1n);
});
