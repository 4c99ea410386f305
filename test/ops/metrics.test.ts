/**
 * Given a running service with one wallet's purchases and callbacks; when Prometheus reads `/metrics`; then it finds what
 * happened, under names and labels that hold no wallet, URL or host of a caller.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { withinOneDay } from '../support/within-one-day.ts';
import { FROM_PROMETHEUS, familyOf, groupedBy, metricsIn } from './named-metrics.ts';
import { type ObservedService, type Scrape, startObservedService } from './observed-service.ts';
import { promtool } from './promtool.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

let observed: ObservedService;
let wallet: Awaited<ReturnType<ObservedService['wallet']>>;
let before: Scrape;
let after: Scrape;

const sample = (scrape: Scrape, name: string): number => scrape.samples.get(name) ?? 0;
/** How much a counter has grown between the two scrapes. */
const growth = (name: string): number => sample(after, name) - sample(before, name);

beforeAll(async () => {
  await withinOneDay();
  observed = await startObservedService();
  wallet = await observed.wallet();
  before = await observed.scrape();

  const path = await observed.casePath('/hook');
  const headers = await observed.paymentFor(wallet, path);
  const bought = await fetch(observed.url + path, { headers });
  expect(bought.status, await bought.text()).toBe(200);
  // The same payment cannot buy another answer.
  const again = await fetch(observed.url + path, { headers });
  expect([again.status, await again.json()]).toMatchObject([409, { error: { code: 'payment_already_used' } }]);
  expect((await fetch(`${observed.url}/no/such/${wallet.publicKey.toBase58()}`)).status).toBe(404);
  const failing = await observed.casePath('/gone');
  const second = await fetch(observed.url + failing, { headers: await observed.paymentFor(wallet, failing) });
  expect(second.status, await second.text()).toBe(200);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'service_pricing', arguments: {} } };
  const tool = await fetch(`${observed.url}/v2/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  expect(tool.status, await tool.text()).toBe(200);
  // A generation that is built beside the active one has samples of its own.
  const rebuild = await observed.docket('projections', 'rebuild', 'payments', '--detach', '--reason', 'test', '--json');
  expect(rebuild.code, rebuild.err).toBe(0);
  const attempts = (scrape: Scrape) => sample(scrape, 'docket_callback_attempt_seconds_count');
  await vi.waitUntil(
    async () => {
      after = await observed.scrape();
      const percent = after.samples.get('docket_projection_rebuild_percent{projection="payments"}');
      const sold = sample(after, 'docket_answers_today{endpoint="GET /v2/case"}');
      const isRetrying = sample(after, 'docket_callback_deliveries{status="retrying"}') === 1;
      const isFeedRead = sample(after, 'docket_feed_read_timestamp_seconds{court="ilnd"}') > 0;
      return attempts(after) - attempts(before) === 2 && isRetrying && percent === 100 && sold === 2 && isFeedRead;
    },
    { timeout: 60_000, interval: 200 },
  );
}, 180_000);
afterAll(() => observed?.close());

describe('/metrics of a running service', () => {
  it('shows what it sold, and how long each phase took', () => {
    expect(growth('docket_purchases_total{dialect="x402-v2",outcome="settled"}')).toBe(2);
    expect(growth('docket_answers_sold_total{endpoint="GET /v2/case"}')).toBe(2);
    expect(growth('docket_revenue_usdc_total{endpoint="GET /v2/case"}')).toBeCloseTo(1.98, 6);
    expect(growth('docket_payment_outcomes_total{outcome="settled"}')).toBe(2);
    expect(sample(after, 'docket_revenue_today_usdc{endpoint="GET /v2/case"}')).toBeCloseTo(1.98, 6);
    // Two signatures each, and the priority fee that the client asked for.
    expect(growth('docket_network_fees_lamports_total')).toBeGreaterThanOrEqual(20_000);
    for (const phase of ['query', 'record', 'settle']) {
      expect(growth(`docket_purchase_phase_seconds_count{phase="${phase}"}`), phase).toBe(2);
      expect(growth(`docket_purchase_phase_seconds_sum{phase="${phase}"}`), phase).toBeGreaterThan(0);
    }
    expect(sample(after, 'docket_purchases_in_flight')).toBe(0);
    expect(after.samples.has('docket_payments_open{state="pending"}')).toBe(true);
  });

  it('shows what it refused, and whose fault that was', () => {
    expect(growth('docket_purchases_total{dialect="x402-v2",outcome="refused"}')).toBe(1);
    expect(growth('docket_purchase_refusals_total{code="payment_already_used",fault="caller"}')).toBe(1);
    expect(growth('docket_http_errors_total{code="payment_already_used"}')).toBe(1);
  });

  it('shows requests by the pattern of their route, and calls of tools', () => {
    expect(growth('docket_http_request_seconds_count{route="/v2/case",method="GET",outcome="ok"}')).toBe(2);
    expect(growth('docket_http_request_seconds_count{route="(none)",method="GET",outcome="refused"}')).toBe(1);
    expect(growth('docket_http_request_seconds_count{route="/v2/mcp",method="POST",outcome="ok"}')).toBe(1);
    expect(growth('docket_mcp_call_seconds_count{tool="service_pricing",outcome="answered"}')).toBe(1);
  });

  it('shows attempts of callbacks by what became of them', () => {
    expect(growth('docket_callback_attempts_total{failure_class="acknowledged"}')).toBe(1);
    expect(growth('docket_callback_attempts_total{failure_class="http_5xx"}')).toBe(1);
    // The failed one has its next attempt, and nothing is late.
    expect(sample(after, 'docket_callback_deliveries{status="retrying"}')).toBe(1);
    expect(after.samples.get('docket_callback_overdue')).toBe(0);
  });

  it('shows the chain: calls by endpoint, the balance of the last check, without a call of its own', async () => {
    const endpoint = new URL(observed.service.rpcUrl ?? '').host;
    expect(growth(`docket_rpc_calls_total{endpoint="${endpoint}",method="sendTransaction",outcome="ok"}`)).toBe(2);
    expect(growth(`docket_rpc_call_seconds_count{endpoint="${endpoint}"}`)).toBeGreaterThan(2);
    expect(sample(after, 'docket_fee_payer_lamports')).toBeGreaterThan(sample(after, 'docket_fee_payer_low_lamports'));
    expect(sample(after, 'docket_token_account_exists')).toBe(1);
    const balanceCalls = `docket_rpc_calls_total{endpoint="${endpoint}",method="getBalance",outcome="ok"}`;
    const checkedAt = 'docket_accounts_checked_timestamp_seconds';
    const scrapes = await Promise.all(Array.from({ length: 5 }, () => observed.scrape()));
    for (const each of scrapes) {
      // Every balance comes from a check of health, which moves the time of the check too.
      if (sample(each, checkedAt) === sample(after, checkedAt)) {
        expect(sample(each, balanceCalls)).toBe(sample(after, balanceCalls));
      }
    }
  });

  it('shows the state of read models, parts, log and process', () => {
    for (const projection of ['cases', 'payments', 'deliveries']) {
      expect(after.samples.has(`docket_projection_lag_events{projection="${projection}",role="active"}`)).toBe(true);
      expect(sample(after, `docket_projection_halted{projection="${projection}",role="active"}`)).toBe(0);
    }
    expect(sample(after, 'docket_projection_generation{projection="payments",role="building"}')).toBeGreaterThan(
      sample(after, 'docket_projection_generation{projection="payments",role="active"}'),
    );
    expect(sample(after, 'docket_ready')).toBe(1);
    expect(sample(after, 'docket_part_health{part="event_log",status="nominal"}')).toBe(1);
    expect(sample(after, 'docket_part_health{part="event_log",status="down"}')).toBe(0);
    expect(growth('docket_log_append_seconds_count{outcome="ok"}')).toBeGreaterThan(3);
    expect(after.text).toMatch(/^docket_build_info\{version="[\d.]+",node="v\d+[^"]*"\} 1$/m);
    expect(after.samples.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
    expect(sample(after, 'process_start_time_seconds')).toBeGreaterThan(0);
    for (const source of ['deliveries', 'hosts', 'payments', 'revenue', 'projections', 'disk', 'live_sources']) {
      expect(sample(after, `docket_metrics_source_up{source="${source}"}`), source).toBe(1);
    }
  });

  it('shows live sources: budget, breaker, courts, requests, and feeds', () => {
    expect(sample(after, 'docket_source_budget_limit{source="courtlistener",window="day"}')).toBe(2_000);
    expect(sample(after, 'docket_source_budget_left{source="courtlistener",window="day"}')).toBeGreaterThan(1_900);
    expect(sample(after, 'docket_source_held_until_timestamp_seconds{source="scotus"}')).toBeGreaterThan(1e9);
    expect(sample(after, 'docket_source_breaker{source="courtlistener",state="closed"}')).toBe(1);
    expect(sample(after, 'docket_source_courts{source="courtlistener",standing="working"}')).toBe(205);
    expect(sample(after, 'docket_source_courts{source="rss",standing="working"}')).toBe(1);
    expect(sample(after, 'docket_source_requests_total{source="rss",outcome="ok"}')).toBeGreaterThan(0);
  });

  it('counts the alarms that the service has logged, by name', () => {
    expect(sample(before, 'docket_alarms_total{alarm="private_callbacks_allowed",level="warn"}')).toBe(1);
  });

  it('has no label from a caller: no wallet, no URL, no host', () => {
    const { text } = after;
    expect(text).not.toContain(wallet.publicKey.toBase58());
    expect(text).not.toContain('/hook');
    expect(text).not.toContain('no/such');
    // The chain is the only peer that is named, by host and port.
    const hosts = [...text.matchAll(/127\.0\.0\.1:\d+/g)].map(([host]) => host);
    expect(new Set(hosts)).toEqual(new Set([new URL(observed.service.rpcUrl ?? '').host]));
  });

  it.skipIf(promtool.isMissing)('keeps the conventions of Prometheus (promtool check metrics)', async () => {
    expect(await promtool.run(['check', 'metrics'], after.text)).toEqual({ code: 0, output: '' });
  });
});

/** Every label of each metric family, as far as it has samples. */
function labelsByFamily({ samples, families }: Scrape): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>([...families.keys()].map((name) => [name, new Set()]));
  for (const sampled of samples.keys()) {
    const name = sampled.replace(/\{.*/, '');
    const labels = [...sampled.replace(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/([a-z_]+)=""/g)].map(
      ([, label = '']) => label,
    );
    for (const label of labels) found.get(familyOf(name, families))?.add(label);
  }
  return found;
}

describe.each<[string, () => readonly string[]]>([
  [
    'the alert rules',
    () =>
      parse(read('ops/prometheus/alerts.yml')).groups.flatMap(({ rules }: { rules: { expr: string }[] }) =>
        rules.map(({ expr }) => expr),
      ),
  ],
  ['the dashboard', () => dashboardExpressions(JSON.parse(read('ops/grafana/docket.json')))],
])('%s', (_name, expressions) => {
  it('name only metrics and labels that the service exposes', () => {
    const { families } = after;
    const labels = labelsByFamily(after);
    expect(expressions().length).toBeGreaterThan(20);
    for (const expression of expressions()) {
      const named = metricsIn(expression);
      const known = new Set(FROM_PROMETHEUS);
      for (const { name, labels: used } of named) {
        const own = labels.get(familyOf(name, families));
        expect(own, `${name} in ${expression}`).toBeDefined();
        expect(
          used.filter((label) => !own?.has(label) && !FROM_PROMETHEUS.has(label)),
          `${name} in ${expression}`,
        ).toEqual([]);
        for (const label of own ?? []) known.add(label);
      }
      expect(
        groupedBy(expression).filter((label) => !known.has(label)),
        expression,
      ).toEqual([]);
    }
  });

  it('use each type of metric as what it is: rates of counters, no rates of gauges', () => {
    for (const expression of expressions()) {
      const counted = [...expression.matchAll(/\b(?:rate|increase)\(((?:docket|nodejs|process)_\w+)/g)];
      for (const [, name = ''] of counted) {
        expect(['counter', 'histogram', 'summary'], `${name} in ${expression}`).toContain(
          after.families.get(familyOf(name, after.families)),
        );
      }
    }
  });
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('ops/grafana/docket.json'));

  it('names no data source and no node of its own: both are variables', () => {
    const sources = [...JSON.stringify(dashboard).matchAll(/"datasource":(\{.*?"\})/g)].map(([, text = '']) => text);
    expect(new Set(sources)).toEqual(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Grafana's.
      new Set(['{"type":"prometheus","uid":"${datasource}"}', '{"type":"grafana","uid":"-- Grafana --"}']),
    );
    expect(dashboard.id).toBeUndefined();
    expect(dashboard.templating.list.map(({ name }: { name: string }) => name)).toEqual([
      'datasource',
      'job',
      'instance',
    ]);
    for (const expression of dashboardExpressions(dashboard)) {
      for (const { name, labels } of metricsIn(expression)) {
        expect(labels, `${name} in ${expression}`).toEqual(expect.arrayContaining(['job', 'instance']));
      }
    }
  });

  it('has panels with ids of their own that do not overlap', () => {
    const panels: readonly { id: number; gridPos: Record<'x' | 'y' | 'w' | 'h', number> }[] = dashboard.panels;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe('the list of metrics in docs/operating.md', () => {
  it('has each metric of ours with its labels, and no other', () => {
    const section = /^## Metrics\n([\s\S]*?)^## /m.exec(read('docs/operating.md'))?.[1] ?? '';
    const rows = [...section.matchAll(/^\| `(docket_\w+)` \| ([^|]*) \| ([^|]{10,}) \|$/gm)];
    const listed = rows.map(([, name = '', labels = '']) => `${name} ${[...(labels.match(/\w+/g) ?? [])].sort()}`);
    const exposed = [...labelsByFamily(after)]
      .filter(([name]) => name.startsWith('docket_'))
      .map(([name, labels]) => `${name} ${[...labels].filter((label) => label !== 'le').sort()}`);
    expect(listed.sort()).toEqual(exposed.sort());
  });
});

function dashboardExpressions({ panels }: { readonly panels: readonly { targets?: { expr: string }[] }[] }) {
  // Grafana's own variables stand for any value.
  return panels.flatMap(({ targets = [] }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));
}
