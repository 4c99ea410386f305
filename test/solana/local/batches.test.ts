import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChainStore } from '../../../src/solana/local/chain-store.ts';
import { MINT, tokenAccountOf } from '../payment-transactions.ts';
import { openChain, openMarket, post, type RpcAnswer, type TestChain } from './harness.ts';

let chain: TestChain;
beforeAll(async () => {
  // The current slot outlasts the tests, so that the same call has the same answer.
  chain = await openChain({ slotMs: 60_000 });
});
afterAll(() => chain.dispose());

interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}
type Answer = RpcAnswer & { readonly id: unknown };

const ask = async (body: unknown, url = chain.url) => (await post(url, JSON.stringify(body))).json();
const batch = async (calls: readonly Call[], url = chain.url) =>
  (await ask(
    calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })),
    url,
  )) as Answer[];

const base64 = { encoding: 'base64' };
const send = (wire: Buffer): Call => ({ method: 'sendTransaction', params: [wire.toString('base64'), base64] });
const simulate = (wire: Buffer): Call => ({
  method: 'simulateTransaction',
  params: [wire.toString('base64'), { ...base64, sigVerify: true }],
});
const nameOf = (wire: Buffer) => bs58.encode(wire.subarray(1, 65));

describe('a batch', () => {
  it('gives each call its own answer, and an error affects no other call', async () => {
    const { seller, payment } = await openMarket(chain);
    const [good, other, short] = [await payment(1n), await payment(2n), await payment(10n ** 12n)];
    const expired = await payment(1n, { blockhash: Keypair.generate().publicKey.toBase58() });
    const forged = Buffer.from(good);
    forged.writeUInt8(forged.readUInt8(10) ^ 1, 10);
    const answers = await batch([
      send(short),
      send(good),
      { method: 'getNothing' },
      send(expired),
      send(forged),
      { method: 'sendTransaction', params: ['!', base64] },
      simulate(short),
      simulate(forged),
      { method: 'getBalance', params: [{}] },
      { method: 'getSlot', params: [{ minContextSlot: 10 ** 9 }] },
      send(other),
    ]);
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const [tooShort, , , late, , , foreseen] = answers;
    expect(answers.map(({ error }) => error?.code ?? null)).toEqual([
      ...[-32002, null, -32601, -32002, -32003],
      ...[-32602, null, -32003, -32602, -32016, null],
    ]);
    expect(tooShort?.error?.data?.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(late?.error?.data?.err).toBe('BlockhashNotFound');
    expect(foreseen?.result).toMatchObject({ value: { err: { InstructionError: [0, { Custom: 1 }] } } });
    expect([answers[1]?.result, answers[10]?.result]).toEqual([nameOf(good), nameOf(other)]);
    expect(await chain.usdc(seller.publicKey)).toBe(3n);
  });

  it('runs in order: a later call finds what an earlier one moved, and none runs twice', async () => {
    const { seller, payment } = await openMarket(chain);
    const wire = await payment(5n);
    const account = tokenAccountOf(seller.publicKey).toBase58();
    const held: Call = { method: 'getTokenAccountBalance', params: [account] };
    const status: Call = { method: 'getSignatureStatuses', params: [[nameOf(wire)]] };
    const answers = await batch([held, simulate(wire), send(wire), held, status, simulate(wire), send(wire)]);
    expect(answers.map(({ result, error }) => (result as { value?: unknown })?.value ?? result ?? error)).toMatchObject(
      [
        { amount: '0' },
        { err: null },
        nameOf(wire),
        { amount: '5' },
        // The answer waits for the disk, so by then this is as durable as what was acknowledged before.
        [{ err: null, confirmationStatus: 'confirmed' }],
        { err: 'AlreadyProcessed' },
        { code: -32002, data: { err: 'AlreadyProcessed' } },
      ],
    );
    expect((await batch([status]))[0]?.result).toMatchObject({
      value: [{ err: null, confirmationStatus: 'confirmed' }],
    });
    expect(await chain.usdc(seller.publicKey)).toBe(5n);
  });

  it('accepts up to a thousand calls, each with its id, and duplicate ids', async () => {
    const call = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'getHealth' });
    const ids = Array.from({ length: 1_000 }, (_, index) => (index % 2 ? index >> 2 : `id ${index}`));
    const answers = (await ask(ids.map(call))) as Answer[];
    expect(answers.map(({ id }) => id)).toEqual(ids);
    expect(new Set(answers.map(({ result }) => result))).toEqual(new Set(['ok']));
    expect(await ask([...ids, 'one more'].map(call))).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it('answers an array for a single call, and a body of notifications with nothing', async () => {
    expect(await batch([{ method: 'getHealth' }])).toEqual([{ jsonrpc: '2.0', result: 'ok', id: 0 }]);
    const notification = { jsonrpc: '2.0', method: 'getHealth' };
    const response = await post(chain.url, JSON.stringify([notification, notification]));
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it('answers as its calls do one by one, of any kind', async () => {
    const { buyer, payment } = await openMarket(chain);
    const wires = [await payment(), await payment(10n ** 12n), Buffer.from('junk')];
    const address = fc.constantFrom(buyer.publicKey.toBase58(), MINT.toBase58(), '1'.repeat(32), 'x', '', null, 7);
    const call: fc.Arbitrary<Call> = fc.oneof(
      fc.record({
        method: fc.constantFrom(
          'getBalance',
          'getAccountInfo',
          'getTokenAccountBalance',
          'isBlockhashValid',
          'nothing',
        ),
        params: fc.tuple(address),
      }),
      fc.record({ method: fc.constantFrom('getHealth', 'getSlot', 'getEpochInfo', 'getLatestBlockhash') }),
      fc.constantFrom(...wires).map(simulate),
      fc.record({
        method: fc.constantFrom('getSlot', 'getBalance', '__proto__', ''),
        params: fc.array(fc.jsonValue()),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 25 }), async (calls) => {
        const single = (each: Call, id: number) => ask({ jsonrpc: '2.0', id, ...each });
        expect(await batch(calls)).toEqual(await Promise.all(calls.map(single)));
      }),
      { numRuns: 40 },
    );
  });

  it('that the disk rejects is acknowledged to none of its calls, and visible to none', async () => {
    const failures: unknown[] = [];
    const doomed = await openChain({ slotMs: 60_000, onFailure: (error) => failures.push(error) });
    const { seller, payment } = await openMarket(doomed);
    const held = { method: 'getTokenAccountBalance', params: [tokenAccountOf(seller.publicKey).toBase58()] };
    const wire = await payment(1n);
    // The last two are rejected because of what the first two did: that proves it, too.
    const calls = [{ method: 'getHealth' }, send(wire), held, send(await payment(2n)), send(wire), simulate(wire)];
    const committing = vi.spyOn(ChainStore.prototype, 'commit').mockImplementation(() => {
      throw new Error('disk full');
    });
    const answers = await batch(calls, doomed.url);
    committing.mockRestore();
    expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual(['ok', ...Array(5).fill(-32603)]);
    expect(failures).toHaveLength(1);
    await doomed.dispose();
  });
});
