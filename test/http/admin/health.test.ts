import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildAdminApp } from '../../../src/http/admin/admin-app.ts';
import {
  CHECKS_BEFORE_RECOVERY,
  type Finding,
  type HealthWatch,
  isReady,
  NOMINAL,
  operationalStatus,
  watchHealth,
} from '../../../src/http/admin/health.ts';
import { createMetrics } from '../../../src/http/admin/metrics/metrics.ts';
import { listen, service, silent } from '../serving.ts';

describe('the health of the parts', () => {
  const watches: HealthWatch[] = [];
  const watch = (options: Parameters<typeof watchHealth>[0]): HealthWatch => {
    const made = watchHealth({ everyMs: 60_000, ...options });
    watches.push(made);
    return made;
  };
  afterEach(() => {
    for (const made of watches.splice(0)) made.stop();
  });

  it('is down, with the reason starting, until the first check', async () => {
    const made = watch({ checks: { log: () => NOMINAL }, clock: { now: () => 0 } });
    expect(made.health().log).toMatchObject({ status: 'down', reason: 'starting' });
    expect(isReady(made.health())).toBe(false);
    await made.refresh();
    expect(made.health().log).toEqual({ status: 'nominal', since: '1970-01-01T00:00:00.000000Z', reason: null });
    expect(isReady(made.health())).toBe(true);
  });

  it('shows since when a status lasts, even if its reason changes', async () => {
    let now = 0;
    let finding: Finding = NOMINAL;
    const made = watch({ checks: { chain: () => finding }, clock: { now: () => now } });
    await made.refresh();
    now = 1_000_000;
    finding = { status: 'degraded', reason: 'slow' };
    await made.refresh();
    now = 2_000_000;
    finding = { status: 'degraded', reason: 'slower' };
    await made.refresh();
    expect(made.health().chain).toEqual({ status: 'degraded', since: '1970-01-01T00:00:01.000000Z', reason: 'slower' });
  });

  it('reports once that a part is worse, and that it is better when it has stayed so', async () => {
    let finding: Finding = NOMINAL;
    const told: string[] = [];
    const made = watch({
      checks: { receiver: () => finding, log: () => ({ status: 'down', reason: 'no disk' }) },
      clock: { now: () => 0 },
      onChange: (name, { status }) => told.push(`${name} ${status}`),
    });
    await made.refresh();
    for (const next of [
      { status: 'degraded', reason: '9 lamports' },
      { status: 'degraded', reason: '8 lamports' },
      { status: 'down', reason: '0 lamports' },
      NOMINAL,
    ] as const) {
      finding = next;
      await made.refresh();
    }
    expect(told).toEqual(['log down', 'receiver degraded', 'receiver down']);
    for (let look = 2; look <= CHECKS_BEFORE_RECOVERY; look++) await made.refresh();
    expect(told).toEqual(['log down', 'receiver degraded', 'receiver down', 'receiver nominal']);
  });

  it('is down if a check throws or times out, without effect on other parts', async () => {
    const checks = {
      broken: () => {
        throw new Error('disk full');
      },
      silent: () => sleep(10_000, NOMINAL, { ref: false }),
      good: () => NOMINAL,
    };
    const made = watch({ checks, clock: { now: () => 0 }, timeoutMs: 30 });
    await made.refresh();
    const { broken, silent: late, good } = made.health();
    expect(broken).toMatchObject({ status: 'down', reason: 'disk full' });
    expect(late).toMatchObject({ status: 'down', reason: 'no answer within 30 ms' });
    expect(good?.status).toBe('nominal');
  });

  it('keeps checking by itself', async () => {
    let looks = 0;
    watch({
      checks: {
        part: () => {
          looks++;
          return NOMINAL;
        },
      },
      clock: { now: () => 0 },
      everyMs: 10,
    });
    await vi.waitFor(() => expect(looks).toBeGreaterThan(2), { timeout: 10_000, interval: 10 });
  });

  it('has one word for the whole service', () => {
    const part = (status: Finding['status']) => ({ status, since: '', reason: null });
    expect(operationalStatus({ a: part('nominal') })).toBe('nominal');
    expect(operationalStatus({ a: part('nominal'), b: part('degraded') })).toBe('degraded');
    expect(operationalStatus({ a: part('degraded'), b: part('down') })).toBe('incident');
  });
});

describe('the admin port', () => {
  it('shows whether the process is alive and ready, part by part', async () => {
    let finding: Finding = { status: 'down', reason: 'the RPC endpoint is silent' };
    const watch = watchHealth({
      checks: { chain: () => finding, log: () => NOMINAL },
      clock: service.clock,
      everyMs: 60_000,
    });
    const app = buildAdminApp({ service, logger: silent, health: watch.health, metrics: createMetrics() });
    const base = `http://127.0.0.1:${await listen(app)}`;
    try {
      await watch.refresh();
      expect((await fetch(`${base}/healthz`)).status).toBe(200);
      const sick = await fetch(`${base}/readyz`);
      expect(sick.status).toBe(503);
      expect(await sick.json()).toMatchObject({
        ready: false,
        parts: {
          chain: { status: 'down', reason: 'the RPC endpoint is silent' },
          log: { status: 'nominal', reason: null },
        },
      });
      finding = { status: 'degraded', reason: 'slow' };
      await watch.refresh();
      const well = await fetch(`${base}/readyz`);
      expect([well.status, ((await well.json()) as { ready: boolean }).ready]).toEqual([200, true]);
      expect(well.headers.get('access-control-allow-origin')).toBeNull();
      expect(well.headers.get('x-content-type-options')).toBe('nosniff');
      expect((await fetch(`${base}/v2/status`)).status).toBe(404);
    } finally {
      watch.stop();
      await app.close();
    }
  });
});
