import { connect } from 'node:net';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTransaction, TransactionUnreadable } from '../../../src/solana/local/wire.ts';
import { openChain, openMarket, post, type TestChain } from './harness.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain({ slotMs: 100 });
});
afterAll(() => chain.dispose());

const errorOf = async (body: string) => {
  const response = await post(chain.url, body);
  return ((await response.json()) as { error?: { code: number } }).error?.code;
};
const alive = async () => expect((await chain.rpc('getHealth')).result).toBe('ok');

describe('JSON-RPC', () => {
  it('answers an invalid call with its error code', async () => {
    for (const body of ['', '{', 'null{', '['.repeat(200_000), '\u0000', '{"jsonrpc":"2.0"']) {
      expect(await errorOf(body), body.slice(0, 20)).toBe(-32700);
    }
    const invalid = ['null', '1', '"x"', '[]', '{}', '{"jsonrpc":"1.0","id":1,"method":"getSlot"}'];
    const strange = ['{"jsonrpc":"2.0","id":{},"method":"getSlot"}', '{"jsonrpc":"2.0","id":1,"method":7}'];
    for (const body of [...invalid, ...strange]) expect(await errorOf(body), body).toBe(-32600);
    const call = (method: string, params?: unknown) =>
      errorOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    for (const method of ['getNothing', 'constructor', '__proto__', 'toString', '']) {
      expect(await call(method), method).toBe(-32601);
    }
    expect(await call('getSlot', { commitment: 'confirmed' })).toBe(-32602);
    expect(await call('getSlot', [{ minContextSlot: 10 ** 9 }])).toBe(-32016);
  });

  it('answers invalid parameters of every method with -32602, and keeps running', async () => {
    const methods = [
      ...['getAccountInfo', 'getBalance', 'getMultipleAccounts', 'getTokenAccountBalance', 'getTokenSupply'],
      ...['getTokenAccountsByOwner', 'sendTransaction', 'simulateTransaction', 'getSignatureStatuses'],
      ...['getTransaction', 'getSignaturesForAddress', 'requestAirdrop', 'requestTokenAirdrop', 'isBlockhashValid'],
      'getFeeForMessage',
    ];
    const bad: readonly (readonly unknown[])[] = [
      [],
      [null],
      [7],
      [{}],
      [[]],
      [['x']],
      ['x'],
      ['l'.repeat(44)],
      ['1'.repeat(100_000)],
      [[null]],
      ['x', 'y'],
    ];
    for (const method of methods) {
      for (const params of bad) {
        const { error, result } = await chain.rpc(method, ...params);
        if (Array.isArray(params[0]) && params[0].length === 0 && error === undefined) {
          // Empty lists of addresses and signatures are valid.
          expect(result, method).toMatchObject({ value: [] });
        } else expect(error?.code, `${method} ${JSON.stringify(params).slice(0, 60)}`).toBe(-32602);
      }
    }
    for (const size of [-1, 0.5, '165', null, 2 ** 60, 2 ** 53 - 1]) {
      expect((await chain.rpc('getMinimumBalanceForRentExemption', size)).error?.code, String(size)).toBe(-32602);
    }
    const { publicKey } = Keypair.generate();
    for (const amount of [-1, 1.5, '1e3', 2 ** 70, null, '99999999999999999999']) {
      expect((await chain.rpc('requestAirdrop', publicKey.toBase58(), amount)).error?.code, String(amount)).toBe(
        -32602,
      );
    }
    expect((await chain.rpc('requestAirdrop', publicKey.toBase58(), String(2n ** 60n))).error?.code).toBe(-32002);
    const zstd = { encoding: 'base64+zstd' };
    const mint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
    expect((await chain.rpc('getAccountInfo', mint, zstd)).error?.code).toBe(-32602);
    await alive();
  });

  it('answers a batch in order, failures next to results, and notifications not at all', async () => {
    const call = (id: unknown, method: string) => ({ jsonrpc: '2.0', id, method });
    const body = JSON.stringify([
      call('a', 'getHealth'),
      call(2, 'nothing'),
      7,
      { jsonrpc: '2.0', method: 'getHealth' },
    ]);
    expect(await (await post(chain.url, body)).json()).toMatchObject([
      { id: 'a', result: 'ok' },
      { id: 2, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ]);
    expect((await post(chain.url, JSON.stringify({ jsonrpc: '2.0', method: 'getHealth' }))).status).toBe(204);
    expect(await errorOf(JSON.stringify(Array(1_001).fill(call(1, 'getHealth'))))).toBe(-32600);
  });
});

describe('HTTP', () => {
  it('accepts JSON by POST only', async () => {
    expect((await fetch(chain.url)).status).toBe(405);
    expect((await fetch(chain.url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect((await post(chain.url, '{}', 'text/plain')).status).toBe(415);
    expect((await fetch(chain.url, { method: 'OPTIONS' })).status).toBe(204);
    expect(await (await fetch(`${chain.url}/health`)).text()).toBe('ok');
  });

  it('limits a body', async () => {
    expect((await post(chain.url, ' '.repeat(1024 * 1024 + 1))).status).toBe(413);
    const flood = post(chain.url, ' '.repeat(20 * 1024 * 1024)).then(
      ({ status }) => status,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(await flood);
    await alive();
  });

  it('survives connections that break', async () => {
    const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"json';
    for (const text of [head, 'GARBAGE\r\n\r\n', 'POST / HTTP/1.1\r\ncontent-length: -4\r\n\r\n']) {
      const socket = connect(chain.port, '127.0.0.1');
      socket.on('error', () => {});
      await new Promise<void>((resolve) => {
        socket.write(text, () => {
          socket.destroy();
          resolve();
        });
      });
    }
    await alive();
  });
});

describe('bytes of a transaction', () => {
  it('are parsed as a whole or rejected: any bytes, and any change of good ones', async () => {
    const { payment } = await openMarket(chain);
    const wire = await payment();
    const read = (bytes: Buffer) => {
      try {
        const { bytes: same, message } = readTransaction(bytes);
        expect(same.subarray(-message.bytes.length)).toEqual(message.bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(TransactionUnreadable);
      }
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1300 }), (bytes) => read(Buffer.from(bytes))),
      { numRuns: 500 },
    );
    const change = fc.tuple(fc.nat(wire.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), fc.nat(wire.length), (changes, length) => {
        const copy = Buffer.from(wire);
        for (const [at, byte] of changes) copy[at] = byte;
        read(copy);
        read(copy.subarray(0, length));
      }),
      { numRuns: 500 },
    );
    for (let length = 0; length < wire.length; length++) {
      expect(() => readTransaction(wire.subarray(0, length))).toThrow(TransactionUnreadable);
    }
    expect(() => readTransaction(Buffer.concat([wire, Buffer.of(0)]))).toThrow('trailing bytes');
  });

  it('never crash the chain, for any content', async () => {
    const { payment } = await openMarket(chain);
    const wire = await payment();
    const calls: { method: string; settings: object; wire: string }[] = [];
    const change = fc.tuple(fc.integer({ min: 65, max: wire.length - 1 }), fc.nat(255));
    for (const changes of fc.sample(fc.array(change, { minLength: 1, maxLength: 6 }), 600)) {
      const copy = Buffer.from(wire);
      for (const [at, byte] of changes) copy[at] = byte;
      // Without checking signatures the changed message reaches the runtime.
      const settings = { encoding: 'base64', replaceRecentBlockhash: true };
      calls.push({ method: 'simulateTransaction', settings, wire: copy.toString('base64') });
      calls.push({
        method: 'sendTransaction',
        settings: { encoding: 'base64', skipPreflight: true },
        wire: copy.toString('base64'),
      });
    }
    for (const text of fc.sample(fc.string({ maxLength: 2_000 }), 200)) {
      calls.push({ method: 'sendTransaction', settings: { encoding: 'base64' }, wire: text });
    }
    const batch = calls.map(({ method, settings, wire: text }, id) => ({
      jsonrpc: '2.0',
      id,
      method,
      params: [text, settings],
    }));
    for (let from = 0; from < batch.length; from += 200) {
      const answers = (await (await post(chain.url, JSON.stringify(batch.slice(from, from + 200)))).json()) as {
        error?: { code: number };
      }[];
      expect(answers).toHaveLength(Math.min(200, batch.length - from));
      expect(answers.filter(({ error }) => error?.code === -32603)).toEqual([]);
    }
    await alive();
  });
});
