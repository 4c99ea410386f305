/** What the tests share that give a service another log: sales, errors, and what `/readyz` reports. */
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'vitest';
import { paymentFor, type Stage } from '../crash/paid-load.ts';
import { callTool, paymentFor as toolPaymentFor } from '../http/mcp/client.ts';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';

export const DEMO_AFTER = join(import.meta.dirname, '../../fixtures/demo-after.json');

/** Engines on a busy machine may take long to answer the first time. */
const ENDS_WITHIN_MS = 120_000;

function firstWallet({ wallets: [wallet] }: Stage) {
  if (!wallet) throw new Error('no wallet');
  return wallet;
}

/** One paid query. */
export async function buy(stage: Stage, path: string) {
  const answer = await fetch(stage.url + path, { headers: await paymentFor(stage, firstWallet(stage), path) });
  return {
    status: answer.status,
    location: answer.headers.get('content-location'),
    // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
    json: (await answer.json()) as any,
  };
}

/** One paid call of an MCP tool. */
export async function buyByTool(stage: Stage, path: string) {
  const mcp = `${stage.url}/v2/mcp`;
  const query = Object.fromEntries(new URL(path, stage.url).searchParams);
  const { data } = await callTool(mcp, 'service_case_query', query);
  expect(data.payment_required, JSON.stringify(data)).toBe(true);
  return callTool(mcp, 'service_case_query', { ...query, payment_tx: toolPaymentFor(data, firstWallet(stage)) });
}

/** Base units that an address was paid so far. */
export async function receivedBy(stage: Stage, owner: string): Promise<bigint> {
  const account = tokenAccountOf(new PublicKey(owner)).toBase58();
  const { value } = (await stage.rpc.call('getTokenAccountBalance', account)) as { value: { amount: string } };
  return BigInt(value.amount);
}

/** The service's message when it fails to start. */
export async function refusal(stage: Stage): Promise<string> {
  const { code, output } = await docket(stage, 'serve');
  expect(code, output).toBe(3);
  return output;
}

export async function docket({ environment }: Stage, ...args: readonly string[]) {
  const run = spawnDocket(args, environment);
  try {
    await until(`docket ${args.join(' ')} ends`, async () => run.child.exitCode !== null, { within: ENDS_WITHIN_MS });
    return { code: run.child.exitCode, output: run.output() };
  } finally {
    await run.kill();
  }
}

/** Waits until the log is out of service with this code. */
export const becomesUnready = (stage: Stage, service: RunningProcess, code: string): Promise<void> =>
  until(
    `it is not ready: ${code}`,
    async () => {
      const ready = await fetch(`${stage.adminUrl}/readyz`);
      // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
      const { parts } = (await ready.json()) as any;
      const { event_log: log } = parts;
      return ready.status === 503 && log.status === 'down' && log.code === code && log.hint !== undefined;
    },
    { process: service, within: 60_000 },
  );

/**
 * Requests are rejected, over REST and by an agent's tool, with the message that nothing is charged, and nothing is.
 */
export async function expectNothingSold(stage: Stage, path: string, payTo: string): Promise<void> {
  const before = await receivedBy(stage, payTo);
  const { status, json } = await buy(stage, path);
  expect([status, json.error?.code, json.error?.details.charged]).toEqual([503, 'service_unavailable', false]);
  expect(json.error.details.retry_after).toBeGreaterThan(0);
  const { isError, data, text } = await buyByTool(stage, path);
  expect([isError, data.error?.code, data.error?.details.charged], text).toEqual([true, 'service_unavailable', false]);
  expect(await receivedBy(stage, payTo)).toBe(before);
}
