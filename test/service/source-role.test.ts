/**
 * Given a node with a configured source, when its role runs, then the source is asked by the service's own client and
 * within its budget, a private address only if an operator has listed it, and a stop releases everything.
 */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createMetrics, type Metrics } from '../../src/http/admin/metrics/metrics.ts';
import { PROJECTIONS } from '../../src/projections/all.ts';
import { cases } from '../../src/projections/cases.ts';
import { type SourceRole, startSourceRole } from '../../src/service/source-role.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { court, openWorld, type World } from '../dockets/world.ts';
import { openCourtListener } from '../sources/courtlistener/court-listener.ts';

const CASE = { court: court('ilnd'), caseNumber: '1:26-cv-02417' };
const USER_AGENT = 'DocketMonitor/9.9.9 (+https://dockets.example/docs)';
const clock = { now: () => Date.now() * 1_000 };

let world: World;
let courtListener: Awaited<ReturnType<typeof openCourtListener>>;
let metrics: Metrics;
let role: SourceRole | null = null;

beforeEach(async () => {
  world = await openWorld(
    undefined,
    PROJECTIONS.filter(({ name }) => name !== cases.name),
  );
  courtListener = await openCourtListener({ rates: [] });
  metrics = createMetrics();
});
afterEach(async () => {
  await role?.stop();
  await courtListener.close();
  await world.close();
});

function start(environment: Record<string, string>): SourceRole {
  const { storage, runner, directory } = world;
  role = startSourceRole({
    storage,
    runner,
    config: readConfig({
      DATA_DIR: directory,
      COURTLISTENER_URL: courtListener.url,
      COURTLISTENER_TOKEN: courtListener.token,
      ...environment,
    }),
    clock,
    logger: pino({ level: 'silent' }),
    metrics,
    owner: leaseOwner(),
    userAgent: USER_AGENT,
    ownHosts: [],
    ownPorts: [],
  });
  return role;
}

const paid = () => ({ priority: 'paid', signal: new AbortController().signal }) as const;

describe('the role of sources', () => {
  it('asks a listed private address, with its token and the user agent, and counts the requests', async () => {
    const docket = courtListener.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
    courtListener.addEntry(docket, {
      number: 1,
      description: 'COMPLAINT filed by Harrowgate Tile Works, LLC',
    });
    const { host } = new URL(courtListener.url);
    const { desk } = start({ SOURCES_ALLOW_PRIVATE: host, COURTLISTENER_RATES: '1000/min' });
    expect(desk.sourcesFor(CASE.court)).toEqual(['courtlistener']);
    expect(await desk.look(CASE, paid())).toMatchObject({ look: 'complete', stream: 'docket-ilnd-1:26-cv-02417' });
    expect(courtListener.requests.length).toBeGreaterThan(0);
    for (const { userAgent, authorization } of courtListener.requests) {
      expect({ userAgent, authorization }).toEqual({
        userAgent: USER_AGENT,
        authorization: `Token ${courtListener.token}`,
      });
    }
    const text = await metrics.text();
    const count = courtListener.requests.length;
    expect(text).toContain(`docket_source_requests_total{source="courtlistener",outcome="ok"} ${count}`);
    expect(text).toContain(`docket_source_budget_left{source="courtlistener",window="minute"} ${1_000 - count}`);
    expect(text).toContain('docket_source_breaker{source="courtlistener",state="closed"} 1');
    expect(text).toContain('docket_source_courts{source="courtlistener",standing="working"} 205');
  });

  it('spends no more than its budget, and says when it continues', async () => {
    const { host } = new URL(courtListener.url);
    const { desk } = start({ SOURCES_ALLOW_PRIVATE: host, COURTLISTENER_RATES: '1/hour' });
    const docket = courtListener.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
    courtListener.addEntry(docket, { number: 1, description: 'COMPLAINT' });
    const look = await desk.look(CASE, paid());
    expect(look).toMatchObject({ because: { fault: 'budget', retryAt: expect.any(Number) } });
    expect(courtListener.requests).toHaveLength(1);
    expect(await metrics.text()).toContain('docket_source_requests_total{source="courtlistener",outcome="budget"} 1');
  });

  it('asks no private address that is not listed', async () => {
    const { desk } = start({});
    expect(await desk.look(CASE, paid())).toMatchObject({ look: 'failed', because: { fault: 'refused_address' } });
    expect(courtListener.requests).toHaveLength(0);
  });

  it('asks nothing without a configured source, and holds no lease then', async () => {
    const { desk } = start({ COURTLISTENER_TOKEN: '' });
    expect(desk.sourcesFor(CASE.court)).toEqual([]);
    expect(await desk.look(CASE, paid())).toEqual({ look: 'not_found' });
    expect((await world.storage.readStore.leases(clock.now())).filter(({ owner }) => owner === leaseOwner())).toEqual(
      [],
    );
  });

  it('releases every lease at a stop', async () => {
    const { host } = new URL(courtListener.url);
    const started = start({ SOURCES_ALLOW_PRIVATE: host, COURTLISTENER_RATES: '1000/min' });
    await started.desk.look(CASE, paid());
    await started.stop();
    expect((await world.storage.readStore.leases(clock.now())).filter(({ owner }) => owner === leaseOwner())).toEqual(
      [],
    );
  });
});
