import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walletStream } from '../../../src/events/signing-key.ts';
import { callTool, type Instructions, paymentFor, sdkClient, unpacked } from './client.ts';
import { openWorld, PRICE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (args: object = {}, options = {}) => callTool(world.mcp, 'service_wallet_info', args, options);
const BOTH = { include_deliveries: true };

async function spentBy<T>(wallet: Keypair, work: () => Promise<T>) {
  const before = await world.balance(wallet);
  const result = await work();
  return { result, spent: before - (await world.balance(wallet)) };
}

/** Both transfers, as the instructions ask for them. */
async function payments(wallet: Keypair, another = wallet) {
  const { data } = await call(BOTH);
  const [keys, deliveries] = data.payments as (Instructions & { argument: string })[];
  return {
    payment_tx_keys: paymentFor(keys!, wallet),
    payment_tx_deliveries: paymentFor(deliveries!, another),
  };
}

describe('service_wallet_info', () => {
  it('sells only the keys, as GET /v2/wallet/keys does', async () => {
    const wallet = await world.wallet();
    const ask = await call();
    expect(ask.data).toMatchObject({ payment_required: true, amount_usdc: '0.99' });
    expect(ask.data.next_step).toContain('payment_tx_keys');
    const { result, spent } = await spentBy(wallet, () => call({ payment_tx_keys: paymentFor(ask.data, wallet) }));
    expect([result.isError, spent]).toEqual([false, PRICE]);
    expect(result.data).toMatchObject({
      wallet: wallet.publicKey.toBase58(),
      current_key_id: expect.any(String),
      previous_key_id: null,
      meta: { query_cost_usd: 0.99 },
    });
    expect(result.text).not.toContain('secret');
  });

  it('asks for two payments, each with its own memo, and sells both parts', async () => {
    const wallet = await world.wallet();
    const { data: ask } = await call(BOTH);
    expect(ask).toMatchObject({ payment_required: true, amount_usdc: '0.99', total_usdc: '1.98' });
    const [first, second] = ask.payments;
    expect([first.argument, second.argument]).toEqual(['payment_tx_keys', 'payment_tx_deliveries']);
    expect(first.memo).not.toBe(second.memo);
    expect(ask.memo).toBe(first.memo);
    for (const part of [first.memo, second.memo, 'payment_tx_keys', 'payment_tx_deliveries', 'both in one call']) {
      expect(ask.next_step).toContain(part);
    }
    const both = await payments(wallet);
    const { result, spent } = await spentBy(wallet, () => call({ ...BOTH, ...both }));
    expect([result.isError, spent]).toEqual([false, 2n * PRICE]);
    expect(result.data).toMatchObject({
      meta: { query_cost_usd: 1.98 },
      wallet: wallet.publicKey.toBase58(),
      current_key_id: expect.any(String),
      deliveries: [],
      next_cursor: null,
    });
    expect(result.data.next_step).toBeUndefined();
    const receipts = result.meta['service/receipts'] as Record<string, { success: boolean }>;
    expect(Object.keys(receipts)).toEqual(['payment_tx_keys', 'payment_tx_deliveries']);
    expect(result.notes[0]!.match(/Paid 0\.99 USDC/g)).toHaveLength(2);

    const { result: again, spent: more } = await spentBy(wallet, () => call({ ...BOTH, ...both }));
    expect([again.isError, more]).toEqual([true, 0n]);
    expect(again.data.keys_outcome.error.code).toBe('payment_already_used');
    expect(again.data.deliveries_outcome.error.code).toBe('payment_already_used');
  });

  it('uses neither payment until both are sent', async () => {
    const wallet = await world.wallet();
    const both = await payments(wallet);
    for (const [sent, missing] of [
      ['payment_tx_keys', 'payment_tx_deliveries'],
      ['payment_tx_deliveries', 'payment_tx_keys'],
    ] as const) {
      const { result, spent } = await spentBy(wallet, () => call({ ...BOTH, [sent]: both[sent] }));
      expect([result.isError, spent]).toEqual([false, 0n]);
      expect(result.data.payments.map(({ argument }: { argument: string }) => argument)).toEqual([missing]);
      expect(result.data.next_step).toMatch(new RegExp(`^${missing} is missing`));
    }
    expect((await call({ ...BOTH, ...both })).isError).toBe(false);
  });

  it('rejects payments of two wallets, and one payment twice, uncharged', async () => {
    const [one, other] = [await world.wallet(), await world.wallet()];
    const apart = await payments(one, other);
    const { result, spent } = await spentBy(
      one,
      async () => (await spentBy(other, () => call({ ...BOTH, ...apart }))).result,
    );
    expect([result.isError, spent, result.data.error.details.reason]).toEqual([true, 0n, 'two_wallets']);
    expect(await world.balance(other)).toBe(20_000_000n);

    const { payment_tx_keys } = await payments(one);
    const same = { payment_tx_keys, payment_tx_deliveries: payment_tx_keys };
    const { result: twice, spent: more } = await spentBy(one, () => call({ ...BOTH, ...same }));
    expect([twice.isError, more, twice.data.error.details.reason]).toEqual([true, 0n, 'same_payment_twice']);
    expect(twice.data.next_step).toMatch(/^Nothing was charged\..*memo of its own/);
  });

  it('settles only the part that succeeds if a wallet can pay one', async () => {
    const wallet = await world.wallet(1_000_000n);
    const both = await payments(wallet);
    const { result, spent } = await spentBy(wallet, () => call({ ...BOTH, ...both }));
    expect([result.isError, spent]).toEqual([false, PRICE]);
    expect(result.data).toMatchObject({
      meta: { query_cost_usd: 0.99 },
      current_key_id: expect.any(String),
      deliveries_outcome: { error: { code: 'payment_rejected', details: { charged: false } } },
    });
    expect(result.data.deliveries).toBeUndefined();
    expect(result.data.next_step).toMatch(
      /keys were answered and charged.*deliveries were not answered, and nothing was charged/,
    );
  });

  it('explains what is wrong with either payment before it uses one', async () => {
    const wallet = await world.wallet();
    const both = await payments(wallet);
    for (const argument of ['payment_tx_keys', 'payment_tx_deliveries']) {
      const { result, spent } = await spentBy(wallet, () => call({ ...BOTH, ...both, [argument]: 'AAAA' }));
      expect([result.isError, spent, result.data.error.code]).toEqual([true, 0n, 'invalid_payment']);
      expect(result.data.next_step).toContain(argument);
    }
  });

  it.each([
    [{ deliveries_limit: 201, ...BOTH }, 'deliveries_limit', '200'],
    [{ deliveries_limit: 0 }, 'deliveries_limit', '200'],
    [{ deliveries_limit: 'many' }, 'deliveries_limit', 'whole number'],
    [{ include_deliveries: 'perhaps' }, 'include_deliveries', 'true or false'],
    [{ payment_tx_deliveries: 'AAAA' }, 'payment_tx_deliveries', 'include_deliveries true'],
    [{ payment_tx: 'AAAA' }, 'payment_tx', 'payment_tx_keys'],
    [{ limit: 5 }, 'limit', 'deliveries_limit'],
  ])('explains %j before any payment', async (args, parameter, rule) => {
    const { data, isError } = await call(args);
    expect([isError, data.payment_required]).toEqual([true, undefined]);
    expect(data.error.details.issues).toHaveLength(1);
    expect(data.error.details.issues[0]).toMatchObject({ parameter, rule: expect.stringContaining(rule) });
    expect(data.error.message).toContain(parameter);
  });

  it('cannot sell both for one payment of x402, and says how to buy them', async () => {
    const { data, isError } = await call(BOTH, { meta: { 'x402/payment': { x402Version: 2 } } });
    expect([isError, data.error.details.reason]).toEqual([true, 'one_payment_for_two']);
    expect(data.next_step).toMatch(/^Nothing was charged\. Leave include_deliveries out/);
    const alone = await callTool(`${world.mcp}?payment=x402`, 'service_wallet_info');
    expect([alone.isError, alone.data.x402Version]).toEqual([true, 2]);
    const both = await callTool(`${world.mcp}?payment=x402`, 'service_wallet_info', BOTH);
    expect([both.isError, both.data.payments.length]).toEqual([false, 2]);
  });

  it('accepts a proof of the wallet for its deliveries, and requires it from then on', async () => {
    const wallet = await world.wallet();
    const pay = () => payments(wallet);
    /** What the reference client signs for the tool's offer. */
    const proof = async () => {
      const { data } = await call(BOTH);
      const { info, supportedChains } = data['sign-in-with-x'];
      const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
      const signed = await createSIWxPayload(
        { ...info, ...supportedChains[0] },
        signer as never,
        'https://dockets.example',
      );
      return { headers: { 'sign-in-with-x': encodeSIWxHeader(signed) } };
    };
    const both = { ...BOTH, ...(await pay()) };
    expect((await call(both, await proof())).data).toMatchObject({ deliveries: [] });
    const events = await world.storage.log.read(walletStream(wallet.publicKey.toBase58()));
    expect(events.map(({ type }) => type)).toContain('SignInProved');

    // Each part is sold separately: the keys are sold, and the deliveries are rejected uncharged.
    const bare = await pay();
    const { result, spent } = await spentBy(wallet, () => call({ ...BOTH, ...bare }));
    expect([spent, result.data.current_key_id, result.data.deliveries]).toEqual([PRICE, expect.any(String), undefined]);
    expect(result.text).toContain('sign_in_required');
    const stranger = await world.wallet();
    const foreign = await call({ ...BOTH, ...(await payments(stranger)) }, await proof());
    expect(foreign.text).toContain('sign_in_by_another_wallet');
    const again = { ...bare, payment_tx_keys: (await pay()).payment_tx_keys };
    expect((await call({ ...BOTH, ...again }, await proof())).data).toMatchObject({ deliveries: [] });
  });

  it('answers for a fixture wallet in the sandbox, valid by its output schema', async () => {
    const client = await sdkClient(`${world.mcp}?test=1`);
    await client.listTools();
    const name = 'service_wallet_info';
    const keys = unpacked(await client.callTool({ name })).data;
    expect(keys).toMatchObject({ meta: { sandbox: true }, current_key_id: expect.any(String) });
    expect(keys.deliveries).toBeUndefined();
    const both = unpacked(await client.callTool({ name, arguments: { ...BOTH, deliveries_limit: 1 } })).data;
    expect(both).toMatchObject({ current_key_id: keys.current_key_id, deliveries: [{ status: expect.any(String) }] });
    await client.close();
  });
});
