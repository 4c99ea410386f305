/** Given sources of metrics; when several scrapers ask; then each is read rarely, and a failing one hides no other. */
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/admin/metrics/metrics.ts';
import { Sources } from '../../../../src/http/admin/metrics/sources.ts';
import { TimeHistogram } from '../../../../src/http/admin/metrics/time-histogram.ts';

function sourceWith(read: () => Promise<number>, now: () => number = () => 0) {
  const registry = new Registry();
  const sources = new Sources(registry, { now, keepMs: 5_000, patienceMs: 20 });
  const shown = new Gauge({ name: 'docket_shown', help: 'a value', registers: [registry] });
  let reads = 0;
  sources.add({
    name: 'shown',
    read: () => {
      reads++;
      return read();
    },
    show: (value) => (value === null ? shown.remove() : shown.set(value)),
  });
  const text = async () => {
    await sources.refresh();
    return registry.metrics();
  };
  return { text, reads: () => reads };
}

describe('sources of metrics', () => {
  it('are read once for scrapes at the same time, and again after a while', async () => {
    let now = 0;
    let value = 1;
    const { text, reads } = sourceWith(
      async () => value,
      () => now,
    );
    const [first, second] = await Promise.all([text(), text()]);
    expect(first).toBe(second);
    expect(first).toContain('docket_shown 1');
    value = 2;
    now = 4_999;
    expect(await text()).toContain('docket_shown 1');
    expect(reads()).toBe(1);
    now = 5_000;
    expect(await text()).toContain('docket_shown 2');
    expect(reads()).toBe(2);
  });

  it('have no samples while they fail, and are asked again at once', async () => {
    let isDown = true;
    const { text } = sourceWith(async () => {
      if (isDown) throw new Error('down');
      return 7;
    });
    const failed = await text();
    expect(failed).toContain('docket_metrics_source_up{source="shown"} 0');
    expect(failed).not.toMatch(/^docket_shown /m);
    isDown = false;
    const recovered = await text();
    expect(recovered).toContain('docket_metrics_source_up{source="shown"} 1');
    expect(recovered).toMatch(/^docket_shown 7$/m);
  });

  it('that hang hold no scrape, are not asked twice, and are shown once they answer', async () => {
    let answer: (value: number) => void = () => undefined;
    const { text, reads } = sourceWith(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    expect(await text()).toContain('docket_metrics_source_up{source="shown"} 0');
    expect(await text()).toContain('docket_metrics_source_up{source="shown"} 0');
    expect(reads()).toBe(1);
    answer(3);
    expect(await text()).toMatch(/^docket_shown 3$/m);
    expect(reads()).toBe(1);
  });

  it('that throw while they are shown hide no other metric', async () => {
    const metrics = createMetrics();
    metrics.watchHealth(() => {
      throw new Error('a bug');
    });
    metrics.alarmRaised({ name: 'payload_damaged', level: 'error', at: 1_700_000_000_000_000 });
    const text = await metrics.text();
    expect(text).toContain('docket_alarms_total{alarm="payload_damaged",level="error"} 1');
    expect(text).toContain('docket_alarm_last_timestamp_seconds{alarm="payload_damaged",level="error"} 1700000000');
    expect(text).not.toContain('docket_ready');
  });
});

describe('a histogram of durations', () => {
  it('counts each observation in its bucket and in all above it, by labels', async () => {
    const registry = new Registry();
    const times = new TimeHistogram(registry, {
      name: 'docket_times_seconds',
      help: 'times',
      buckets: [0.1, 1],
      labelNames: ['kind', 'outcome'],
    });
    times.observe(0.1, 'a', 'ok');
    times.observe(0.5, 'a', 'ok');
    times.observe(3, 'a', 'ok');
    times.observe(0.01, 'b', 'failed');
    expect((await registry.metrics()).trim().split('\n')).toEqual([
      '# HELP docket_times_seconds times',
      '# TYPE docket_times_seconds histogram',
      'docket_times_seconds_bucket{le="0.1",kind="a",outcome="ok"} 1',
      'docket_times_seconds_bucket{le="1",kind="a",outcome="ok"} 2',
      'docket_times_seconds_bucket{le="+Inf",kind="a",outcome="ok"} 3',
      'docket_times_seconds_sum{kind="a",outcome="ok"} 3.6',
      'docket_times_seconds_count{kind="a",outcome="ok"} 3',
      'docket_times_seconds_bucket{le="0.1",kind="b",outcome="failed"} 1',
      'docket_times_seconds_bucket{le="1",kind="b",outcome="failed"} 1',
      'docket_times_seconds_bucket{le="+Inf",kind="b",outcome="failed"} 1',
      'docket_times_seconds_sum{kind="b",outcome="failed"} 0.01',
      'docket_times_seconds_count{kind="b",outcome="failed"} 1',
    ]);
  });
});
