import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BLOCKHASH_LIFETIME, FINALITY_SLOTS, SlotClock } from '../../../src/solana/local/slot-clock.ts';
import { LocalChainRefused, startLocalChain } from '../../../src/solana/local/start-local-chain.ts';
import { startLocalChainWorker } from '../../../src/solana/local/start-local-chain-worker.ts';
import { openChain, openMarket, silent, type TestChain } from './harness.ts';

const seed = createHash('sha256').update('a chain').digest();

function clockAt(slot = 1_000, slotMs = 400) {
  let now = 5_000;
  const clock = new SlotClock({
    seed,
    slot,
    unixTime: 0,
    slotMs,
    monotonicMs: () => now,
    wallSeconds: () => 1_700_000_000,
  });
  return {
    clock,
    pass(milliseconds: number) {
      now += milliseconds;
      return clock.advance();
    },
  };
}

describe('slots', () => {
  it('follow the passing time, however often they are read', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 50 }), (steps) => {
        const { clock, pass } = clockAt();
        for (const step of steps) pass(step);
        const passed = steps.reduce((sum, step) => sum + step, 0);
        expect(clock.slot).toBe(1_000 + Math.floor(passed / 400));
        expect(clock.unixTime).toBe(1_700_000_000 + Math.floor(passed / 1000));
      }),
    );
  });

  it('do not jump when the process paused', () => {
    const { clock, pass } = clockAt();
    pass(3_600_000);
    expect(clock.slot).toBeLessThan(1_010);
    pass(400);
    expect(clock.slot).toBeLessThan(1_011);
  });

  it('keep a blockhash valid for 150 blocks after its own, on both sides of a restart', () => {
    const { clock, pass } = clockAt();
    const first = clock.blockhashBytes(1_000);
    while (clock.slot < 1_000 + BLOCKHASH_LIFETIME) pass(400);
    expect(clock.slotOf(first)).toBe(1_000);
    expect(clockAt(clock.slot).clock.slotOf(first)).toBe(1_000);
    pass(400);
    expect(clock.slotOf(first)).toBeNull();
    expect(clockAt(clock.slot).clock.slotOf(first)).toBeNull();
    expect(clock.slotOf(clock.blockhashBytes(clock.slot + 1))).toBeNull();
  });
});

describe('the chain over time', () => {
  let chain: TestChain | undefined;
  afterEach(async () => {
    vi.useRealTimers();
    await chain?.dispose();
    chain = undefined;
  });

  it('expires a blockhash, and reports it', async () => {
    chain = await openChain({ slotMs: 5 });
    const { payment, seller } = await openMarket(chain);
    const { blockhash, lastValidBlockHeight } = await chain.connection.getLatestBlockhash();
    const wire = await payment(1n, { blockhash });
    await vi.waitFor(
      async () => expect(await chain?.connection.getBlockHeight('processed')).toBeGreaterThan(lastValidBlockHeight),
      { timeout: 10_000, interval: 20 },
    );
    expect((await chain.connection.isBlockhashValid(blockhash)).value).toBe(false);
    const answer = await chain.rpc('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
    expect(answer.error).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } });
    expect(await chain.usdc(seller.publicKey)).toBe(0n);
    expect((await chain.rpc('getFeeForMessage', wire.subarray(65).toString('base64'))).result).toMatchObject({
      value: null,
    });
  });

  it('confirms at once and finalizes 32 slots later', async () => {
    chain = await openChain({ slotMs: 60 });
    const { payment } = await openMarket(chain);
    const signature = await chain.connection.sendRawTransaction(await payment());
    const status = async () => (await chain?.connection.getSignatureStatus(signature))?.value;
    const first = await status();
    expect(first?.confirmationStatus).toBe('confirmed');
    expect(first?.confirmations).toBeLessThan(FINALITY_SLOTS);
    const finalized = { commitment: 'finalized', maxSupportedTransactionVersion: 0 } as const;
    expect(await chain.connection.getTransaction(signature, finalized)).toBeNull();
    await vi.waitFor(async () => expect((await status())?.confirmationStatus).toBe('finalized'), { timeout: 5_000 });
    expect((await status())?.confirmations).toBeNull();
    expect(await chain.connection.getTransaction(signature, finalized)).not.toBeNull();
  });

  it('forgets a status after 300 slots, unless its history is searched', async () => {
    // A blockhash must outlive the time from asking for it to paying with it.
    chain = await openChain({ slotMs: 10 });
    const { payment } = await openMarket(chain);
    const signature = await chain.connection.sendRawTransaction(await payment());
    const slot = await chain.connection.getSlot('processed');
    await vi.waitFor(async () => expect(await chain?.connection.getSlot('processed')).toBeGreaterThan(slot + 301), {
      timeout: 10_000,
      interval: 50,
    });
    expect((await chain.connection.getSignatureStatus(signature)).value).toBeNull();
    const found = await chain.connection.getSignatureStatus(signature, { searchTransactionHistory: true });
    expect(found.value?.confirmationStatus).toBe('finalized');
  });

  it('does not follow a wall clock that is moved', async () => {
    chain = await openChain({ slotMs: 400 });
    const before = await chain.connection.getBlockHeight('processed');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 90 * 86_400_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const after = await chain.connection.getBlockHeight('processed');
    expect(after - before).toBeGreaterThanOrEqual(1);
    // Ninety days are 19 million slots.
    expect(after - before).toBeLessThan(1_000);
  });

  it('continues where it stopped: height, blockhashes, balances, history and faucet', async () => {
    chain = await openChain({ slotMs: 50 });
    const { buyer, seller, payment } = await openMarket(chain);
    const { directory } = chain;
    const wire = await payment();
    const signature = await chain.connection.sendRawTransaction(wire);
    const blockhash = await chain.blockhash();
    const height = await chain.connection.getBlockHeight('processed');
    await chain.close();

    chain = await openChain({ slotMs: 50, directory });
    const resumed = await chain.connection.getBlockHeight('processed');
    expect(resumed).toBeGreaterThanOrEqual(height);
    expect(resumed).toBeLessThan(height + 400);
    expect((await chain.connection.isBlockhashValid(blockhash)).value).toBe(true);
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);
    expect((await chain.connection.getSignatureStatus(signature)).value?.err).toBeNull();
    const again = await chain.rpc('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
    expect(again.error?.data?.err).toBe('AlreadyProcessed');
    await chain.fund(buyer.publicKey, 5, 5);
    expect(await chain.connection.getBalance(buyer.publicKey)).toBe(1_000_000_000 - 5_000 + 5);
  });

  it('is run by one process at a time', async () => {
    chain = await openChain();
    const { directory } = chain;
    await expect(startLocalChain({ directory, port: 0, logger: silent, environment: {} })).rejects.toMatchObject({
      code: 'chain_in_use',
    });
  });

  it('never starts in production', async () => {
    const options = { directory: '/nowhere', port: 0, logger: silent, environment: { NODE_ENV: 'production' } };
    await expect(startLocalChain(options)).rejects.toThrow(LocalChainRefused);
    await expect(startLocalChainWorker(options)).rejects.toThrow(LocalChainRefused);
  });

  it('gives every caller in one slot an equal gift', async () => {
    chain = await openChain();
    const { publicKey } = Keypair.generate();
    await Promise.all(Array.from({ length: 10 }, () => chain?.connection.requestAirdrop(publicKey, 1_000_000)));
    expect(await chain.connection.getBalance(publicKey)).toBe(10_000_000);
  });
});
