import { describe, expect, it } from 'vitest';
import type { Purchasing } from '../../../../src/commands/purchase/contract.ts';
import { buildAdminApp } from '../../../../src/http/admin/admin-app.ts';
import { countPurchases } from '../../../../src/http/admin/metrics/count-purchases.ts';
import { createMetrics, type Metrics } from '../../../../src/http/admin/metrics/metrics.ts';
import { StorageFailure } from '../../../../src/storage/storage-failure.ts';
import { listen, service, silent } from '../../serving.ts';

/** What Prometheus would read, over a real socket: samples by name and labels. */
async function scrape(metrics: Metrics): Promise<ReadonlyMap<string, number>> {
  const app = buildAdminApp({ service, logger: silent, health: () => ({}), metrics });
  const port = await listen(app);
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  } finally {
    await app.close();
  }
}

describe('GET /metrics', () => {
  it('counts attempts by their failure class', async () => {
    const metrics = createMetrics();
    metrics.attemptEnded(null, 0.2);
    metrics.attemptEnded('http_5xx', 0.3);
    metrics.attemptEnded('http_5xx', 20);
    const samples = await scrape(metrics);
    expect(samples.get('docket_callback_attempts_total{failure_class="acknowledged"}')).toBe(1);
    expect(samples.get('docket_callback_attempts_total{failure_class="http_5xx"}')).toBe(2);
    expect(samples.get('docket_callback_attempt_seconds_bucket{le="0.25"}')).toBe(1);
    expect(samples.get('docket_callback_attempt_seconds_count')).toBe(3);
  });

  it('shows the free disk space if it is known', async () => {
    const metrics = createMetrics({ keepMs: 0 });
    expect((await scrape(metrics)).has('docket_disk_free_bytes')).toBe(false);
    let free: number | null = 5_000_000;
    metrics.watchDisk(async () => free);
    expect((await scrape(metrics)).get('docket_disk_free_bytes')).toBe(5_000_000);
    free = null;
    expect((await scrape(metrics)).has('docket_disk_free_bytes')).toBe(false);
  });

  it('shows the state of deliveries at the time of the request', async () => {
    const metrics = createMetrics({ keepMs: 0 });
    let oldestOverdueSeconds = 0;
    metrics.watchDeliveries(async () => ({ pending: 2, retrying: 5, oldestOverdueSeconds }));
    expect((await scrape(metrics)).get('docket_callback_oldest_overdue_seconds')).toBe(0);
    oldestOverdueSeconds = 71.5;
    const samples = await scrape(metrics);
    expect(samples.get('docket_callback_oldest_overdue_seconds')).toBe(71.5);
    expect(samples.get('docket_callback_deliveries{status="pending"}')).toBe(2);
    expect(samples.get('docket_callback_deliveries{status="retrying"}')).toBe(5);
  });

  it('shows everything else while the state of deliveries cannot be read', async () => {
    const metrics = createMetrics();
    metrics.payloadDamaged();
    let isDown = true;
    metrics.watchDeliveries(async () => {
      if (isDown) throw new StorageFailure('storage_unavailable', 'no answer');
      return { pending: 1, retrying: 0, oldestOverdueSeconds: 0 };
    });
    const samples = await scrape(metrics);
    expect(samples.get('docket_damaged_payloads_total')).toBe(1);
    expect(samples.get('docket_metrics_source_up{source="deliveries"}')).toBe(0);
    expect(samples.has('docket_callback_deliveries{status="pending"}')).toBe(false);
    expect(samples.has('docket_callback_oldest_overdue_seconds')).toBe(false);
    isDown = false;
    const recovered = await scrape(metrics);
    expect(recovered.get('docket_metrics_source_up{source="deliveries"}')).toBe(1);
    expect(recovered.get('docket_callback_deliveries{status="pending"}')).toBe(1);
  });

  it('counts purchases by dialect and outcome', async () => {
    const metrics = createMetrics();
    const bought = { outcome: 'pending', timings: { verify: 4, query: null, settle: null, record: null } } as Awaited<
      ReturnType<Purchasing['buy']>
    >;
    const purchasing = countPurchases({ underway: new Set(), buy: async () => bought }, metrics);
    expect(await purchasing.buy({ dialect: 'x402-v1' } as Parameters<Purchasing['buy']>[0])).toBe(bought);
    expect((await scrape(metrics)).get('docket_purchases_total{dialect="x402-v1",outcome="pending"}')).toBe(1);
  });

  it('counts the money of outcomes: each settlement once, and what the cluster undid apart', async () => {
    const metrics = createMetrics();
    const payment = { endpoint: 'POST /v2/cases/batch', amount: '1980000', answeredCases: 2 };
    const revenue = 'docket_revenue_usdc_total{endpoint="POST /v2/cases/batch"}';
    metrics.outcomeRecorded({ ...payment, events: [{ type: 'PaymentSettled' }], feeLamports: 10_001n });
    metrics.outcomeRecorded({ ...payment, events: [{ type: 'PaymentFinalized' }], feeLamports: 0n });
    metrics.outcomeRecorded({ ...payment, events: [{ type: 'PaymentRolledBack' }], feeLamports: 0n });
    const undone = await scrape(metrics);
    expect(undone.get(revenue)).toBe(1.98);
    expect(undone.get('docket_answers_sold_total{endpoint="POST /v2/cases/batch"}')).toBe(2);
    expect(undone.get('docket_rolled_back_usdc_total')).toBe(1.98);
    expect(undone.get('docket_network_fees_lamports_total')).toBe(10_001);
    metrics.outcomeRecorded({ ...payment, events: [{ type: 'PaymentSettledLate' }], feeLamports: 10_001n });
    const settledLate = await scrape(metrics);
    expect(settledLate.get(revenue)).toBe(3.96);
    expect(settledLate.get('docket_payment_outcomes_total{outcome="settled_late"}')).toBe(1);
    expect(settledLate.get('docket_payment_outcomes_total{outcome="failed"}')).toBe(0);
  });

  it('counts a purchase that broke as a refusal by our fault', async () => {
    const metrics = createMetrics();
    const broken: Purchasing = { underway: new Set(), buy: () => Promise.reject(new Error('a bug')) };
    const request = { dialect: 'x402-v2' } as Parameters<Purchasing['buy']>[0];
    await expect(countPurchases(broken, metrics).buy(request)).rejects.toThrow('a bug');
    const samples = await scrape(metrics);
    expect(samples.get('docket_purchases_total{dialect="x402-v2",outcome="refused"}')).toBe(1);
    expect(samples.get('docket_purchase_refusals_total{code="internal_error",fault="service"}')).toBe(1);
  });
});
