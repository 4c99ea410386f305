/** Given what sources did, and how they are at a scrape, when Prometheus asks, then it finds both, and no case. */
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/admin/metrics/metrics.ts';
import type { SourceGauges } from '../../../../src/http/admin/metrics/source-metrics.ts';
import { MICROS_PER_SECOND } from '../../../../src/runtime/instant.ts';

const courts = { working: 203, degraded: 1, failing: 0, misconfigured: 0, paused: 1 };
const HOUR = 3_600 * MICROS_PER_SECOND;
const courtListener: SourceGauges = {
  source: 'courtlistener',
  budget: {
    rates: [
      { requests: 5, micros: HOUR / 60, used: 5 },
      { requests: 50, micros: HOUR, used: 12 },
      // Others use the account as well, so more may be used than was allowed.
      { requests: 125, micros: 24 * HOUR, used: 130 },
    ],
    heldUntil: 1_800_000_000 * MICROS_PER_SECOND,
  },
  breaker: 'half_open',
  courts,
};

describe('metrics of live sources', () => {
  it('count requests and time looks by outcome', async () => {
    const metrics = createMetrics();
    metrics.sourceAsked('courtlistener', 'throttled', 0.2);
    metrics.sourceAsked('courtlistener', 'ok', 0.4);
    metrics.caseLookedAt('courtlistener', 'paid', 'partial', 3);
    const text = await metrics.text();
    expect(text).toContain('docket_source_requests_total{source="courtlistener",outcome="throttled"} 1');
    expect(text).toContain('docket_source_requests_total{source="courtlistener",outcome="ok"} 1');
    expect(text).toContain('docket_source_request_seconds_count{source="courtlistener"} 2');
    expect(text).toContain(
      'docket_source_look_seconds_count{source="courtlistener",priority="paid",outcome="partial"} 1',
    );
  });

  it('start at 0, so that the first increment shows', async () => {
    const text = await createMetrics().text();
    expect(text).toContain('docket_source_requests_total{source="scotus",outcome="ok"} 0');
    expect(text).toContain('docket_source_items_total{source="rss",outcome="unreadable"} 0');
    expect(text).toContain('docket_source_request_seconds_count{source="rss"} 0');
  });

  it('count items by what became of them', async () => {
    const metrics = createMetrics();
    metrics.itemsSeen('rss', 'unknown_case', 357);
    metrics.itemsSeen('rss', 'ingested', 1);
    const text = await metrics.text();
    expect(text).toContain('docket_source_items_total{source="rss",outcome="unknown_case"} 357');
    expect(text).toContain('docket_source_items_total{source="rss",outcome="ingested"} 1');
  });

  it('show the budget by window, never below 0, and until when the source said to wait', async () => {
    const metrics = createMetrics();
    metrics.watchSources(async () => [courtListener]);
    const text = await metrics.text();
    expect(text).toContain('docket_source_budget_left{source="courtlistener",window="minute"} 0');
    expect(text).toContain('docket_source_budget_left{source="courtlistener",window="hour"} 38');
    expect(text).toContain('docket_source_budget_left{source="courtlistener",window="day"} 0');
    expect(text).toContain('docket_source_budget_limit{source="courtlistener",window="day"} 125');
    expect(text).toContain('docket_source_held_until_timestamp_seconds{source="courtlistener"} 1800000000');
    expect(text).toContain('docket_source_breaker{source="courtlistener",state="half_open"} 1');
    expect(text).toContain('docket_source_breaker{source="courtlistener",state="open"} 0');
    expect(text).toContain('docket_source_courts{source="courtlistener",standing="degraded"} 1');
  });

  it('have no sample of what cannot be read, instead of an old one', async () => {
    let isBroken = false;
    const metrics = createMetrics({ keepMs: 0 });
    metrics.watchSources(async () => {
      if (isBroken) throw new Error('the read store is gone');
      return [courtListener];
    });
    expect(await metrics.text()).toContain('docket_source_budget_left{');
    isBroken = true;
    const text = await metrics.text();
    expect(text).not.toContain('docket_source_budget_left{');
    expect(text).toContain('docket_metrics_source_up{source="live_sources"} 0');
  });

  it('show when each feed was built and read', async () => {
    const metrics = createMetrics();
    metrics.feedRead('cand', 1_700_000_060 * MICROS_PER_SECOND, 1_700_000_000 * MICROS_PER_SECOND);
    metrics.feedRead('hid', 1_700_000_090 * MICROS_PER_SECOND, null);
    const text = await metrics.text();
    expect(text).toContain('docket_feed_built_timestamp_seconds{court="cand"} 1700000000');
    expect(text).toContain('docket_feed_read_timestamp_seconds{court="cand"} 1700000060');
    expect(text).toContain('docket_feed_read_timestamp_seconds{court="hid"} 1700000090');
    expect(text).not.toContain('docket_feed_built_timestamp_seconds{court="hid"}');
  });

  it('show watched cases on the node that keeps them fresh, and on no other', async () => {
    const metrics = createMetrics();
    expect(await metrics.text()).not.toMatch(/^docket_watched_cases/m);
    metrics.casesWatched({ cases: 2_000, overdue: 12, unaffordable: 300, awaitingText: 7 });
    const text = await metrics.text();
    expect(text).toMatch(/^docket_watched_cases 2000$/m);
    expect(text).toMatch(/^docket_watched_cases_overdue 12$/m);
    expect(text).toMatch(/^docket_watched_cases_unaffordable 300$/m);
    expect(text).toMatch(/^docket_watched_cases_awaiting_text 7$/m);
    metrics.casesWatched(null);
    expect(await metrics.text()).not.toMatch(/^docket_watched_cases/m);
  });
});
