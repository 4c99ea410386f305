/** Given a real service on a local chain that sells an answer, when it runs and after it stopped, then docket status shows it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Service, startService } from '../../../src/main.ts';
import { freePorts } from '../../../src/runtime/free-ports.ts';
import { silent } from '../../http/serving.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { withinOneDay } from '../../support/within-one-day.ts';

const DOCKET = join(import.meta.dirname, '../../../fixtures/demo-before.json');

describe('docket status of a real service', () => {
  let directory: string;
  let environment: NodeJS.ProcessEnv;
  let service: Service;
  const docket = (...argv: string[]) => docketInProcess(argv, environment);
  const status = async () => JSON.parse((await docket('status', '--json')).out);

  beforeAll(async () => {
    await withinOneDay();
    directory = await mkdtemp(join(tmpdir(), 'status-full-'));
    const [port, adminPort, rpcPort] = await freePorts(3);
    environment = {
      DATA_DIR: join(directory, 'data'),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SOLANA_LOCAL_PORT: String(rpcPort),
      SOLANA_LOCAL_SLOT_MS: '50',
      // Raises an alarm at the start.
      CALLBACK_ALLOW_PRIVATE: '127.0.0.1:9000',
    };
    service = await startService(readConfig(environment), { logger: silent });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('shows its parts, its node, what it owns, what it sold, and its alarms', async () => {
    expect(await docket('import', DOCKET)).toMatchObject({ code: 0 });
    expect(await docket('query', '--court-code', 'cand', '--case-id', '3:24-cv-00042', '--json')).toMatchObject({
      code: 0,
    });
    await vi.waitFor(
      async () => {
        const { storage } = await status();
        expect(storage.money).toMatchObject({ answers: 1, usdc: '990000' });
        expect(storage.payments).toMatchObject({ inFlight: 0, pending: 0 });
        expect(storage.nodes.nodes[0]?.leases).toContain('payment-recovery');
        expect(storage.alarms).toMatchObject([{ name: 'private_callbacks_allowed', count: 1 }]);
      },
      { timeout: 30_000, interval: 200 },
    );
    const { ok, service: state, parts, storage, feePayer } = await status();
    expect([ok, state]).toEqual([true, 'running']);
    expect(parts.map(({ part }: { part: string }) => part)).toEqual(expect.arrayContaining(['event_log', 'chain']));
    expect(storage.nodes).toMatchObject({
      nodes: [{ state: 'running', url: service.url, adminUrl: service.adminUrl }],
      others: [],
    });
    // The network's fee of the one payment, and so some days.
    expect(Number(feePayer.lamportsPerDay)).toBeGreaterThan(0);
    expect(feePayer.days).toBeGreaterThan(1);
    expect(storage.log.rate.events).toBeGreaterThan(0);
    const { code, out } = await docket('status');
    expect(code).toBe(0);
    expect(out).toMatch(/^today +0\.99 USDC for 1 answer since 00:00 UTC$/m);
  }, 60_000);

  it('shows after a stop what is in the storage, and no node', async () => {
    await service.stop();
    const { ok, service: state, parts, storage } = await status();
    expect([ok, state, parts]).toEqual([true, 'stopped', []]);
    expect(storage.nodes).toEqual({ nodes: [], others: [] });
    expect(storage.money).toMatchObject({ answers: 1 });
    expect(storage.alarms).toMatchObject([{ name: 'private_callbacks_allowed' }]);
  }, 60_000);
});
