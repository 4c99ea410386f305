/** Accounts in a state that prevents a payment: the payer's, frozen by the issuer, and our own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdminApp } from '../../src/http/admin/admin-app.ts';
import { watchHealth } from '../../src/http/admin/health.ts';
import { createMetrics } from '../../src/http/admin/metrics/metrics.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { alarmsTo, healthChecks } from '../../src/service/health-checks.ts';
import { DIALECTS } from './envelopes.ts';
import { freeze } from './freezing.ts';
import { answerFor, openWorld, type World } from './world.ts';

describe('an account that the issuer freezes', () => {
  let world: World;
  /** What happens while the query is answered. */
  let meanwhile: (() => Promise<void>) | null = null;
  beforeAll(async () => {
    // 150 slots of 10 ms: a blockhash is valid for a second and a half, and its expiry is final a third of a second
    // later.
    world = await openWorld({
      slotMs: 10,
      patience: { rebroadcastMs: 100 },
      answer: async (question, call) => {
        await meanwhile?.();
        meanwhile = null;
        return answerFor(question, call);
      },
    });
  });
  afterAll(() => world.close());

  it.each(DIALECTS)('before the payment: rejected before the query runs ($name)', async (dialect) => {
    const wallet = await world.wallet();
    await freeze(world, wallet.publicKey);
    const asked = world.asked.length;
    const { result, spent } = await world.moved(wallet, () =>
      world.get('/v2/case?q=frozen', dialect.headers(world, dialect.build(world, wallet))),
    );
    expect([result.status, result.json.error.code, spent, world.asked.length - asked]).toEqual([
      402,
      'payment_rejected',
      0n,
      0,
    ]);
    expect(result.json.error.details.reason).toBe('invalid_exact_svm_transaction_simulation_failed');
  });

  it('between the check and the settlement: the answer is withheld and nothing is charged', async () => {
    const wallet = await world.wallet();
    meanwhile = () => freeze(world, wallet.publicKey);
    const { result, spent } = await world.moved(wallet, () => world.get('/v2/case?q=secret', world.pay(wallet)));
    expect([result.status, result.json.error.code, spent]).toEqual([402, 'settlement_failed', 0n]);
    expect(result.json.error.details).toMatchObject({ charged: false, reason: 'expired' });
    const later = await world.get(world.resultPath(result.json.meta.request_id));
    expect([later.status, later.json.error.code]).toEqual([402, 'settlement_failed']);
    expect(later.headers.get('payment-required')).toBeNull();
    expect(result.text + later.text).not.toContain('secret');
  });
});

describe.each([
  ['a fee payer without SOL', { feePayer: false }, 'fee_payer', 'too little for network fees'],
  ['a token account of ours that is missing', { account: false }, 'token_account', 'has no USDC token account'],
] as const)('%s', (_title, endow, component, reason) => {
  it('is our error: 503, uncharged; /readyz says so and an alarm is in the log', async () => {
    const world = await openWorld({ endow });
    const logIdentity = { logId: await world.storage.readStore.belongTo('a log') };
    const health = watchHealth({
      checks: healthChecks({ ...world, ...world.storage, logIdentity, solanaNetwork: 'local', clock: systemClock }),
      clock: systemClock,
      onChange: alarmsTo(world.logger),
    });
    const admin = buildAdminApp({
      metrics: createMetrics(),
      service: { publicUrl: world.url, clock: systemClock },
      logger: world.logger,
      health: health.health,
    });
    try {
      const payer = await world.wallet();
      const { result, spent } = await world.moved(payer, () => world.get('/v2/case?q=a', world.pay(payer)));
      expect([result.status, result.json.error.details.component, spent]).toEqual([503, component, 0n]);
      expect(result.json.error.details.charged).toBe(false);
      await health.refresh();
      const ready = await admin.inject('/readyz');
      expect(ready.statusCode).toBe(503);
      expect(ready.body).toContain(reason);
      expect(world.alarms.map(({ alarm }) => alarm)).toContain('payment_receiver_down');
    } finally {
      health.stop();
      await admin.close();
      await world.close();
    }
  });
});

describe('a fee payer whose SOL runs low', () => {
  it('logs an alarm while everything still works', async () => {
    const world = await openWorld({ endow: { feePayer: false } });
    try {
      await world.rpc.call('requestAirdrop', world.receiver.feePayer, 2_000_000);
      const logIdentity = { logId: await world.storage.readStore.belongTo('a log') };
      const told: unknown[] = [];
      const tell = (line: object) => told.push(line);
      const health = watchHealth({
        checks: healthChecks({ ...world, ...world.storage, logIdentity, solanaNetwork: 'local', clock: systemClock }),
        clock: systemClock,
        onChange: alarmsTo({ info: tell, warn: tell, error: tell }),
      });
      const payer = await world.wallet();
      expect((await world.get('/v2/case?q=a', world.pay(payer))).status).toBe(200);
      await health.refresh();
      health.stop();
      expect(told).toContainEqual(
        expect.objectContaining({ part: 'payment_receiver', alarm: 'payment_receiver_degraded' }),
      );
    } finally {
      await world.close();
    }
  });
});
