/**
 * Relayed payments: a shop serves our own 402 with another `resource`, an unmodified client signs it, and the shop
 * presents the payment to us to buy something else, or something that belongs to its victim.
 */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import {
  createSIWxPayload,
  encodeSIWxHeader,
  validateSIWxMessage,
  verifySIWxSignature,
} from '@x402/extensions/sign-in-with-x';
import { x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamedResult } from '../../src/commands/payment/result-id.ts';
import { walletStream } from '../../src/events/signing-key.ts';
import { SIGN_IN_WITH_X } from '../../src/http/x402/sign-in.ts';
import { openWorld, type World } from '../http/world.ts';
import { ChainRpc } from '../support/rpc.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const CASE = '/v2/case?court_code=cand&case_id=3:24-cv-01234';
const KEYS = '/v2/wallet/keys';
const DELIVERIES = '/v2/wallet/deliveries';

/** Our 402 for a call, as any caller gets it. */
async function termsOf(path: string, method = 'GET'): Promise<PaymentRequired> {
  const asked = await fetch(world.url + path, { method });
  expect(asked.status).toBe(402);
  return JSON.parse(Buffer.from(asked.headers.get('payment-required') ?? '', 'base64').toString());
}

/** What an unmodified client of x402 v2 sends to a shop that serves these terms under its own name. */
async function signedForShop(required: PaymentRequired, victim: Keypair, memo?: string | null): Promise<string> {
  const signer = await createKeyPairSignerFromBytes(victim.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: world.rpcUrl }));
  const [accepted] = required.accepts;
  const { memo: _, ...others } = accepted?.extra ?? {};
  const extra = memo === undefined ? accepted?.extra : memo === null ? others : { ...others, memo };
  const shown = {
    ...required,
    resource: { ...required.resource, url: 'https://shop.example/cat-pictures' },
    accepts: [{ ...accepted, extra }],
  } as PaymentRequired;
  return encodePaymentSignatureHeader(await client.createPaymentPayload(shown));
}

const present = async (
  path: string,
  payment: string,
  method = 'GET',
  more: Record<string, string> = {},
  node = world.url,
) => {
  const answer = await fetch(node + path, { method, headers: { 'payment-signature': payment, ...more } });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text), headers: answer.headers };
};

const walletEvents = async (wallet: Keypair) =>
  (await world.storage.log.read(walletStream(wallet.publicKey.toBase58()))).map(({ type }) => type);

/** Lamports and base units that an attack moved out of its victim and out of our fee payer. */
async function costOf<T>(victim: Keypair, attack: () => Promise<T>) {
  const [usdc, fees] = [await world.balance(victim), await feePayerLamports()];
  const result = await attack();
  return {
    result,
    usdc: usdc - (await world.balance(victim)),
    lamports: fees - (await feePayerLamports()),
  };
}

const feePayerLamports = async (): Promise<number> =>
  (await new ChainRpc(world.rpcUrl).call<{ value: number }>('getBalance', world.parties.feePayer.toBase58())).value;

function challengeOf({ extensions = {} }: PaymentRequired) {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came
  return extensions[SIGN_IN_WITH_X] as any;
}

/** The proof that the reference client makes from a 402 of this address. */
async function proofOf(required: PaymentRequired, wallet: Keypair, at = 'https://dockets.example') {
  const { info, supportedChains } = challengeOf(required);
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  return createSIWxPayload({ ...info, ...supportedChains[0] }, signer as never, at);
}
const headerOf = async (required: PaymentRequired, wallet: Keypair) => ({
  [SIGN_IN_WITH_X]: encodeSIWxHeader(await proofOf(required, wallet)),
});
const reasonOf = ({ status, json }: { status: number; json: { error?: { details: { reason: string } } } }) => [
  status,
  json.error?.details.reason,
];

describe("a payment that was signed for a shop under the shop's own name", () => {
  it.each([
    [CASE, KEYS, 'POST'],
    [CASE, DELIVERIES, 'GET'],
    [CASE, '/v2/case?court_code=cand&case_id=4:25-cv-00777', 'GET'],
    [CASE, `${CASE}&callback_url=https://shop.example/hook`, 'GET'],
    [KEYS, DELIVERIES, 'GET'],
  ])('for %s buys nothing at %s by %s: nothing moves, nothing is recorded', async (signed, wanted, method) => {
    const victim = await world.wallet();
    const payment = await signedForShop(await termsOf(signed), victim);
    const { result, usdc, lamports } = await costOf(victim, () => present(wanted, payment, method));
    expect(reasonOf(result)).toEqual([402, 'payment_for_another_purpose']);
    expect([usdc, lamports, await walletEvents(victim)]).toEqual([0n, 0, []]);
    expect(result.text).not.toContain('new_key_secret');
    // It did not count either: its owner still has the whole minute.
    expect(result.headers.get('ratelimit-remaining')).toBeNull();
  });

  it('for one method buys nothing with another method or over MCP, nor does one for MCP buy over REST', async () => {
    const victim = await world.wallet();
    const payment = await signedForShop(await termsOf(KEYS), victim);
    expect(reasonOf(await present(KEYS, payment, 'POST'))).toEqual([402, 'payment_for_another_purpose']);
    expect((await present(KEYS, payment)).status).toBe(200);
  });

  it.each([
    ['without a memo of ours', null],
    ['with a memo of the shop', 'order 7'],
  ])('%s buys a case query, as clients of x402 version 1 do, but neither a secret nor a history', async (_, memo) => {
    const victim = await world.wallet();
    const sign = async (path: string, method = 'GET') => signedForShop(await termsOf(path, method), victim, memo);
    const rotation = await costOf(victim, async () => present(KEYS, await sign(KEYS, 'POST'), 'POST'));
    expect(reasonOf(rotation.result)).toEqual([402, 'payment_not_bound']);
    expect([rotation.usdc, rotation.lamports, await walletEvents(victim)]).toEqual([0n, 0, []]);
    expect(
      (
        await present(
          '/v2/monitor?court_code=cand&case_id=3:24-cv-09999&last_checked=2026-01-01T00:00:00Z',
          await sign(CASE),
        )
      ).status,
    ).toBe(404);
  });
});

describe('a proof that cannot be passed on', () => {
  it('is offered in the form that the reference client signs, and for no other origin', async () => {
    const victim = await world.wallet();
    const required = await termsOf(KEYS, 'POST');
    const proof = await proofOf(required, victim);
    expect(await verifySIWxSignature(proof)).toMatchObject({ isValid: true, payer: victim.publicKey.toBase58() });
    expect(await validateSIWxMessage(proof, new URL('https://dockets.example'))).toEqual({ isValid: true });
    await expect(proofOf(required, victim, 'https://shop.example/cat-pictures')).rejects.toThrow(/does not match/);
  });

  it('is required once a wallet has given one: a relayed payment for the very same call then buys no secret', async () => {
    const victim = await world.wallet();
    const required = await termsOf(KEYS, 'POST');
    const first = await present(KEYS, await signedForShop(required, victim), 'POST', await headerOf(required, victim));
    expect(first.status).toBe(200);
    expect(await walletEvents(victim)).toEqual(['SignInProved', 'SigningKeyCreated']);

    for (const [path, method] of [
      [KEYS, 'POST'],
      [DELIVERIES, 'GET'],
    ] as const) {
      const relayed = await signedForShop(await termsOf(path, method), victim);
      const { result, usdc, lamports } = await costOf(victim, () => present(path, relayed, method));
      expect([...reasonOf(result), usdc, lamports]).toEqual([402, 'sign_in_required', 0n, 0]);
      // With the proof, the same payment is accepted as its owner's.
      const again = JSON.parse(Buffer.from(result.headers.get('payment-required') ?? '', 'base64').toString());
      expect((await present(path, relayed, method, await headerOf(again, victim))).status).toBe(200);
    }
    expect(await walletEvents(victim)).toEqual([
      'SignInProved',
      'SigningKeyCreated',
      'SignInProved',
      'SigningKeyRotated',
    ]);
  });

  it('is valid for one rotation, of one wallet, at one call, for five minutes', async () => {
    const [victim, other] = [await world.wallet(), await world.wallet()];
    const pay = async (wallet: Keypair) => signedForShop(await termsOf(KEYS, 'POST'), wallet);
    const headers = await headerOf(await termsOf(KEYS, 'POST'), victim);
    expect((await present(KEYS, await pay(victim), 'POST', headers)).status).toBe(200);
    expect(reasonOf(await present(KEYS, await pay(victim), 'POST', headers))).toEqual([402, 'sign_in_used']);
    expect(reasonOf(await present(KEYS, await pay(other), 'POST', headers))).toEqual([
      402,
      'sign_in_by_another_wallet',
    ]);
    const shown = await headerOf(await termsOf(DELIVERIES), victim);
    expect(reasonOf(await present(KEYS, await pay(victim), 'POST', shown))).toEqual([402, 'sign_in_for_another_call']);

    const required = await termsOf(KEYS, 'POST');
    const { info } = challengeOf(required);
    const { expirationTime: _, ...endless } = info;
    endless.issuedAt = new Date(Date.now() - 301_000).toISOString();
    const old = {
      ...required,
      extensions: { [SIGN_IN_WITH_X]: { ...(required.extensions?.[SIGN_IN_WITH_X] as object), info: endless } },
    };
    expect(reasonOf(await present(KEYS, await pay(victim), 'POST', await headerOf(old, victim)))).toEqual([
      402,
      'sign_in_expired',
    ]);
    const forged = encodeSIWxHeader({ ...(await proofOf(required, victim)), nonce: 'changed0' });
    for (const sent of [forged, 'AAAA', '!', Buffer.from('null').toString('base64')]) {
      const answer = await present(KEYS, await pay(victim), 'POST', { [SIGN_IN_WITH_X]: sent });
      expect(reasonOf(answer)).toEqual([402, 'sign_in_invalid']);
    }
    expect(await walletEvents(victim)).toEqual(['SignInProved', 'SigningKeyCreated']);
  });
});

describe('a proof of a rotation that is replayed on another node', () => {
  it('is rejected there after the first use, and of two concurrent uses only one rotates', async () => {
    const other = await world.node();
    const victim = await world.wallet();
    const pay = async () => signedForShop(await termsOf(KEYS, 'POST'), victim);
    const proof = async () => headerOf(await termsOf(KEYS, 'POST'), victim);

    const captured = await proof();
    expect((await present(KEYS, await pay(), 'POST', captured)).status).toBe(200);
    const { result, usdc, lamports } = await costOf(victim, async () =>
      present(KEYS, await pay(), 'POST', captured, other),
    );
    expect([...reasonOf(result), usdc, lamports]).toEqual([402, 'sign_in_used', 0n, 0]);

    const shared = await proof();
    const [one, two] = [await pay(), await pay()];
    const answers = await Promise.all([present(KEYS, one, 'POST', shared), present(KEYS, two, 'POST', shared, other)]);
    expect(answers.map(reasonOf).sort()).toEqual([
      [200, undefined],
      [402, 'sign_in_used'],
    ]);
    const rotated = (await walletEvents(victim)).filter((type) => type === 'SigningKeyRotated');
    expect(rotated).toHaveLength(1);
  });
});

describe('an answer that was sold before result ids were secret', () => {
  it('opens with its request id, but one sold since then does not', async () => {
    const { resultIds } = world;
    // As it was then: the event names no version, and the result URL contains the request id.
    const before = { ...resultIds, newest: undefined as never, idOf: ({ requestId }: NamedResult) => requestId };
    const old = await world.node({ resultIds: before });
    const payer = await world.wallet();
    const bought = await present(KEYS, await signedForShop(await termsOf(KEYS), payer), 'GET', {}, old);
    const id = bought.json.meta.request_id;
    expect([bought.status, bought.headers.get('content-location')]).toEqual([200, `/v2/results/${id}`]);
    const again = await fetch(`${world.url}/v2/results/${id}`);
    expect([again.status, JSON.parse(await again.text()).current_key_id]).toEqual([200, bought.json.current_key_id]);

    const since = await present(KEYS, await signedForShop(await termsOf(KEYS), payer));
    expect((await fetch(`${world.url}/v2/results/${since.json.meta.request_id}`)).status).toBe(404);
    expect((await fetch(`${world.url}${since.headers.get('content-location')}`)).status).toBe(200);
  });
});

describe('what a stranger knows of an answer', () => {
  it('opens nothing: neither its request id nor a guess at its result id', async () => {
    const victim = await world.wallet();
    const answer = await present(KEYS, await signedForShop(await termsOf(KEYS), victim));
    const path = answer.headers.get('content-location') ?? '';
    const id = path.split('/').at(-1) ?? '';
    expect(answer.text).not.toContain(id);
    expect((await fetch(world.url + path)).status).toBe(200);
    const last = id.at(-2) === 'A' ? 'B' : 'A';
    const changed = `${id.slice(0, -2)}${last}${id.at(-1)}`;
    for (const guess of [answer.json.meta.request_id, changed, `r2${id.slice(2)}`, id.toLowerCase(), `${id}A`]) {
      expect([404, 503]).toContain((await fetch(`${world.url}/v2/results/${guess}`)).status);
    }
    const events: string[] = [];
    for await (const batch of world.storage.log.readAll(null, { by: 'all' })) events.push(JSON.stringify(batch.events));
    expect(events.join()).not.toContain(id);
  });
});
