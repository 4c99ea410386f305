/** The MCP client for Python, unmodified: it lists, is rejected, is asked to pay and buys, in both revisions. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paymentFor } from './client.ts';
import { CASE, openWorld, PRICE, SINCE, type World } from './world.ts';

const run = promisify(execFile);
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

let world: World;
let python: string;
beforeAll(async () => {
  // Never skipped: if a client cannot be installed, the test did not run.
  const environment = path('../../../scripts/python/environment.mjs');
  python = (await run(process.execPath, [environment, path('./python/requirements.txt')])).stdout.trim();
  // A blockhash must outlive two starts of Python on a busy machine.
  world = await openWorld({ slotMs: 400 });
}, 360_000);
afterAll(() => world.close());

async function callFromPython(mode: string, calls: readonly (readonly [string, object])[]) {
  const args = [path('./python/calls.py'), world.mcp, mode, JSON.stringify(calls)];
  const { stdout } = await run(python, args, { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

describe.each([
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
])('the MCP client for Python, mode %s', (mode, version) => {
  it('lists, is rejected, is asked to pay, and buys', async () => {
    const args = { ...CASE, last_checked: SINCE };
    const first = await callFromPython(mode, [
      ['service_status', {}],
      ['service_court_list', { search: 'quebec' }],
      ['service_pricing', {}],
      ['service_case_query', { court_code: 'cnd' }],
      ['service_wallet_info', { include_deliveries: true }],
      ['service_case_query', args],
    ]);
    expect(first).toMatchObject({ version, server: 'docket-monitor' });
    expect(first.tools).toHaveLength(7);
    expect(first.results.map(({ error }: { error: boolean }) => error)).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
    ]);

    const wallet = await world.wallet();
    const before = await world.balance(wallet);
    const payment_tx = paymentFor(first.results.at(-1).data, wallet);
    const { results } = await callFromPython(mode, [['service_case_query', { ...args, payment_tx }]]);
    expect(results[0].data.delta.change_count).toBe(2);
    expect(before - (await world.balance(wallet))).toBe(PRICE);
  });
});
