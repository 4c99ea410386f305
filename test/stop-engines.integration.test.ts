/** A stop of the real process ends within 15 seconds and says so, even if an engine has gone silent. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, spawnDocket, until } from './support/processes.ts';
import { silentProxy } from './support/silent-proxy.ts';
import { ENGINES, ownDatabase } from './support/storage.ts';

const configured = Boolean(ENGINES.eventStore && ENGINES.mongo);
const HOST = /^([a-z+]+:\/\/(?:[^@/]*@)?)([^/?:]+):(\d+)/;

/** The same URL through a proxy that can go silent. */
async function behind(url: string) {
  const [, start = '', host = '', port = ''] = HOST.exec(url) ?? [];
  const proxy = await silentProxy({ host, port: Number(port) });
  return { proxy, url: url.replace(HOST, `${start}127.0.0.1:${proxy.port}`) };
}

describe.skipIf(!configured)(`a stop on the engines${configured ? '' : ' (skipped: none configured)'}`, () => {
  /** One folder, and so one local chain: the event store belongs to it from the first start on. */
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stop-engines-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(['MONGODB_URL', 'EVENTSTORE_URL'] as const)('ends even if %s has gone silent', async (silenced) => {
    const database = ownDatabase();
    const engines = { MONGODB_URL: database.url, EVENTSTORE_URL: ENGINES.eventStore };
    const { proxy, url } = await behind(engines[silenced]);
    const service = spawnDocket(['serve', '--json'], {
      DATA_DIR: folder,
      PORT: String(await freePort()),
      ADMIN_PORT: '0',
      SOLANA_LOCAL_PORT: '0',
      LOG_LEVEL: 'info',
      ...engines,
      [silenced]: url,
    });
    try {
      await until('the service is ready', async () => service.output().includes('"adminUrl"'), { process: service });
      proxy.goSilent();
      const ended = once(service.child, 'close');
      const asked = performance.now();
      service.child.kill('SIGTERM');
      const [code] = await ended;
      expect((performance.now() - asked) / 1_000).toBeLessThan(15);
      expect([code, service.output()]).toEqual([0, expect.stringMatching(/"msg":"stopped/)]);
    } finally {
      await service.kill();
      proxy.close();
      await database.drop();
    }
  });
});
