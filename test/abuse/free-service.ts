/** The public port with nothing behind it: its free endpoints need no storage and no chain. */
import { buildApp } from '../../src/http/app.ts';
import { NETWORKS } from '../../src/solana/addresses.ts';
import { SolanaKey } from '../../src/solana/keys.ts';
import { listen, PUBLIC_URL, silent } from '../http/serving.ts';
import { clockWithV1 } from '../support/clock-with-v1.ts';
import { noKeyCalls, testResultIds } from '../support/key-calls.ts';

type Dependencies = Parameters<typeof buildApp>[0];

export async function startFreeService(more: Partial<Dependencies> = {}) {
  const keys = [SolanaKey.generate().address, SolanaKey.generate().address] as const;
  const never = () => Promise.reject(new Error('nothing of it is free'));
  const app = buildApp({
    service: { publicUrl: PUBLIC_URL, clock: clockWithV1 },
    logger: silent,
    health: () => ({}),
    merchant: { network: NETWORKS.local, payTo: keys[0], feePayer: keys[1], publicUrl: PUBLIC_URL },
    purchasing: { underway: new Set(), buy: never },
    keyCalls: noKeyCalls,
    resultIds: testResultIds(),
    masterKeys: { versions: [1] },
    newestBlockhash: () => null,
    storage: {} as never,
    runner: { waitFor: never },
    localRpcUrl: null,
    ...more,
  });
  const port = await listen(app);
  return { app, port, url: `http://127.0.0.1:${port}`, close: () => app.close() };
}

export async function postMcp(url: string, message: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v2/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect, and fail where it is not there.
  return (await response.json()) as any;
}
