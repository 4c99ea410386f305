import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { createRpcChain } from '../../src/solana/rpc-chain.ts';
import { type FaultyRpc, openFaultyRpc, pass } from './faulty-rpc.ts';
import { openChain, openMarket, type TestChain } from './local/harness.ts';
import { build, MINT, memo, tokenAccountOf } from './payment-transactions.ts';

let local: TestChain;
const open: { close(): unknown }[] = [];

beforeAll(async () => {
  local = await openChain({ slotMs: 100 });
});
afterAll(() => local.dispose());
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const keep = <T extends { close(): unknown }>(closable: T): T => {
  open.push(closable);
  return closable;
};

/** A chain client over faulty endpoints, each before the local chain unless told otherwise. */
async function across(
  faults: readonly FaultyRpc['fault'][],
  { timeoutMs = 300, upstream = local.url as string | null } = {},
) {
  const endpoints: FaultyRpc[] = [];
  for (const fault of faults) endpoints.push(keep(await openFaultyRpc(upstream, fault)));
  const log: { message: string; details: object }[] = [];
  const note = (details: object, message: string) => {
    log.push({ details, message });
  };
  const urls = endpoints.map(({ url }) => url);
  const chain = keep(createRpcChain({ urls, timeoutMs, logger: { info: note, warn: note } }));
  return { chain, endpoints, log };
}

const hang = () => ({ type: 'hang' }) as const;
const status = (code: number) => () => ({ type: 'status', status: code }) as const;

describe('the chain over one endpoint', () => {
  it("lets no caller wait for another caller's slow calls", async () => {
    const settling = ['sendTransaction', 'getSignatureStatuses'];
    let letGo: () => void = () => {};
    const slowly = { type: 'pass', after: new Promise<void>((go) => (letGo = go)) } as const;
    const { chain, endpoints } = await across([({ method }) => (settling.includes(method) ? slowly : pass)], {
      timeoutMs: 20_000,
    });
    const { buyer, payment } = await openMarket(local);
    const wires = await Promise.all([payment(), payment(), payment()]);
    const account = tokenAccountOf(buyer.publicKey).toBase58();
    const blockhash = await local.blockhash();
    const settled = wires.flatMap((wire) => [
      chain.send(wire),
      chain.signatureStatus(bs58.encode(wire.subarray(1, 65))),
    ]);
    const checked = [0, 1].flatMap(() => [
      chain.simulate(wires[0] as Buffer),
      chain.latestBlockhash(),
      chain.isBlockhashValid(blockhash),
      chain.blockHeight('processed'),
      chain.historyFrom(),
      chain.tokenBalance(account),
      chain.balance(buyer.publicKey.toBase58()),
    ]);
    await Promise.all(checked);
    letGo();
    await Promise.all(settled);
    const requests = endpoints.flatMap(({ requests }) =>
      requests.map(({ calls }) => calls.map(({ method }) => method)),
    );
    const mixed = requests.filter((methods) => new Set(methods.map((method) => settling.includes(method))).size > 1);
    expect(mixed).toEqual([]);
    // Apart from that they share requests as ever.
    expect(requests.filter(({ length }) => length > 1).length).toBeGreaterThanOrEqual(2);
  });

  it('answers every question of the port', async () => {
    const { chain } = await across([() => pass], { timeoutMs: 2_000 });
    const { buyer, seller, payment } = await openMarket(local);
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash();
    expect(await chain.isBlockhashValid(blockhash)).toBe(true);
    expect(await chain.isBlockhashValid(Keypair.generate().publicKey.toBase58())).toBe(false);
    const height = await chain.blockHeight('processed');
    expect(lastValidBlockHeight - height).toBeGreaterThan(140);
    expect(height - (await chain.blockHeight('finalized'))).toBeGreaterThanOrEqual(31);

    const wire = await payment();
    expect(await chain.simulate(wire)).toEqual({ ok: true });
    expect(await chain.send(wire)).toEqual({ sent: true });
    expect(await chain.send(wire)).toEqual({ sent: true });
    expect(await chain.simulate(wire)).toEqual({ ok: false, error: '"AlreadyProcessed"', logs: [] });
    expect(await chain.tokenBalance(tokenAccountOf(seller.publicKey).toBase58())).toEqual({
      amount: 990_000n,
      isDelegated: false,
    });
    expect(await chain.tokenBalance(buyer.publicKey.toBase58())).toBeNull();
    expect(await chain.tokenBalance(Keypair.generate().publicKey.toBase58())).toBeNull();
    expect(await chain.balance(buyer.publicKey.toBase58())).toBe(999_995_000n);
    expect(await chain.balance(Keypair.generate().publicKey.toBase58())).toBe(0n);
    expect(await chain.tokenBalance(MINT.toBase58())).toBeNull();
  });

  it('reads the statuses of many signatures by one call', async () => {
    const { chain, endpoints } = await across([() => pass], { timeoutMs: 2_000 });
    const { payment } = await openMarket(local);
    const failing = await payment(10n ** 12n);
    const good = await local.connection.sendRawTransaction(await payment());
    const bad = await local.connection.sendRawTransaction(failing, { skipPreflight: true });
    const unknown = await local.connection.sendRawTransaction(
      await payment(1n, { blockhash: Keypair.generate().publicKey.toBase58() }),
      { skipPreflight: true },
    );
    const statuses = await Promise.all([good, bad, unknown, good].map((each) => chain.signatureStatus(each)));
    expect(statuses[0]).toMatchObject({ commitment: 'confirmed', error: null });
    expect(statuses[1]).toMatchObject({ error: '{"InstructionError":[0,{"Custom":1}]}' });
    expect(statuses[2]).toBeNull();
    expect(statuses[3]).toEqual(statuses[0]);
    expect(endpoints[0]?.calls).toHaveLength(1);
  });

  it('gives refusals of a transaction as values with the chain’s word', async () => {
    const { chain } = await across([() => pass], { timeoutMs: 2_000 });
    const { buyer, payment } = await openMarket(local);
    const short = await payment(10n ** 12n);
    expect(await chain.send(short)).toMatchObject({ sent: false, code: 'InstructionError' });
    expect(await chain.simulate(short)).toMatchObject({ ok: false, error: '{"InstructionError":[0,{"Custom":1}]}' });
    const expired = await payment(1n, { blockhash: Keypair.generate().publicKey.toBase58() });
    expect(await chain.send(expired)).toMatchObject({ sent: false, code: 'BlockhashNotFound' });
    const unsigned = build({
      instructions: [memo()],
      payer: buyer.publicKey,
      signers: [],
      blockhash: await local.blockhash(),
    });
    expect(await chain.send(unsigned)).toMatchObject({ sent: false, code: 'SignatureFailure' });
    expect(await chain.simulate(unsigned)).toMatchObject({ ok: false, error: '"SignatureFailure"' });
    expect(await chain.send(Buffer.alloc(70))).toMatchObject({ sent: false, code: 'SanitizeFailure' });
  });

  it('tries again within bounds, and then is unavailable', async () => {
    let left = 2;
    const { chain } = await across([() => (left-- > 0 ? { type: 'status', status: 503 } : pass)], { timeoutMs: 2_000 });
    expect(await chain.blockHeight('confirmed')).toBeGreaterThan(0);
    const { chain: dead, endpoints } = await across([hang], { timeoutMs: 150 });
    await expect(dead.balance(MINT.toBase58())).rejects.toThrow(ChainUnavailable);
    expect(endpoints[0]?.calls.length).toBeLessThanOrEqual(3);
  });

  it('survives an endpoint that closes idle connections', async () => {
    let calls = 0;
    const { chain } = await across([() => (++calls % 2 ? pass : { type: 'drop' })], { timeoutMs: 2_000 });
    for (let i = 0; i < 5; i++) expect(await chain.blockHeight('confirmed')).toBeGreaterThan(0);
  });

  it('believes nothing that has another shape', async () => {
    const lies: FaultyRpc['fault'][] = [
      () => ({ type: 'body', body: '' }),
      () => ({ type: 'body', body: 'null' }),
      () => ({ type: 'body', body: '<html>' }),
      () => ({ type: 'body', body: '{"jsonrpc":"2.0","id":999999,"result":{"value":1}}' }),
      () => ({ type: 'body', body: '[]' }),
      () => ({ type: 'result', result: null }),
      () => ({ type: 'result', result: { value: -5 } }),
      () => ({ type: 'result', result: { value: 'x', context: {} } }),
      () => ({ type: 'result', result: { value: [] } }),
      () => ({ type: 'error', code: -32005 }),
      () => ({ type: 'error', code: Number.NaN }),
    ];
    const wire = await (await openMarket(local)).payment();
    await Promise.all(
      lies.map(async (lie) => {
        const { chain } = await across([lie], { timeoutMs: 500 });
        const questions = [
          () => chain.latestBlockhash(),
          () => chain.blockHeight('finalized'),
          () => chain.isBlockhashValid(MINT.toBase58()),
          () => chain.simulate(wire),
          () => chain.send(wire),
          () => chain.signatureStatus('1'.repeat(64)),
          () => chain.signatureStatus('1'.repeat(64), { unanimous: true }),
          () => chain.balance(MINT.toBase58()),
        ];
        await Promise.all(questions.map((ask) => expect(ask()).rejects.toThrow(ChainUnavailable)));
      }),
    );
  });

  it.each([
    ['long', 'x'.repeat(5_000_000)],
    ['deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ])('believes no error that is too %s to be recorded', async (_what, error) => {
    const err = `{"Custom":${error.startsWith('[') ? error : JSON.stringify(error)}}`;
    const status = `{"slot":1,"err":${err},"confirmationStatus":"finalized","confirmations":null}`;
    const results: Record<string, string> = {
      getSignatureStatuses: `{"context":{"slot":1},"value":[${status}]}`,
      simulateTransaction: `{"context":{"slot":1},"value":{"err":${err},"logs":[]}}`,
    };
    const { chain } = await across(
      [
        ({ id, method }) => {
          const answer = results[method]
            ? `"result":${results[method]}`
            : `"error":{"code":-32002,"message":"no","data":{"err":${err}}}`;
          return { type: 'body', body: `{"jsonrpc":"2.0","id":${id},${answer}}` };
        },
      ],
      { timeoutMs: 2_000 },
    );
    const wire = await (await openMarket(local)).payment();
    for (const ask of [
      () => chain.signatureStatus('1'.repeat(64)),
      () => chain.simulate(wire),
      () => chain.send(wire),
    ]) {
      await expect(ask()).rejects.toThrow(ChainUnavailable);
    }
  });
});

describe('the chain over several endpoints', () => {
  it('fails over if an endpoint hangs, is busy or broken, and returns to it later', async () => {
    const faults: FaultyRpc['fault'][] = [hang, status(429), status(500), status(301), () => ({ type: 'drop' })];
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const all = await Promise.all(faults.map((fault) => across([fault, () => pass])));
      const ask = () => Promise.all(all.map(({ chain }) => chain.blockHeight('confirmed')));
      const asked = () => all.map(({ endpoints }) => endpoints[0]?.calls.length ?? 0);
      for (const height of await ask()) expect(height).toBeGreaterThan(0);
      const failed = asked();
      // The one that failed rests: nobody waits for it again at once.
      await ask();
      expect(asked()).toEqual(failed);
      for (const { endpoints } of all) if (endpoints[0]) endpoints[0].fault = () => pass;
      vi.advanceTimersByTime(600);
      await ask();
      expect(asked()).toEqual(failed.map((calls) => calls + 1));
      const said = ['a chain endpoint is failing', 'a chain endpoint has recovered'];
      for (const { log } of all) expect(log.map(({ message }) => message)).toEqual(said);
    } finally {
      vi.useRealTimers();
    }
  });

  it('leaves an endpoint alone for as long as it asks', async () => {
    const busy = { type: 'status', status: 429, headers: { 'retry-after': '20' } } as const;
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { chain, endpoints } = await across([() => busy, () => pass]);
      await chain.blockHeight('confirmed');
      vi.advanceTimersByTime(19_000);
      await chain.blockHeight('confirmed');
      expect(endpoints[0]?.calls).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks another before it believes that a blockhash or a signature is unknown', async () => {
    const { payment } = await openMarket(local);
    const wire = await payment();
    const signature = await local.connection.sendRawTransaction(wire);
    const fresh = await payment();
    const blockhash = await local.blockhash();
    const lagging: FaultyRpc['fault'] = ({ method }) => {
      const data = { err: 'BlockhashNotFound', logs: [] };
      switch (method) {
        case 'getSignatureStatuses':
          return { type: 'result', result: { context: { slot: 1 }, value: [null] } };
        case 'isBlockhashValid':
          return { type: 'result', result: { context: { slot: 1 }, value: false } };
        case 'simulateTransaction':
          return { type: 'result', result: { context: { slot: 1 }, value: { err: 'BlockhashNotFound', logs: [] } } };
        default:
          return { type: 'error', code: -32002, data };
      }
    };
    const { chain } = await across([lagging, () => pass], { timeoutMs: 2_000 });
    expect(await chain.isBlockhashValid(blockhash)).toBe(true);
    expect(await chain.signatureStatus(signature)).toMatchObject({ error: null });
    expect(await chain.simulate(fresh)).toEqual({ ok: true });
    expect(await chain.send(fresh)).toEqual({ sent: true });
    const { chain: alone } = await across([lagging], { timeoutMs: 2_000 });
    expect(await alone.isBlockhashValid(blockhash)).toBe(false);
    expect(await alone.signatureStatus(signature)).toBeNull();
    expect(await alone.send(fresh)).toMatchObject({ sent: false, code: 'BlockhashNotFound' });
  });

  it('does not say that nothing was sent when an endpoint fell silent over it', async () => {
    const refused: FaultyRpc['fault'] = () => ({ type: 'error', code: -32002, data: { err: 'BlockhashNotFound' } });
    const wire = await (await openMarket(local)).payment();
    const { chain } = await across([() => ({ type: 'lose-answer' }), refused], { timeoutMs: 2_000 });
    await expect(chain.send(wire)).rejects.toThrow(ChainUnavailable);
    const { chain: told } = await across([status(429), refused], { timeoutMs: 2_000 });
    expect(await told.send(wire)).toMatchObject({ sent: false, code: 'BlockhashNotFound' });
  });

  it('sends to every endpoint on request, and waits for no silent one', async () => {
    const wire = await (await openMarket(local)).payment();
    const { chain, endpoints } = await across([hang, () => ({ type: 'status', status: 503 }), () => pass], {
      timeoutMs: 20_000,
    });
    expect(await chain.send(wire, { everywhere: true })).toEqual({ sent: true });
    for (const { calls } of endpoints) expect(calls.map(({ method }) => method)).toEqual(['sendTransaction']);
  });

  it('is not informed that another transaction was sent', async () => {
    const wire = await (await openMarket(local)).payment();
    const { chain } = await across([() => ({ type: 'result', result: '1'.repeat(64) })], { timeoutMs: 500 });
    await expect(chain.send(wire)).rejects.toThrow(ChainUnavailable);
  });

  it('is unanimous only when every endpoint answers and none is behind', async () => {
    const unknown = bs58.encode(randomBytes(64));
    const { chain, endpoints } = await across([() => pass, () => pass], { timeoutMs: 500 });
    const known = await local.connection.sendRawTransaction(await (await openMarket(local)).payment());
    expect(await chain.signatureStatus(unknown, { unanimous: true })).toBeNull();
    const second = endpoints[1] as FaultyRpc;
    second.fault = () => ({ type: 'result', result: { context: { slot: 1 }, value: [null] } });
    expect(await chain.signatureStatus(known, { unanimous: true })).toMatchObject({ error: null });
    await chain.blockHeight('finalized');
    await expect(chain.signatureStatus(unknown, { unanimous: true })).rejects.toThrow(ChainUnavailable);
    second.fault = hang;
    await expect(chain.signatureStatus(unknown, { unanimous: true })).rejects.toThrow(ChainUnavailable);
  });

  it('forgets a reported slot that the cluster never reached', async () => {
    const unknown = bs58.encode(randomBytes(64));
    const { chain, endpoints } = await across([() => pass, () => pass], { timeoutMs: 500 });
    const first = endpoints[0] as FaultyRpc;
    first.fault = ({ method }) =>
      method === 'getEpochInfo'
        ? { type: 'alter', change: (result) => ({ ...(result as object), absoluteSlot: 2 ** 50 }) }
        : pass;
    await chain.blockHeight('finalized');
    await expect(chain.signatureStatus(unknown, { unanimous: true })).rejects.toThrow(ChainUnavailable);
    // As long as it is told, it may be true.
    await expect(chain.signatureStatus(unknown, { unanimous: true })).rejects.toThrow(ChainUnavailable);
    first.fault = () => pass;
    await expect(chain.signatureStatus(unknown, { unanimous: true })).rejects.toThrow(ChainUnavailable);
    expect(await chain.signatureStatus(unknown, { unanimous: true })).toBeNull();
  });

  it('returns the lowest height of any endpoint if asked to be certain', async () => {
    const { chain, endpoints } = await across([() => pass, () => pass], { timeoutMs: 500 });
    const [first, second] = endpoints as [FaultyRpc, FaultyRpc];
    first.fault = () => ({ type: 'result', result: { absoluteSlot: 2 ** 40, blockHeight: 2 ** 40 } });
    expect(await chain.blockHeight('finalized')).toBe(2 ** 40);
    expect(await chain.blockHeight('finalized', { unanimous: true })).toBeLessThan(1_000_000);
    second.fault = hang;
    await expect(chain.blockHeight('finalized', { unanimous: true })).rejects.toThrow(ChainUnavailable);
  });

  it('knows from which height on every endpoint has its history, and never guesses too early', async () => {
    const { chain, endpoints } = await across([() => pass, () => pass], { timeoutMs: 500 });
    expect(await chain.historyFrom()).toBe(0);
    const second = endpoints[1] as FaultyRpc;
    const epoch = { absoluteSlot: 400_000_000, blockHeight: 380_000_000 };
    const first: FaultyRpc['fault'] = ({ method }) =>
      method === 'getFirstAvailableBlock' ? { type: 'result', result: 399_999_000 } : pass;
    second.fault = first;
    (endpoints[0] as FaultyRpc).fault = ({ method }) =>
      method === 'getEpochInfo' ? { type: 'result', result: epoch } : pass;
    // A thousand slots are at least five hundred blocks.
    expect(await chain.historyFrom()).toBe(380_000_000 - 500);
    second.fault = () => ({ type: 'error', code: -32601 });
    expect(await chain.historyFrom()).toBe(Number.POSITIVE_INFINITY);
    second.fault = hang;
    await expect(chain.historyFrom()).rejects.toThrow(ChainUnavailable);
  });

  it('says which chain each endpoint serves, and of which it does not know', async () => {
    const other = { type: 'result', result: '1'.repeat(32) } as const;
    const nonsense = { type: 'result', result: 'genesis' } as const;
    const { chain } = await across([() => pass, hang, () => nonsense, () => other]);
    const genesis = await local.connection.getGenesisHash();
    expect(await chain.genesisHashes()).toEqual([genesis, null, null, other.result]);
    const { chain: dead } = await across([hang]);
    await expect(dead.genesisHashes()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('never logs or throws what a URL keeps secret', async () => {
    const endpoint = keep(await openFaultyRpc(null, status(500)));
    const url = endpoint.url.replace('http://', 'http://user:hush@').concat('/key-hush?api-key=hush');
    const log: unknown[] = [];
    const note = (details: object, message: string) => log.push(details, message);
    const chain = keep(createRpcChain({ urls: [url], timeoutMs: 300, logger: { info: note, warn: note } }));
    const failure = await chain.blockHeight('confirmed').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ChainUnavailable);
    expect(log.length).toBeGreaterThan(0);
    expect(JSON.stringify([log, String(failure), (failure as Error).stack])).not.toContain('hush');
  });
});
