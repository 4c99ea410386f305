/**
 * The Supreme Court asked over real sockets. Given its imitation, when a case is asked for, then what it shows is recorded
 * by the real ingest; what has not changed is not sent again; and the three ways of saying that there is no such case are
 * one.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { completeSince, looksAt } from '../../../src/commands/docket/looks.ts';
import type { SourceBudget } from '../../../src/sources/budget.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import type { SourceHttp } from '../../../src/sources/http/source-http.ts';
import { createSupremeCourt, SCOTUS_RATES } from '../../../src/sources/scotus/scotus.ts';
import { createSharedBudget } from '../../../src/sources/shared-budget.ts';
import type { AskableSource, Asking, Look } from '../../../src/sources/source.ts';
import { bodyOf, contextOf, court, openWorld, TestClock, type World } from '../../dockets/world.ts';
import { capitalApplication, paper, petition, proceeding } from '../supreme-court/files.ts';
import { openSupremeCourt, type SupremeCourt } from '../supreme-court/supreme-court.ts';

const CASE = '25-447';
const AGENT = 'DocketMonitor/2 (+https://dockets.example/docs)';

let world: World;
let site: SupremeCourt;
let http: SourceHttp;
let source: AskableSource;
beforeEach(async () => {
  world = await openWorld(new TestClock(Date.UTC(2026, 5, 20, 15) * 1000));
  site = await openSupremeCourt({ files: [petition(), capitalApplication()] });
  http = createSourceHttp({ userAgent: AGENT, allowPrivate: [site.address] });
  source = sourceWith({ take: async () => ({ taken: true }) });
});
afterEach(async () => {
  await http.close();
  await site.close();
  await world.close();
});

const sourceWith = (
  budget: Pick<SourceBudget, 'take'> & Partial<SourceBudget>,
  sleep: (ms: number) => Promise<void> = async () => {},
) =>
  createSupremeCourt({
    http,
    budget: { hold: async () => {}, standing: async () => ({ rates: [], heldUntil: null }), ...budget },
    readStore: world.storage.readStore,
    clock: world.clock,
    url: site.url,
    sleep,
  });

async function ask(caseNumber = CASE, signal = new AbortController().signal, of = source): Promise<Look> {
  world.clock.advance(60_000);
  const known = await looksAt(world.storage.log, court('scotus'), caseNumber);
  return of.ask(
    {
      court: court('scotus'),
      caseNumber,
      known: known && { stream: known.stream, completeSince: completeSince(known, 'scotus') },
    },
    {
      priority: 'paid',
      signal,
      async ingest(snapshot) {
        const report = await ingestDocket(world.ports, snapshot, contextOf());
        if ('stream' in report) await world.ports.waitUntilProjected?.(report.position);
        return report;
      },
    },
  );
}
const unknownCase = () => ({ court: court('scotus'), caseNumber: CASE, known: null });
const refusing = (): Asking => ({
  priority: 'paid',
  signal: new AbortController().signal,
  ingest: async () => ({ refused: 'not in this test' }),
});
const docket = async (lastChecked: string | null = null) =>
  bodyOf(await world.ask('scotus', CASE, { context: 'full', lastChecked }));
const now = () => new Date(world.clock.now() / 1000).toISOString().replace('Z', '000Z');

describe('a case', () => {
  it('is asked for once, by its number, with the name of this service, and is whole', async () => {
    expect(await ask()).toEqual({ look: 'complete', stream: 'docket-scotus-25-447' });
    expect(site.requests.map(({ number, status }) => [number, status])).toEqual([[CASE, 200]]);
    expect(site.requests[0]?.headers['user-agent']).toBe(AGENT);
    const answer = await world.ask('scotus', CASE);
    expect(answer).toMatchObject({ coverageStatus: 'full', cacheAgeSeconds: 0 });
    expect(answer.body.case).toMatchObject({ case_name: 'Orla Fennimore v. Cobble & Sons, Inc.', filing_count: 8 });
  });
  it('has no contact of a person in anything that is stored or served', async () => {
    await ask();
    expect(JSON.stringify(await docket())).not.toMatch(/555-0142|Wistful|CHAMBERS\.EXAMPLE/i);
  });
  it('has applications under their letters', async () => {
    expect(await ask('25A911')).toMatchObject({ look: 'complete', stream: 'docket-scotus-25A911' });
  });
});

describe('row 38: there is no such case', () => {
  it.each(['404', 'empty', 'html'] as const)('said by %s, and nothing is recorded', async (misses) => {
    site.misses = misses;
    const head = await world.storage.log.head();
    expect(await ask('25-9999')).toEqual({ look: 'not_found' });
    expect(await world.storage.log.head()).toBe(head);
  });
  it('of one that was known: what is known stays', async () => {
    await ask();
    site.remove(CASE);
    expect(await ask()).toEqual({ look: 'not_found' });
    expect((await docket()).case.filing_count).toBe(8);
  });
});

describe('row 38: 304 to a conditional request', () => {
  it('is a look that shows that nothing changed', async () => {
    await ask();
    const since = now();
    expect(await ask()).toEqual({ look: 'unchanged', stream: 'docket-scotus-25-447' });
    expect(site.requests.map(({ status }) => status)).toEqual([200, 304]);
    expect(site.requests[1]?.headers['if-none-match']).toMatch(/^"/);
    expect(await world.ask('scotus', CASE)).toMatchObject({ cacheAgeSeconds: 0, coverageStatus: 'full' });
    const { case: shown, delta } = await docket(since);
    expect([shown.filing_count, shown.primary_parties.length, delta.changed]).toEqual([8, 2, false]);
  });
  it('is not asked for if what was recorded then is not in the log', async () => {
    await ask();
    // As after a restore of an older log: the validators are newer than every look in it.
    const asked = { court: court('scotus'), caseNumber: CASE };
    const known = { stream: 'docket-scotus-25-447', completeSince: '2026-06-01T00:00:00.000000Z' };
    await source.ask({ ...asked, known }, refusing());
    await source.ask({ ...asked, known: { ...known, completeSince: null } }, refusing());
    expect(site.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
  it('does not hide an edit', async () => {
    await ask();
    const since = now();
    site.edit(CASE, (all) => [...all, proceeding('Jun 18 2026', 'Petition DENIED.')]);
    expect(await ask()).toMatchObject({ look: 'complete' });
    const { delta } = await docket(since);
    expect(delta.new_filings.map((one: { description: string }) => one.description)).toEqual(['Petition DENIED.']);
  });
  it('a look whose ingest failed is not remembered', async () => {
    const failing = {
      priority: 'paid',
      signal: new AbortController().signal,
      ingest: () => Promise.reject(new Error('x')),
    };
    await expect(
      source.ask({ court: court('scotus'), caseNumber: CASE, known: null }, failing as never),
    ).rejects.toThrow();
    expect(await ask()).toMatchObject({ look: 'complete' });
    expect(site.requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a text that is corrected in place', () => {
  it('is a revision of the same filing, in the middle of additions', async () => {
    await ask();
    const since = now();
    site.edit(CASE, (all) => {
      const next = [...all];
      next[3] = proceeding('Apr 22 2026', 'DISTRIBUTED for Conference of 5/15/2026.');
      next.splice(3, 0, proceeding('Apr 20 2026', 'Motion to extend the time filed.'));
      return next;
    });
    await ask();
    const { case: shown, delta } = await docket(since);
    expect(shown.filing_count).toBe(9);
    const texts = (of: readonly { description: string }[]) => of.map(({ description }) => description);
    expect(texts(delta.new_filings)).toEqual(['Motion to extend the time filed.']);
    expect(texts(delta.updated_filings)).toEqual(['DISTRIBUTED for Conference of 5/15/2026.']);
  });
  it('an entry that is gone stays, and nothing is withdrawn', async () => {
    await ask();
    const since = now();
    site.edit(CASE, (all) => all.filter((_, index) => index !== 4));
    await ask();
    const { case: shown, delta } = await docket(since);
    expect([shown.filing_count, delta.changed]).toEqual([8, false]);
  });
});

describe('a text that the Court takes away', () => {
  const WAIVER = 2;
  const blank = (index: number): void =>
    site.edit(CASE, (all) => all.map((one, at) => (at === index ? { ...one, Text: '  ' } : one)));
  const withdrawals = async () =>
    (await world.storage.log.read('docket-scotus-25-447')).filter(({ type }) => type === 'FilingWithdrawn');

  it('from an entry with a document is not served any more; the entry keeps its place, and is a change', async () => {
    await ask();
    const since = now();
    blank(WAIVER);
    await ask();
    expect((await withdrawals()).map(({ data }) => data.reason)).toEqual(['removed']);
    const shown = await world.ask('scotus', CASE, { context: 'full', lastChecked: since });
    expect(JSON.stringify(shown.body)).not.toContain('Waiver');
    const { case: served, delta } = bodyOf(shown);
    expect(served.filing_count).toBe(8);
    expect(delta.updated_filings).toMatchObject([{ description: '', external_url: null, sealed: false }]);
    site.edit(CASE, (all) => [...all, proceeding('Jun 10 2026', 'Reply filed.')]);
    await ask();
    expect(await withdrawals()).toHaveLength(1);
  });

  it('is not taken away by a file without any text, which has another format', async () => {
    await ask();
    site.edit(CASE, (all) => all.map((one) => ({ ...one, Text: '' })));
    await ask();
    site.edit(CASE, (all) => all.map(({ Text: _, ...one }) => one as never));
    await ask();
    expect(await withdrawals()).toEqual([]);
    expect((await docket()).case.filing_count).toBe(8);
  });

  it('is not taken away where another entry is only at its place, or where the text is not stated', async () => {
    await ask();
    site.edit(CASE, (all) =>
      all.map((one, at) => {
        if (at === 3) return { ...one, Text: '', Links: [paper(CASE, 999_001)] };
        if (at !== WAIVER) return one;
        const { Text: _, ...rest } = one;
        return rest as never;
      }),
    );
    await ask();
    expect(await withdrawals()).toEqual([]);
    expect(JSON.stringify((await docket()).case)).toContain('Waiver');
  });
});

describe('a source that does not answer as it should', () => {
  it.each([
    [403, {}, { fault: 'forbidden', retryAt: null }],
    [429, { 'retry-after': '7' }, { fault: 'throttled', retryAt: expect.any(Number) }],
    [429, {}, { fault: 'blocked', retryAt: null }],
    [503, { 'content-type': 'text/html' }, { fault: 'unavailable' }],
    [410, {}, { fault: 'unreadable' }],
  ])('HTTP %i is a fault', async (status, headers, because) => {
    site.fault = { status, headers: headers as Record<string, string>, body: '<html>' };
    expect(await ask()).toMatchObject({ look: 'failed', because });
  });
  it.each([
    ['no JSON', '{"CaseNumber": "25-447", '],
    ['another case', JSON.stringify(petition('25-448'))],
    ['no file', '{}'],
  ])('%s is unreadable', async (_, body) => {
    site.fault = { status: 200, headers: { 'content-type': 'application/json' }, body };
    expect(await ask()).toMatchObject({ look: 'failed', because: { fault: 'unreadable' } });
    expect(await looksAt(world.storage.log, court('scotus'), CASE)).toBeNull();
  });
  it('a body that is cut is not used', async () => {
    site.fault = 'cut';
    expect(await ask()).toMatchObject({
      look: 'failed',
      because: { fault: expect.stringMatching(/connection|unreadable/) },
    });
  });
  it('a look that is ended ends its request', async () => {
    site.fault = 'hang';
    const ending = new AbortController();
    const look = ask(CASE, ending.signal);
    await site.asked(1);
    ending.abort();
    expect(await look).toMatchObject({ look: 'failed', because: { fault: 'interrupted' } });
  });
});

describe('its budget', () => {
  /** Sleeps on the test's clock. */
  const sleep = async (ms: number) => world.clock.advance(ms);
  const shared = () =>
    createSharedBudget({ ...world.storage, clock: world.clock, name: 'scotus', rates: SCOTUS_RATES });
  const budgeted = () => sourceWith(shared(), sleep);
  const spend = async (count: number) => {
    for (let index = 0; index < count; index++) expect(await shared().take('paid')).toEqual({ taken: true });
  };

  it('leaves a second between two requests, whatever waits', async () => {
    const waits: number[] = [];
    const spaced = sourceWith({ take: async () => ({ taken: true }) }, async (ms) => void waits.push(ms));
    await Promise.all([1, 2, 3].map(() => spaced.ask(unknownCase(), refusing())));
    expect(waits).toEqual([1_000, 2_000]);
  });
  it('is shared by all nodes, and waited for', async () => {
    await spend(60);
    const before = world.clock.now();
    expect(await budgeted().ask(unknownCase(), refusing())).toMatchObject({ because: { fault: 'budget' } });
    expect(site.requests).toEqual([]);
    world.clock.advance(40_000);
    await budgeted().ask(unknownCase(), refusing());
    expect(site.requests).toHaveLength(1);
    expect(world.clock.now() - before).toBeGreaterThan(60_000_000);
  });
  it('is held until the time that a 429 names, on every node', async () => {
    site.fault = { status: 429, headers: { 'retry-after': '90' } };
    await budgeted().ask(unknownCase(), refusing());
    site.fault = null;
    const look = await budgeted().ask(unknownCase(), refusing());
    expect(look).toMatchObject({ look: 'failed', because: { fault: 'budget' } });
    expect(site.requests).toHaveLength(1);
    const { because } = look as Extract<Look, { look: 'failed' }>;
    expect(Math.round(((because.retryAt ?? 0) - world.clock.now()) / 1e6)).toBe(90);
  });
});
