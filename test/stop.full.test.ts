/** A stop of the real process ends within 15 seconds and says so, even if something has stopped answering. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LOG_HEAD_STREAM } from '../src/events/log-head.ts';
import { startLocalChain } from '../src/solana/local/start-local-chain.ts';
import type { RecordedEvent } from '../src/storage/event-log.ts';
import { openSqliteLog } from '../src/storage/sqlite/open.ts';
import { silent } from './http/serving.ts';
import { freePort, type RunningProcess, spawnDocket, until } from './support/processes.ts';
import { silentProxy } from './support/silent-proxy.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stop-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function serve(environment: NodeJS.ProcessEnv): Promise<RunningProcess> {
  const folder = environment.DATA_DIR ?? (await dataFolder());
  const ports = { PORT: String(await freePort()), ADMIN_PORT: '0', SOLANA_LOCAL_PORT: '0', LOG_LEVEL: 'info' };
  const service = spawnDocket(['serve', '--json'], { ...ports, DATA_DIR: folder, ...environment });
  closing.push(() => service.kill());
  await until('the service is ready', async () => service.output().includes('"adminUrl"'), { process: service });
  return service;
}

async function stopped(service: RunningProcess, signal: NodeJS.Signals) {
  const ended = once(service.child, 'close');
  const asked = performance.now();
  service.child.kill(signal);
  const [code] = await ended;
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line).msg as string);
  return { code, seconds: (performance.now() - asked) / 1_000, lines };
}

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'by %s is orderly',
    async (signal) => {
      const { code, lines } = await stopped(await serve({}), signal);
      expect([code, lines.at(-1)]).toEqual([0, 'stopped']);
      expect(lines).toContain(`${signal}: finishing running requests`);
    },
    60_000,
  );

  it.each([
    ['on', ['LogHeadKeyIntroduced', 'LogHeadRecorded']],
    ['off', []],
  ])(
    'with AUDIT_HEADS=%s ends the log with these events: %s',
    async (heads, types) => {
      const DATA_DIR = await dataFolder();
      // Twice: the second run records nothing but its start, which is not new in the log.
      for (let run = 0; run < 2; run++) await stopped(await serve({ DATA_DIR, AUDIT_HEADS: heads }), 'SIGTERM');
      const { log, payloads, cells } = openSqliteLog(join(DATA_DIR, 'log.sqlite'));
      const events: RecordedEvent[] = [];
      for await (const batch of log.readAll(null, { by: 'all' })) events.push(...batch.events);
      await Promise.all([log.close(), payloads.close(), cells.close()]);
      const others = events.filter(({ stream }) => stream !== LOG_HEAD_STREAM);
      expect(others.length).toBeGreaterThan(0);
      expect(events.slice(others.length).map(({ type }) => type)).toEqual(types);
      if (types.length > 0) expect(events.at(-1)?.data).toMatchObject({ size: others.length });
    },
    60_000,
  );

  it('ends even if the chain has gone silent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stop-chain-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const chain = await startLocalChain({ directory: folder, port: 0, slotMs: 100, logger: silent, environment: {} });
    closing.push(() => chain.close());
    const proxy = await silentProxy({ host: '127.0.0.1', port: Number(new URL(chain.url).port) });
    closing.push(() => proxy.close());
    const service = await serve({ SOLANA_RPC_URL: `http://127.0.0.1:${proxy.port}` });
    proxy.goSilent();
    const { code, seconds, lines } = await stopped(service, 'SIGTERM');
    expect([code, lines.at(-1)]).toEqual([0, expect.stringMatching(/^stopped/)]);
    expect(seconds).toBeLessThan(15);
  }, 90_000);
});
