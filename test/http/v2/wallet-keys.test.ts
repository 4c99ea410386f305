/** docs/design/interface.md#2.6, #3.2, #4.5 and #4.6 over real sockets, paid for by a reference client. */
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_SECRET, SANDBOX_WALLET } from '../../../src/callbacks/sandbox-key.ts';
import { standardSecret } from '../../../src/callbacks/signature.ts';
import { loadSigningKeys } from '../../../src/commands/signing-key/use.ts';
import { walletStream } from '../../../src/events/signing-key.ts';
import { type Micros, systemClock } from '../../../src/runtime/instant.ts';
import { rawRequest } from '../raw-request.ts';
import { openWorld, type World } from '../world.ts';

const PATH = '/v2/wallet/keys';
const MINUTE: Micros = 60_000_000;

let world: World;
/** The service's clock runs ahead by so much. */
let ahead: Micros = 0;
beforeAll(async () => {
  world = await openWorld({ clock: { now: () => systemClock.now() + ahead } });
}, 60_000);
afterAll(() => world.close());

interface Body {
  readonly meta: Record<string, unknown>;
  readonly wallet: string;
  readonly [name: string]: unknown;
}

interface Times {
  readonly new_key_created_at: string;
  readonly previous_key_valid_until: string;
}

/** A wallet and what it buys. */
async function customer() {
  const keypair: Keypair = await world.wallet();
  const pay = await world.agentOf(keypair);
  const call = async (method: 'GET' | 'POST', init: RequestInit = {}, query = '') => {
    const response = await pay(world.url + PATH + query, { method, ...init });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  return {
    address: keypair.publicKey.toBase58(),
    keypair,
    show: () => call('GET'),
    rotate: (init?: RequestInit) => call('POST', init),
    demandProof: () => call('POST', {}, '?require_sign_in=true'),
  };
}

describe('the keys of a wallet', () => {
  it('are created by its first call, shown without a secret, and rotated with one', async () => {
    const { address, keypair, show, rotate } = await customer();
    const before = await world.balance(keypair);
    const first = await show();
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      meta: expect.objectContaining({ query_cost_usd: 0.99, sandbox: false, coverage_status: null, tag: null }),
      wallet: address,
      current_key_id: expect.any(String),
      current_key_created_at: expect.stringMatching(/Z$/),
      previous_key_id: null,
    });
    expect(Object.keys(first.body.meta)).toHaveLength(10);
    expect((await show()).body.current_key_id).toBe(first.body.current_key_id);

    const rotated = await rotate();
    expect(rotated.body).toEqual({
      meta: expect.objectContaining({ query_cost_usd: 0.99 }),
      wallet: address,
      new_key_id: expect.any(String),
      new_key_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      new_key_secret_standard_webhooks: standardSecret(String(rotated.body.new_key_secret)),
      new_key_created_at: expect.any(String),
      previous_key_id: first.body.current_key_id,
      previous_key_valid_until: expect.any(String),
      sign_in_required: false,
    });
    const { new_key_created_at: made, previous_key_valid_until: until } = rotated.body as unknown as Times;
    expect(Date.parse(until) - Date.parse(made)).toBe(30 * 60_000);
    expect(rotated.body.new_key_secret).toBe(
      world.masterKeys.secretOf({ wallet: address, keyId: String(rotated.body.new_key_id), masterVersion: 1 }),
    );
    for (const { headers } of [first, rotated]) expect(headers.get('cache-control')).toContain('no-store');

    const third = await show();
    expect([third.body.current_key_id, third.body.previous_key_id]).toEqual([
      rotated.body.new_key_id,
      first.body.current_key_id,
    ]);
    expect(JSON.stringify([first, third])).not.toMatch(/secret/i);
    expect(before - (await world.balance(keypair))).toBe(4n * 990_000n);
  });

  it('have no previous key after a first rotation, nor once 30 minutes have passed', async () => {
    const { show, rotate } = await customer();
    const first = await rotate();
    expect([first.body.previous_key_id, first.body.previous_key_valid_until]).toEqual([null, null]);
    const second = await rotate();
    expect(second.body.previous_key_id).toBe(first.body.new_key_id);
    try {
      ahead = 29 * MINUTE;
      expect((await show()).body.previous_key_id).toBe(first.body.new_key_id);
      ahead = 31 * MINUTE;
      expect((await show()).body).toMatchObject({ current_key_id: second.body.new_key_id, previous_key_id: null });
    } finally {
      ahead = 0;
    }
  });

  it('end the older key at once if they are rotated twice within the window', async () => {
    const { show, rotate } = await customer();
    const [first, second, third] = [await rotate(), await rotate(), await rotate()];
    expect(second.body.previous_key_id).toBe(first.body.new_key_id);
    expect(third.body.previous_key_id).toBe(second.body.new_key_id);
    expect((await show()).body.previous_key_id).toBe(second.body.new_key_id);
  });

  it('leave no secret in any event', async () => {
    const { address, rotate } = await customer();
    const { body } = await rotate();
    for await (const { events } of world.storage.log.readAll(null, { by: 'all' })) {
      expect(JSON.stringify(events)).not.toContain(body.new_key_secret);
    }
    expect((await world.storage.log.read(walletStream(address))).map(({ type }) => type)).toEqual([
      'SigningKeyCreated',
    ]);
  });
});

describe('a rotation with require_sign_in', () => {
  it('demands a proof for each later rotation, of the wallet alone, and cannot be undone', async () => {
    const { address, keypair, show, rotate, demandProof } = await customer();
    const first = await demandProof();
    expect([first.status, first.body.sign_in_required, first.body.previous_key_id]).toEqual([200, true, null]);
    const events = await world.storage.log.read(walletStream(address));
    expect(events.map(({ type, data }) => [type, data.signInRequired])).toEqual([['SigningKeyCreated', true]]);

    const before = await world.balance(keypair);
    for (const again of [await rotate(), await demandProof()]) {
      expect([again.status, (again.body.error as Body).details]).toMatchObject([402, { reason: 'sign_in_required' }]);
    }
    expect(await world.balance(keypair)).toBe(before);
    expect((await show()).body.current_key_id).toBe(first.body.new_key_id);
    expect((await (await customer()).rotate()).body.sign_in_required).toBe(false);
  });

  it('is another purchase than one without: what was signed for one does not buy the other', async () => {
    const pay = async (query: string) => {
      const { headers } = await fetch(`${world.url}${PATH}${query}`, { method: 'POST' });
      return JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());
    };
    const memos = await Promise.all(['', '?require_sign_in=false', '?require_sign_in=true'].map(pay));
    const bound = memos.map(({ accepts }) => accepts[0].extra.memo as string);
    expect(bound.every((memo) => memo.startsWith('docket1 rotate-key '))).toBe(true);
  });

  it.each(['1', 'TRUE', 'yes'])('accepts true and false, but not %s', async (value) => {
    const response = await fetch(`${world.url}${PATH}?require_sign_in=${value}`, { method: 'POST' });
    const { error } = (await response.json()) as { error: { code: string; details: object } };
    expect([response.status, error.code]).toEqual([400, 'invalid_parameter']);
    expect(JSON.stringify(error)).toContain('One of: true, false.');
  });
});

describe('many calls of one wallet at once', () => {
  it('create one first key', async () => {
    const { address, show } = await customer();
    const answers = await Promise.all(Array.from({ length: 20 }, show));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.current_key_id)).size).toBe(1);
    expect((await loadSigningKeys(world.storage.log, address)).keys).toHaveLength(1);
  });

  it('rotate one after the other, and every returned secret belongs to its key', async () => {
    const { address, show, rotate } = await customer();
    const first = await show();
    const answers = (await Promise.all(Array.from({ length: 19 }, () => rotate()))).map(({ body }) => body);
    const { keys } = await loadSigningKeys(world.storage.log, address);
    expect(keys[0]?.keyId).toBe(first.body.current_key_id);
    expect(
      keys
        .slice(1)
        .map(({ keyId }) => keyId)
        .sort(),
    ).toEqual(answers.map((body) => body.new_key_id).sort());
    for (const body of answers) {
      const at = keys.findIndex(({ keyId }) => keyId === body.new_key_id);
      expect(body.previous_key_id).toBe(keys[at - 1]?.keyId);
      expect(body.new_key_secret).toBe(
        world.masterKeys.secretOf({ wallet: address, keyId: String(body.new_key_id), masterVersion: 1 }),
      );
    }
    expect(new Set(answers.map((body) => body.new_key_secret)).size).toBe(19);
  });
});

describe('a call without parameters', () => {
  it.each(['GET', 'POST'])('asks for 0.99 and teaches how to pay: %s', async (method) => {
    const response = await fetch(world.url + PATH, { method });
    expect(response.status).toBe(402);
    const { error } = (await response.json()) as { error: { details: Record<string, unknown> } };
    expect(error.details.amount_usdc).toBe('0.99');
    expect(response.headers.get('cache-control')).toContain('no-store');
  });

  it.each(['?wallet=x', '?status=failed', '?test=0', '?test=1&test=1'])('is refused with %s', async (query) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(world.url + PATH + query, { method });
      const wanted = query === '?test=0' ? 402 : 400;
      expect([method, response.status]).toEqual([method, wanted]);
    }
  });

  it('accepts no other method', async () => {
    const response = await fetch(world.url + PATH, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });
});

describe('a rotation has no body', () => {
  it.each([
    ['an empty one of JSON', { 'content-type': 'application/json' }, ''],
    ['JSON', { 'content-type': 'application/json' }, '{"a":1}'],
    ['what is no JSON, though it says so', { 'content-type': 'application/json' }, '{"a":'],
    ['XML', { 'content-type': 'application/xml' }, '<a/>'],
    ['a form', { 'content-type': 'multipart/form-data; boundary=x' }, '--x--'],
    ['a type that is none', { 'content-type': ';;;' }, 'x'],
  ])('and ignores %s', async (_, headers, body) => {
    const { rotate } = await customer();
    const answer = await rotate({ headers, body });
    expect([answer.status, answer.body.previous_key_id]).toEqual([200, null]);
  });

  it('and ignores bytes without a type, up to the body limit', async () => {
    const post = (length: number) =>
      rawRequest(world.port, `${PATH}?test=1`, {
        method: 'POST',
        headers: { 'content-length': String(length) },
        body: 'x'.repeat(length),
      });
    expect((await post(1_000)).status).toBe(200);
    expect((await post(256 * 1024 + 1)).status).toBe(413);
  });
});

describe('in the sandbox', () => {
  const rehearse = async (method: string, init: RequestInit = {}) => {
    const response = await fetch(`${world.url}${PATH}?test=1`, { method, ...init });
    return { response, body: (await response.json()) as Body };
  };

  it('both calls return a published key of an invented wallet for free', async () => {
    const shown = await rehearse('GET', { headers: { 'X-Service-Tag': 'mine' } });
    expect(shown.response.status).toBe(200);
    expect(shown.body).toMatchObject({
      meta: { sandbox: true, query_cost_usd: 0, tag: 'mine' },
      wallet: SANDBOX_WALLET,
      current_key_id: 'sandbox',
      previous_key_id: null,
    });
    const rotated = await rehearse('POST', { headers: { 'content-type': 'application/json' }, body: '' });
    expect(rotated.body).toMatchObject({
      meta: { sandbox: true, query_cost_usd: 0 },
      wallet: SANDBOX_WALLET,
      new_key_id: 'sandbox',
      new_key_secret: SANDBOX_SECRET,
      new_key_secret_standard_webhooks: standardSecret(SANDBOX_SECRET),
    });
    const { new_key_created_at: made, previous_key_valid_until: until } = rotated.body as unknown as Times;
    expect(Date.parse(until) - Date.parse(made)).toBe(30 * 60_000);
    for (const { response } of [shown, rotated]) expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('nothing is recorded, but parameters are checked', async () => {
    const head = await world.storage.log.head();
    await rehearse('POST');
    expect(await world.storage.log.head()).toBe(head);
    expect((await fetch(`${world.url}${PATH}?test=1&x=1`, { method: 'POST' })).status).toBe(400);
    expect((await fetch(world.url + PATH, { headers: { 'X-Service-Test': '1' } })).status).toBe(200);
  });
});
