/** Calls on a wallet's keys when something goes wrong: no effect before settlement, one after it, each secret once. */
import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../src/commands/handle.ts';
import { payment } from '../../src/commands/payment/payment.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { applyKeyCall } from '../../src/commands/signing-key/paid-call.ts';
import { rotateSigningKey } from '../../src/commands/signing-key/use.ts';
import { ResultHandedOut } from '../../src/events/payment.ts';
import { walletStream } from '../../src/events/signing-key.ts';
import { createAfterSettlement } from '../../src/processes/after-settlement.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import type { Append } from '../../src/storage/event-log.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { newTestMasterKeys, testKeyCalls } from '../support/key-calls.ts';
import { dyingAt, until } from './steering.ts';
import { type Answer, altered, openWorld, read, USDC, type World } from './world.ts';

const PATH = '/v2/wallet/keys';

let world: World;
let wallet: Keypair;
beforeAll(async () => {
  world = await openWorld({
    paidBefore: true,
    slotMs: 40,
    patience: { settlementMs: 900, rebroadcastMs: 100, appendRepeatsMs: [10] },
  });
});
beforeEach(async () => {
  wallet = await world.wallet(10n * USDC);
});
afterEach(() => world.disturb());
afterAll(() => world.close());

type Method = 'GET' | 'POST';
const METHODS: readonly Method[] = ['GET', 'POST'];

const pay = (method: Method, over = {}, identifier?: string) =>
  world.pay(wallet, over, identifier, {
    word: method === 'GET' ? 'keys' : 'rotate-key',
    call: `${method} ${PATH}`,
    request: '',
  });
const call = async (method: Method, headers = pay(method), base = world.url): Promise<Answer> =>
  read(await fetch(base + PATH, { method, headers }));
const address = () => wallet.publicKey.toBase58();
const keyEvents = async () => (await world.storage.log.read(walletStream(address()))).map(({ type }) => type);
const requestOf = (answer: Answer): string => answer.json.meta.request_id;
const result = (requestId: string) => world.get(world.resultPath(requestId));
const unavailable = async (): Promise<never> => {
  throw new ChainUnavailable('silent');
};
const recovered = () =>
  until(
    () => world.recoverLater().round(),
    ({ pending }) => pending === 0,
  );

/** Ports of key calls on this world's log. */
const keyPorts = () => ({ ...world.storage, clock: systemClock, masterKeys: world.masterKeys });

/** The process that follows settlements, until it has followed them. */
async function followed(condition: () => Promise<boolean>): Promise<void> {
  const stopped = new AbortController();
  const running = createAfterSettlement({
    ...keyPorts(),
    logger: world.logger,
    owner: randomUUID(),
    ensureKey: () => Promise.reject(new Error('nobody asked for a callback')),
    applyKeyCall: (purchase, context) => applyKeyCall(keyPorts(), purchase, context),
  }).run(stopped.signal);
  expect(await until(condition, Boolean)).toBe(true);
  stopped.abort();
  await running;
}

/** A node whose log may refuse appends of some events. */
const nodeWith = (append: (appended: Append) => Promise<unknown>) => {
  const log = altered(world.storage.log, {
    append: async (appended) => {
      await append(appended);
      return world.storage.log.append(appended);
    },
  });
  const keyCalls = testKeyCalls({ ...keyPorts(), log });
  return world.serve(createPurchasing({ ...world.ports, log, keyCalls }));
};

/** A node that cannot record any event of these types. */
const nodeUnableTo = (...types: readonly string[]) =>
  nodeWith(async ({ events }) => {
    if (events.some(({ type }) => types.includes(type))) throw new StorageFailure('storage_unavailable', 'gone');
  });

describe.each(METHODS)('%s', (method) => {
  it('has no effect before its payment is settled, and its effect without anybody asking afterwards', async () => {
    world.disturb({ send: unavailable });
    const pending = await call(method);
    expect([pending.status, await keyEvents()]).toEqual([202, []]);
    expect((await result(requestOf(pending))).status).toBe(202);
    expect(await keyEvents()).toEqual([]);
    world.disturb();
    await recovered();
    await followed(async () => (await keyEvents()).length > 0);
    expect(await keyEvents()).toEqual(['SigningKeyCreated']);
  });

  it('has no effect when its payment fails', async () => {
    world.disturb({
      send: async () => ({ sent: true }),
      signatureStatus: async () => ({ slot: 7, commitment: 'confirmed', error: '{"InsufficientFunds":1}' }),
    });
    const { result: failed, spent } = await world.moved(wallet, () => call(method));
    expect([failed.status, failed.json.error.code, spent]).toEqual([402, 'settlement_failed', 0n]);
    world.disturb();
    expect((await result(requestOf(failed))).status).toBe(402);
    expect(await keyEvents()).toEqual([]);
  });

  it.each(['after the claim', 'before the settlement is recorded', 'after the settlement is recorded'])(
    'has its effect although its process died %s',
    async (point) => {
      const seen = (await world.events()).length;
      const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, point) }));
      const paid = pay(method);
      void call(method, paid, node).catch(() => undefined);
      // What the node still does itself it must have done: else it is a race, and no death.
      const last = point === 'after the settlement is recorded' ? 'PaymentSettled' : 'PaymentSubmitted';
      const events = await until(
        async () => (await world.events()).slice(seen),
        (all) => all.some(({ type }) => type === last),
      );
      await recovered();
      await followed(async () => (await keyEvents()).length > 0);
      const requestId = String(events[0]?.data.requestId);
      const answer = await until(
        () => result(requestId),
        ({ status }) => status === 200,
      );
      expect(answer.json.wallet).toBe(address());
      expect((await call(method, paid)).status).toBe(409);
      // Another look at it changes nothing, and a secret is not shown again.
      expect((await result(requestId)).status).toBe(method === 'POST' ? 410 : 200);
      expect(await keyEvents()).toEqual(['SigningKeyCreated']);
    },
  );

  it('answers 202 when the key cannot be recorded, and makes it later, once', async () => {
    const node = await nodeUnableTo('SigningKeyCreated');
    const pending = await call(method, pay(method), node);
    expect([pending.status, await keyEvents()]).toEqual([202, []]);
    const [one, other] = await Promise.all([result(requestOf(pending)), result(requestOf(pending))]);
    const statuses = [one.status, other.status].sort();
    expect(statuses).toEqual(method === 'POST' ? [200, 410] : [200, 200]);
    expect(await keyEvents()).toEqual(['SigningKeyCreated']);
  });

  it('makes one key when the log answers no append of it at first', async () => {
    let appends = 0;
    const log = altered(world.storage.log, {
      append: async (appended) => {
        const done = await world.storage.log.append(appended);
        if (appended.stream === walletStream(address()) && ++appends < 3) {
          throw new StorageFailure('storage_unavailable', 'recorded, and not said so');
        }
        return done;
      },
    });
    const node = await world.serve(
      createPurchasing({ ...world.ports, log, keyCalls: testKeyCalls({ ...keyPorts(), log }) }),
    );
    const answer = await call(method, pay(method), node);
    expect([answer.status, appends]).toEqual([200, 3]);
    expect(await keyEvents()).toEqual(['SigningKeyCreated']);
  });
});

describe('the secret of a rotation', () => {
  it('is never stored, and never handed out again', async () => {
    const answer = await call('POST');
    const secret = answer.json.new_key_secret;
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const gone = await result(requestOf(answer));
    expect([gone.status, gone.json.error.code]).toEqual([410, 'result_gone']);
    expect(gone.json.error.details).toMatchObject({ charged: false, successor: 'POST /v2/wallet/keys' });
    expect(JSON.stringify(await world.events())).not.toContain(secret);
    expect(await world.eventTypesOf(requestOf(answer))).toContain('ResultHandedOut');
  });

  it('is handed out once to twenty concurrent callers on several nodes', async () => {
    world.disturb({ send: unavailable });
    const pending = await call('POST');
    world.disturb();
    await recovered();
    const nodes = [world.url, await world.serve(), await world.serve()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.get(world.resultPath(requestOf(pending)), { 'x-service-tag': 'mine' }, nodes[index % nodes.length]),
      ),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(19);
    const { new_key_id: keyId, new_key_secret: secret, meta } = given[0]?.json ?? {};
    expect(secret).toBe(world.masterKeys.secretOf({ wallet: address(), keyId, masterVersion: 1 }));
    expect(meta).toMatchObject({ request_id: requestOf(pending), query_cost_usd: 0.99, tag: 'mine' });
    expect(given[0]?.headers.get('cache-control')).toContain('no-store');
  });

  it('waits through any number of HEADs, which have no body to give it in', async () => {
    world.disturb({ send: unavailable });
    const pending = await call('POST');
    world.disturb();
    await recovered();
    const id = requestOf(pending);
    const head = () => fetch(`${world.url}${world.resultPath(id)}`, { method: 'HEAD' });
    for (let time = 0; time < 3; time++) expect((await head()).status).toBe(200);
    expect(await world.eventTypesOf(id)).not.toContain('ResultHandedOut');
    expect((await result(id)).json.new_key_secret).toMatch(/^[0-9a-f]{64}$/);
    expect([(await head()).status, (await result(id)).status]).toEqual([410, 410]);
  });

  it('does not leave while it cannot be recorded that it does', async () => {
    const answer = await call('POST', pay('POST'), await nodeUnableTo(ResultHandedOut.type));
    expect(answer.status).toBe(202);
    expect(answer.text).not.toContain('secret');
    expect((await result(requestOf(answer))).json.new_key_secret).toMatch(/^[0-9a-f]{64}$/);
    expect((await result(requestOf(answer))).status).toBe(410);
  });

  it('leaves when the record that it does was made without an answer', async () => {
    let told = 0;
    const log = altered(world.storage.log, {
      append: async (appended) => {
        const done = await world.storage.log.append(appended);
        if (appended.events[0]?.type === ResultHandedOut.type && ++told === 1) {
          throw new StorageFailure('storage_unavailable', 'recorded, and not said so');
        }
        return done;
      },
    });
    const keyCalls = testKeyCalls({ ...keyPorts(), log });
    const answer = await call(
      'POST',
      pay('POST'),
      await world.serve(createPurchasing({ ...world.ports, log, keyCalls })),
    );
    expect([answer.status, told]).toEqual([200, 2]);
    expect((await world.eventTypesOf(requestOf(answer))).filter((type) => type === 'ResultHandedOut')).toHaveLength(1);
  });

  it('is that of its own key, also when another rotation came first', async () => {
    world.disturb({ send: unavailable });
    const pending = await call('POST');
    world.disturb();
    const other = await call('POST');
    await recovered();
    const late = await result(requestOf(pending));
    expect(late.json.previous_key_id).toBe(other.json.new_key_id);
    const { new_key_id: keyId, new_key_secret: secret } = late.json;
    expect(secret).toBe(world.masterKeys.secretOf({ wallet: address(), keyId, masterVersion: 1 }));
  });

  it('stays until a node that has the older master key completes it', async () => {
    world.disturb({ send: unavailable });
    const pending = await call('POST');
    world.disturb();
    await recovered();
    await followed(async () => (await keyEvents()).length > 0);
    const keyCalls = testKeyCalls({ ...keyPorts(), masterKeys: newTestMasterKeys(2) });
    const [recorded] = (await world.events()).filter(({ data }) => data.requestId === requestOf(pending));
    const stream = recorded?.stream ?? '';
    const { state } = await load(world.storage.log, payment, stream);
    if (state.status !== 'settled') throw new Error(state.status);
    const commandId = randomUUID();
    const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
    expect(await keyCalls.rotate(stream, state, { tag: null, context })).toMatchObject({
      problem: 'service_unavailable',
      details: { component: 'signing_keys' },
    });
    expect((await result(requestOf(pending))).json.new_key_secret).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a payment identifier', () => {
  const identified = () => {
    const id = `id-${randomUUID()}`;
    return (method: Method) => pay(method, {}, id);
  };

  it('has the keys shown again, as they are then, uncharged', async () => {
    const named = identified();
    const first = await call('GET', named('GET'));
    const rotated = await call('POST');
    const { result: again, spent } = await world.moved(wallet, () => call('GET', named('GET')));
    expect([again.status, spent]).toEqual([200, 0n]);
    expect(again.json).toMatchObject({
      current_key_id: rotated.json.new_key_id,
      previous_key_id: first.json.current_key_id,
    });
  });

  it('has no secret given again', async () => {
    const named = identified();
    expect((await call('POST', named('POST'))).status).toBe(200);
    const { result: again, spent } = await world.moved(wallet, () => call('POST', named('POST')));
    expect([again.status, again.json.error.code, spent]).toEqual([410, 'result_gone', 0n]);
    expect(await keyEvents()).toEqual(['SigningKeyCreated']);
  });

  it('is not the same request for both calls', async () => {
    const named = identified();
    expect((await call('GET', named('GET'))).status).toBe(200);
    expect((await call('POST', named('POST'))).status).toBe(409);
  });
});

describe('a key of a master key that is not here', () => {
  it('is not sold, raises an alarm, and recovers by a rotation', async () => {
    const context = { commandId: randomUUID(), requestId: null, correlationId: 'x', causationId: null, actor: 'test' };
    await rotateSigningKey(
      { ...world.storage, clock: systemClock },
      address(),
      { keyId: 'old', masterVersion: 9 },
      context,
    );
    const { result: refused, spent } = await world.moved(wallet, () => call('GET'));
    expect([refused.status, refused.json.error.code, spent]).toEqual([503, 'service_unavailable', 0n]);
    expect(refused.json.error.details).toMatchObject({ charged: false, component: 'signing_keys' });
    const rotated = await call('POST');
    expect([rotated.status, rotated.json.previous_key_id]).toEqual([200, 'old']);
    expect((await call('GET')).status).toBe(200);
  });
});
