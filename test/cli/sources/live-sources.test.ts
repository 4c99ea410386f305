/**
 * Given a storage and the settings of live sources, when an operator lists, shows, pauses and resumes them, then they see
 * what is recorded, and the log has each act.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createSourcesCommand } from '../../../src/cli/sources/sources.ts';
import { DocketChecked, DocketOpened } from '../../../src/events/docket.ts';
import { paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import {
  AlertEnded,
  AlertSubscribed,
  CaseWanted,
  SourceStandingChanged,
  sourceStream,
  WebhookApplied,
  WebhookReceived,
} from '../../../src/events/source.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { NO_MEMORY, writeMemory } from '../../../src/sources/rss/feed-memory.ts';
import { readRates } from '../../../src/sources/settings.ts';
import { createSharedBudget } from '../../../src/sources/shared-budget.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

const at = (minute: number) => `2026-03-02T10:${String(minute).padStart(2, '0')}:00.000000Z`;
const micros = (minute: number) => Date.parse('2026-03-02T10:00:00Z') * 1_000 + minute * 60_000_000;
const TOKEN = 'a-token-that-nobody-may-see';
const SECRET = 's'.repeat(40);

let world: MoneyWorld;
beforeAll(async () => {
  world = await openMoneyWorld();
  Object.assign(world.environment, {
    COURTLISTENER_TOKEN: TOKEN,
    COURTLISTENER_WEBHOOK_SECRET: SECRET,
    RSS_COURTS: 'cand,nyed',
  });
  const checked = (source: string, outcome: 'partial' | 'failed', minute: number) =>
    DocketChecked.of({ source, askedAt: at(minute), complete: false, outcome, ingestId: null });
  await world.write('docket-cand-3:26-cv-00042', at(9), checked('rss', 'partial', 3), checked('rss', 'failed', 8));
  const silent = { source: 'rss', court: 'nyed', standing: 'degraded', why: 'silent', at: at(5) } as const;
  await world.write('source-rss-nyed', at(6), SourceStandingChanged.of(silent));
  const message = { source: 'courtlistener', keyHash: 'a'.repeat(64) } as const;
  await world.write(
    `source-webhook-courtlistener-${message.keyHash}`,
    at(7),
    WebhookReceived.of({ ...message, eventType: 1, receivedAt: at(7), content: null }),
    WebhookApplied.of({ ...message, outcome: 'ignored' }),
  );
  const alert = { source: 'courtlistener', sourceCaseId: '70', alertId: '7' } as const;
  const ofCase = { court: 'cand', caseNumber: '3:26-cv-00042', by: 'watched', renewed: false };
  await world.write('source-alert-courtlistener-70', at(7), AlertSubscribed.of({ ...alert, ...ofCase }));
  const lost = { ...alert, sourceCaseId: '71', alertId: '8' };
  await world.write(
    'source-alert-courtlistener-71',
    at(8),
    AlertEnded.of({ ...lost, why: 'disabled_by_source', by: 'service' }),
  );
  const sought = { court: 'cand', caseNumber: '3:26-cv-00043' };
  await world.write(
    sourceStream.wanted(sought.court, sought.caseNumber),
    at(9),
    CaseWanted.of({ ...sought, wantedBy: 'query' }),
  );
  await writeMemory(world.storage.readStore, 'cand', 0, {
    ...NO_MEMORY,
    nextAt: micros(15),
    lookedAt: micros(10),
    builtAt: micros(9),
    movedAt: micros(9),
    types: 'Docket entries of type: all',
    count: 432,
    window: 24 * 3_600_000_000,
    passed: new Map([['0123456789', 1]]),
  });
  await world.caughtUp();
});
afterAll(() => world?.close());

const sources = (...argv: string[]) => world.run(createSourcesCommand, 'sources', ...argv);
const json = async (...argv: string[]) => {
  const { code, out } = await sources(...argv, '--json');
  expect(code, argv.join(' ')).toBe(EXIT.ok);
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

describe('docket sources list', () => {
  it('shows each configured source with its courts, how it works, and when it last succeeded', async () => {
    const rows = await json('list');
    expect(rows.map(({ name, kind, configured, courts }) => [name, kind, configured, courts])).toEqual([
      ['courtlistener', 'api', true, expect.any(Number)],
      ['rss', 'feeds', true, 2],
    ]);
    // 94 district and 94 bankruptcy courts, 13 courts of appeals, cit, uscfc, jpml, cavc.
    expect(rows[0].courts).toBe(205);
    expect(rows[1]).toMatchObject({
      standing: 'working',
      paused: null,
      last_success_at: at(3),
      last_look_at: at(8),
      looks: { partial: 1, failed: 1, complete: 0 },
    });
  });

  it('shows what all nodes have left of the budget', async () => {
    const rates = readRates('5/min,50/hour,125/day') ?? [];
    const budget = createSharedBudget({ ...world.storage, clock: systemClock, name: 'courtlistener', rates });
    await budget.take('paid');
    await budget.take('paid');
    const [shown] = await json('list');
    expect(shown.budget).toEqual([
      { window: 'minute', limit: 5, used: 2, left: 3 },
      { window: 'hour', limit: 50, used: 2, left: 48 },
      { window: 'day', limit: 125, used: 2, left: 123 },
    ]);
    expect((await sources('list')).out).toMatch(/^courtlistener .*123 of 125 requests left this day/m);
    expect((await json('list'))[1].budget).toEqual([]);
  });

  it('has one line for each on a terminal', async () => {
    const { out } = await sources('list');
    expect(out).toMatch(/^courtlistener +api +205 courts +working/m);
    expect(out).toMatch(/^rss +feeds +2 courts +working.*last entry 2026-03-02 10:03Z$/m);
  });

  it('shows no secret', async () => {
    for (const argv of [['list'], ['show', 'courtlistener'], ['show', 'courtlistener', '--json']]) {
      const { out, err } = await sources(...argv);
      expect(out + err).not.toContain(TOKEN);
      expect(out + err).not.toContain(SECRET);
    }
  });
});

describe('docket sources show', () => {
  it('shows courts in trouble, with the reason', async () => {
    const [rss] = await json('show', 'rss');
    expect(rss.court_codes).toEqual(['cand', 'nyed']);
    expect(rss.courts_in_trouble).toEqual([
      expect.objectContaining({ court: 'nyed', standing: 'degraded', why: 'silent', since: at(5) }),
    ]);
    expect((await sources('show', 'rss')).out).toMatch(/^nyed +degraded since 2026-03-02 10:05Z: silent$/m);
  });

  it('does not count a court that is configured no longer, and says so of it', async () => {
    world.environment.RSS_COURTS = 'cand';
    const [rss] = await json('show', 'rss');
    expect([rss.court_codes, rss.courts_in_trouble]).toEqual([['cand'], []]);
    const { out } = await sources('show', 'rss', 'nyed');
    expect(out).toMatch(/^rss nyed +not configured here; the last record: degraded since 2026-03-02 10:05Z: silent$/m);
    expect(await json('show', 'rss', 'nyed')).toEqual([
      expect.objectContaining({ configured: false, standing: 'degraded' }),
    ]);
    world.environment.RSS_COURTS = 'cand,nyed';
    expect(await json('show', 'rss', 'nyed')).toEqual([expect.objectContaining({ configured: true })]);
  });

  it('shows webhooks, alerts in force, and alerts that were lost', async () => {
    const [shown] = await json('show', 'courtlistener');
    expect(shown.webhooks).toMatchObject({ received: 1, lastReceivedAt: at(7), applied: { ignored: 1 } });
    expect(shown.alerts).toEqual({ in_force: 1, limit: 5 });
    expect(shown.alerts_lost).toEqual([{ sourceCaseId: '71', why: 'disabled_by_source', at: at(8) }]);
    const { out } = await sources('show', 'courtlistener');
    expect(out).toMatch(/^rates +5\/min,50\/hour,125\/day$/m);
    expect(out).toMatch(/^alerts +1 of 5$/m);
  });

  it('shows which watched cases can be kept fresh', async () => {
    const [shown] = await json('show', 'courtlistener');
    expect(shown.freshness).toMatchObject({ watched: 0, cannot_be_kept: 0, requests_a_day: 100 });
    world.environment.COURTLISTENER_RATES = '1/day';
    const [wanted] = await json('show', 'courtlistener');
    // A number that no source knows is no case that is not kept fresh.
    expect(wanted.freshness).toMatchObject({ wanted: 1, cannot_be_kept: 0, requests_a_day: 1, short: [] });
    const known = 'docket-cand-3:26-cv-00044';
    const now = toInstant(systemClock.now());
    await world.write(known, now, DocketOpened.of({ court: 'cand', caseNumber: '3:26-cv-00044' }));
    const answer = {
      requestId: randomUUID(),
      answer: null,
      keepUntil: now,
      answeredCases: 1,
      keyCall: null,
      callbacks: [],
    };
    await world.write(paymentStream('a'.repeat(64)), now, QueryAnswered.of({ ...answer, cases: [known] }));
    await world.caughtUp();
    const [short] = await json('show', 'courtlistener');
    delete world.environment.COURTLISTENER_RATES;
    expect(short.freshness).toMatchObject({ watched: 1, wanted: 1, cannot_be_kept: 1, requests_a_day: 1 });
    expect(short.freshness.short).toEqual([
      { cases: 1, every_hours: expect.any(Number), possible_hours: expect.any(Number) },
    ]);
    const [feeds] = await json('show', 'rss');
    expect(feeds.freshness).toBeNull();
  });

  it('shows what a feed has, and how far back it goes', async () => {
    const [shown] = await json('show', 'rss', 'cand');
    expect(shown).toMatchObject({
      court: 'cand',
      standing: 'working',
      feed: {
        event_types: 'Docket entries of type: all',
        read_at: at(10),
        built_at: at(9),
        items: 432,
        window_seconds: 86_400,
        unknown_items: 1,
      },
    });
    expect((await sources('show', 'rss', 'cand')).out).toMatch(/^feed window +432 items over 24.0 hours$/m);
    expect((await sources('show', 'rss', 'nyed')).out).toMatch(/^feed +never read$/m);
  });

  it.each([
    [['show', 'scotus'], EXIT.found, /not configured here/],
    [['show', 'pacer'], EXIT.usage, /not a source/],
    [['show', 'rss', 'ok_tulsa'], EXIT.found, /rss has no ok_tulsa/],
    [['show', 'rss', 'moon'], EXIT.usage, /Unknown court/],
  ])('%j is refused with what to do', async (argv, expected, fault) => {
    const { code, out, error } = await sources(...argv);
    expect([code, out]).toEqual([expected, '']);
    expect(error?.message).toMatch(fault);
    expect(error?.hint).toMatch(/./);
  });
});

describe('docket sources pause and resume', () => {
  const act = ['--reason', 'ticket 4711', '--by', 'Ann Lee'];
  const recorded = async () =>
    (await world.storage.log.read('source-scotus')).map(({ type, data }) => [type, data.court]);

  it('record each change once, and say what stays paused', async () => {
    const first = await sources('pause', 'scotus', ...act);
    expect(first.out).toMatch(/scotus is paused/);
    const again = await sources('pause', 'scotus', '--reason', 'another', '--json');
    expect(JSON.parse(again.out)).toEqual({
      source: 'scotus',
      court: null,
      changed: false,
      paused: { by: 'Ann Lee', reason: 'ticket 4711' },
    });
    await sources('pause', 'scotus', '--court', 'scotus', ...act);
    const resumed = await sources('resume', 'scotus', ...act);
    expect(resumed.out).toMatch(/^scotus is resumed\.\nStill paused: scotus\.\n$/);
    expect(await recorded()).toEqual([
      ['SourcePaused', null],
      ['SourcePaused', 'scotus'],
      ['SourceResumed', null],
    ]);
    expect((await sources('resume', 'scotus', ...act)).out).toMatch(/scotus is not paused/);
    expect(await recorded()).toHaveLength(3);
  });

  it('show in the list who paused it and why, although it is not configured here', async () => {
    await sources('pause', 'scotus', ...act);
    await world.caughtUp();
    expect((await json('list')).at(-1)).toMatchObject({
      name: 'scotus',
      configured: false,
      paused: { by: 'Ann Lee', reason: 'ticket 4711' },
    });
    world.environment.SCOTUS = 'on';
    expect((await sources('list')).out).toMatch(/^scotus .*PAUSED by Ann Lee: ticket 4711/m);
    const { out } = await sources('show', 'scotus', 'scotus');
    expect(out).toMatch(/^all of scotus +PAUSED by Ann Lee: ticket 4711$/m);
    delete world.environment.SCOTUS;
  });

  it.each([
    [['pause', 'county-scraper', '--reason', 'x'], /not a source of this service/],
    [['pause', 'rss', '--court', 'moon', '--reason', 'x'], /Unknown court/],
    [['pause', 'rss', '--court', 'ok_tulsa', '--reason', 'x'], /rss has nothing about ok_tulsa/],
    [['pause', 'scotus', '--court', 'cand', '--reason', 'x'], /scotus has nothing about cand/],
    [['pause', 'rss', '--reason', ' '], /--reason is empty/],
  ])('%j is refused', async (argv, fault) => {
    const { code, out, error } = await sources(...argv);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(error?.message).toMatch(fault);
    expect(error?.hint).toMatch(/./);
  });
});
