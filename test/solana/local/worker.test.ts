import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { startLocalChainWorker as StartLocalChainWorker } from '../../../src/solana/local/start-local-chain-worker.ts';
import { startLocalChainWorker as fromSources } from '../../../src/solana/local/start-local-chain-worker.ts';
import { post, silent } from './harness.ts';

const built = new URL('../../../dist/solana/local/start-local-chain-worker.js', import.meta.url);
const health = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' });

describe('the local chain in a separate thread', () => {
  let directory: string;
  let start: typeof StartLocalChainWorker;
  beforeAll(async () => {
    expect(existsSync(built), 'run npm run build first').toBe(true);
    ({ startLocalChainWorker: start } = await import(built.href));
    directory = mkdtempSync(join(tmpdir(), 'chain-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('answers while this thread is busy', async () => {
    const logged: string[] = [];
    const logger = { ...silent, info: (_: object, message: string) => logged.push(message) };
    const chain = await start({ directory, port: 0, slotMs: 20, logger, environment: {} });
    try {
      expect(await (await post(chain.url, health)).json()).toMatchObject({ result: 'ok' });
      const height = async () => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBlockHeight' });
        return ((await (await post(chain.url, body)).json()) as { result: number }).result;
      };
      const before = await height();
      const busyUntil = performance.now() + 400;
      while (performance.now() < busyUntil);
      expect((await height()) - before).toBeGreaterThan(8);
      expect(logged).toContain('local chain listening');
      await expect(start({ directory, port: 0, logger: silent, environment: {} })).rejects.toMatchObject({
        code: 'chain_in_use',
      });
      await expect(
        start({ directory: join(directory, 'other'), port: chain.port, logger: silent, environment: {} }),
      ).rejects.toMatchObject({ code: 'EADDRINUSE' });
    } finally {
      await chain.close();
    }
    await expect(post(chain.url, health)).rejects.toThrow();
    const again = await start({ directory, port: 0, logger: silent, environment: {} });
    await again.close();
  });

  it('runs in this thread if the sources are not compiled', async () => {
    const chain = await fromSources({ directory, port: 0, logger: silent, environment: {} });
    expect(await (await post(chain.url, health)).json()).toMatchObject({ result: 'ok' });
    await chain.close();
  });
});
