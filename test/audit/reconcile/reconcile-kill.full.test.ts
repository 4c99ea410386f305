/**
 * Given a reconciliation that is killed (SIGKILL) again and again while it fetches, runs with the same state file together
 * find what one run finds, and fetch at most one batch again for each kill. Runs the compiled program.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFaultyRpc, pass } from '../../solana/faulty-rpc.ts';
import { dataOf, openShop, payment, reconciled, untilFinal } from './shop.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'bin/docket.js');
const TRANSFERS = 100;
const BATCH = 32;
/** More than a batch, so that every run stores one. */
const CALLS_BEFORE_KILL = 40;

it.skipIf(!existsSync(join(ROOT, 'dist/cli/main.js')))('a killed run continues from its last batch', async () => {
  const shop = await openShop();
  const wallet = await shop.wallet();
  for (let count = 0; count < TRANSFERS; count++) {
    const wire = await payment(shop, wallet, 1_000n + BigInt(count));
    await shop.rpc.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
  }
  await untilFinal(shop);
  const whole = await reconciled(shop);
  expect(whole.summary).toMatchObject({ complete: true, differences: TRANSFERS });

  let fetched = 0;
  let killAt = Number.POSITIVE_INFINITY;
  let kill = (): void => {};
  const proxy = await openFaultyRpc(shop.rpcUrl, ({ method }) => {
    if (method === 'getTransaction' && ++fetched >= killAt) kill();
    return pass;
  });
  const state = join(shop.directory, 'state.db');
  let kills = 0;
  for (; ; kills++) {
    killAt = fetched + CALLS_BEFORE_KILL;
    const child = spawn(
      process.execPath,
      [PROGRAM, 'audit', 'reconcile', '--json', '--rpc-url', proxy.url, '--state', state],
      { env: { ...process.env, ...dataOf(shop) }, stdio: 'ignore' },
    );
    kill = () => child.kill('SIGKILL');
    const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
    if (signal === null) break;
    expect(kills).toBeLessThan(10);
  }
  expect(kills).toBeGreaterThan(1);
  // One for the account's creation.
  expect(fetched).toBeLessThanOrEqual(TRANSFERS + 1 + kills * BATCH);
  killAt = Number.POSITIVE_INFINITY;
  fetched = 0;
  const last = await reconciled(shop, '--rpc-url', proxy.url, '--state', state);
  expect(fetched).toBe(0);
  expect(last.findings).toEqual(whole.findings);
  expect(last.summary).toEqual({ ...whole.summary, calls: expect.any(Number) });
  await proxy.close();
  await shop.close();
});
