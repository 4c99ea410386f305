/**
 * Given endpoints that fail, lie or forget in every way, `docket audit reconcile` ends with a clear error or says what it could
 * not compare; it never calls it a difference.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { EXIT } from '../../../src/cli/command.ts';

import { type Fault, type FaultyRpc, openFaultyRpc, pass, type RpcCall } from '../../solana/faulty-rpc.ts';
import { buy, openShop, reconciled, type Shop, untilFinal } from './shop.ts';

let shop: Shop;
let wallet: Keypair;
let streams: string[];
let slots: number[];
beforeAll(async () => {
  shop = await openShop();
  wallet = await shop.wallet();
  streams = [];
  for (let count = 0; count < 4; count++) {
    streams.push(await buy(shop, wallet));
    await untilFinal(shop);
  }
  slots = (await shop.events()).filter(({ type }) => type === 'PaymentSettled').map(({ data }) => Number(data.slot));
});
afterAll(() => shop.close());

let directory: string;
let state: string;
const opened: FaultyRpc[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reconcile-'));
  state = join(directory, 'state.db');
});
afterEach(async () => {
  rmSync(directory, { recursive: true, force: true });
  await Promise.all(opened.splice(0).map((endpoint) => endpoint.close()));
});

async function endpoint(fault: (call: RpcCall) => Fault = () => pass): Promise<FaultyRpc> {
  const proxy = await openFaultyRpc(shop.rpcUrl, fault);
  opened.push(proxy);
  return proxy;
}

/** A node that has dropped everything before a slot, as a validator does: it lists and gives nothing older. */
const pruned =
  (first: number) =>
  (call: RpcCall): Fault => {
    if (call.method === 'getFirstAvailableBlock') return { type: 'result', result: first };
    if (call.method === 'getTransaction')
      return {
        type: 'alter',
        change: (result) => (((result as { slot: number } | null)?.slot ?? 0) < first ? null : result),
      };
    if (call.method === 'getSignaturesForAddress')
      return { type: 'alter', change: (result) => (result as { slot: number }[]).filter(({ slot }) => slot >= first) };
    return pass;
  };

const LISTING = 'getSignaturesForAddress';

describe('an endpoint that gives no usable answer', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  it.each<[what: string, fault: Fault, methods?: readonly string[]]>([
    ['a page that is not JSON', { type: 'body', body: '<html>' }],
    ['a body of 17 MB', { type: 'body', body: `"${'x'.repeat(17 * 1024 * 1024)}"` }, [LISTING]],
    ['JSON of great depth', { type: 'body', body: deep }],
    ['another type', { type: 'result', result: 'geheim' }],
    ['numbers out of range', { type: 'result', result: [{ signature: 'x', slot: -1, err: null }] }],
    ['an error', { type: 'error', code: -32603 }],
    ['status 403', { type: 'status', status: 403 }],
    ['nothing', { type: 'drop' }],
  ])(
    '%s ends the run with a clear error, and the state is kept',
    async (_, fault, methods = [LISTING, 'getTransaction']) => {
      for (const method of methods) {
        const proxy = await endpoint((call) => (call.method === method ? fault : pass));
        const { code, err } = await reconciled(shop, '--rpc-url', proxy.url, '--state', state);
        expect([method, code]).toEqual([method, EXIT.unavailable]);
        expect(err).toMatch(new RegExp(`^The comparison stopped: no chain endpoint answers ${method}: .*\\n.*--state`));
        expect(err).not.toMatch(/geheim|^\s+at /m);
      }
      expect((await reconciled(shop, '--state', state)).code).toBe(EXIT.ok);
    },
  );
});

describe('an archive that fails beside an endpoint that has forgotten the older half', () => {
  it('proves nothing about what it does not keep if the one that keeps everything fails', async () => {
    const dead = await endpoint(({ method }) => (method === 'getTransaction' ? { type: 'drop' } : pass));
    const short = await endpoint(pruned(slots[2] ?? 0));
    const { findings, summary } = await reconciled(shop, '--rpc-url', dead.url, '--rpc-url', short.url);
    expect(summary.differences).toBe(0);
    // The archive lists everything: also the transaction that created our account.
    expect(findings.map(({ type, stream }) => [type, stream])).toEqual(
      [...streams.slice(0, 2).sort(), null].map((stream) => ['not_kept_by_endpoint', stream]),
    );
    expect(summary.balances[0].verdict).toBe('not_provable');
  });
});
