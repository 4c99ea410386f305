/**
 * Given an account at CourtListener with a number of alerts (its API is test/sources/courtlistener), when cases are
 * watched, then the account has an alert for each as far as the number goes; those that end are renewed or reported; and
 * a kill between a request and its record costs a request, never an alert.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handleWithRetry } from '../../../src/commands/handle.ts';
import { alert } from '../../../src/commands/source/alert.ts';
import { readConfig } from '../../../src/config.ts';
import { findCourt } from '../../../src/courts/registry.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { alertCoverage, anyCoverage } from '../../../src/processes/sources/alert-coverage.ts';
import { type CaseAlertsPorts, createCaseAlerts, isStepDue } from '../../../src/processes/sources/alerts.ts';
import type { CaseOfCourt } from '../../../src/processes/sources/desk.ts';
import { createSourceCases } from '../../../src/processes/sources/source-cases.ts';
import { cases as casesModel } from '../../../src/projections/cases.ts';
import { createFreshness } from '../../../src/projections/freshness.ts';
import { createProjectionRunner, type ProjectionRunner } from '../../../src/projections/runner.ts';
import { sourceCases } from '../../../src/projections/source-cases.ts';
import { sourceRecords } from '../../../src/projections/source-records.ts';
import { watchedCases } from '../../../src/projections/watched-cases.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openCaseAlerts } from '../../../src/service/case-alerts.ts';
import { createDocketAlerts } from '../../../src/sources/courtlistener/alerts.ts';
import { createCourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import type { SourceHttp } from '../../../src/sources/http/source-http.ts';
import { createSharedBudget } from '../../../src/sources/shared-budget.ts';
import { openTestStorage, type TestStorage } from '../../support/storage.ts';
import { type CourtListenerImitation, openCourtListener } from '../courtlistener/court-listener.ts';

const silent = pino({ level: 'silent' });
const DAY = 86_400_000_000;
const court = (() => {
  const found = findCourt('ilnd');
  if (!found) throw new Error('the registry has it');
  return found;
})();

let directory: string;
let storage: TestStorage;
let runner: ProjectionRunner;
let imitation: CourtListenerImitation;
let http: SourceHttp;
let watched: CaseOfCourt[];
const time = { at: 0 };
const clock = { now: () => time.at++ };

beforeEach(async () => {
  time.at = systemClock.now();
  directory = await mkdtemp(join(tmpdir(), 'alerts-'));
  storage = await openTestStorage(directory, clock);
  runner = createProjectionRunner({
    ...storage,
    projections: [sourceCases, sourceRecords],
    clock: systemClock,
    logger: silent,
    owner: 'test',
  });
  await runner.start();
  imitation = await openCourtListener({ clock, rates: [], alerts: 3 });
  const { host } = new URL(imitation.url);
  http = createSourceHttp({ userAgent: 'DocketMonitor/test', allowPrivate: [host] });
  watched = [];
});
afterEach(async () => {
  await http.close();
  await imitation.close();
  await runner.stop();
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const cases = () => createSourceCases({ ...storage, clock }, 'courtlistener');

/** A case that CourtListener has, and that is watched. */
async function watch(number: string): Promise<string> {
  const id = imitation.addDocket({ court: 'ilnd', number });
  await cases().found(String(id), court, number);
  watched.push({ court, caseNumber: number });
  const head = await storage.log.head();
  if (head !== null) await runner.waitFor(sourceCases.name, head, 30_000);
  return String(id);
}

/** A process that keeps alerts; a new one each time, as after a restart. */
function keeper(over: Partial<CaseAlertsPorts> = {}) {
  const budget = createSharedBudget({
    ...storage,
    clock,
    name: 'courtlistener',
    rates: [{ requests: 1_000, micros: DAY }],
  });
  const client = createCourtListenerClient({
    http,
    budget,
    clock,
    url: imitation.url,
    token: imitation.token,
    logger: silent,
  });
  return createCaseAlerts({
    log: storage.log,
    readStore: storage.readStore,
    clock,
    logger: silent,
    owner: randomUUID(),
    alerts: createDocketAlerts(client),
    cases: cases(),
    async *watched() {
      yield* watched;
    },
    knowsAllWatched: async () => true,
    isAllowed: () => true,
    covers: () => true,
    limit: 3,
    ...over,
  });
}

const step = (over: Partial<CaseAlertsPorts> = {}) => keeper(over).step(clock.now());
const atSource = () =>
  imitation
    .alerts()
    .map(({ docket, alert_type: type }) => [Number(String(docket).replace(/\D+$/, '').split('/').at(-1)), type]);
const told = async (id: string) =>
  (await storage.log.read(sourceStream.alert('courtlistener', id))).map(({ type, data }) =>
    type === 'AlertEnded' ? data.why : data.renewed ? 'renewed' : `by ${data.by}`,
  );
const asked = () => imitation.requests.splice(0).map(({ method, url }) => `${method} ${url.split('?')[0]}`);

describe('watched cases', () => {
  it('have alerts, the first ones as far as the number goes, each asked for once', async () => {
    const ids = [];
    for (const number of ['1:26-cv-01001', '1:26-cv-01002', '1:26-cv-01003', '1:26-cv-01004'])
      ids.push(await watch(number));
    await step();
    expect(atSource()).toEqual(ids.slice(0, 3).map((id) => [Number(id), 1]));
    expect(await Promise.all(ids.map(told))).toEqual([['by watched'], ['by watched'], ['by watched'], []]);
    asked();
    await step();
    expect(asked()).toEqual([]);
  });

  it('leave room for the account’s own alerts', async () => {
    const other = imitation.addDocket({ court: 'nysd', number: '1:26-cv-09999' });
    imitation.rows.addAlert(other);
    const ids = [];
    for (const number of ['1:26-cv-01001', '1:26-cv-01002', '1:26-cv-01003']) ids.push(await watch(number));
    await step();
    expect(await Promise.all(ids.map(told))).toEqual([['by watched'], ['by watched'], []]);
    expect(asked().filter((one) => one.startsWith('POST'))).toHaveLength(2);
    expect(atSource()).toContainEqual([other, 1]);
  });

  it('that are watched no longer give theirs to others; an operator’s stays', async () => {
    const [first, second, third, fourth] = [
      await watch('1:26-cv-01001'),
      await watch('1:26-cv-01002'),
      await watch('1:26-cv-01003'),
      await watch('1:26-cv-01004'),
    ];
    await step();
    await record(third, { type: 'End', alertId: null, why: 'unsubscribed', by: 'Ann Lee' });
    imitation.endAlert(Number(imitation.alerts()[2]?.id));
    watched = watched.filter(({ caseNumber }) => caseNumber !== '1:26-cv-01001');
    await step();
    time.at += DAY;
    await step();
    await step();
    expect(await told(first)).toEqual(['by watched', 'no_longer_watched']);
    // What an operator has ended is not asked for again by itself.
    expect(await Promise.all([second, third, fourth].map(told))).toEqual([
      ['by watched'],
      ['by watched', 'unsubscribed'],
      ['by watched'],
    ]);
  });
});

describe('a read model that was lost, as after a restore', () => {
  it('ends no alert while it is being built', async () => {
    const ids = [await watch('1:26-cv-01001'), await watch('1:26-cv-01002')];
    await step();
    const all = watched;
    watched = [];
    const now = clock.now();
    expect(await keeper({ knowsAllWatched: async () => false }).step(now)).toBeLessThanOrEqual(now + 60_000_000);
    time.at += 2 * DAY;
    await step({ knowsAllWatched: async () => false });
    watched = all;
    await step();
    expect(await Promise.all(ids.map(told))).toEqual([['by watched'], ['by watched']]);
    expect(atSource()).toEqual(ids.map((id) => [Number(id), 1]));
  });

  it('ends no alert of a case that is watched again within a day, also with a new process each time', async () => {
    const id = await watch('1:26-cv-01001');
    await step();
    const all = watched;
    watched = [];
    await step();
    time.at += DAY / 2;
    watched = all;
    await step();
    watched = [];
    time.at += DAY / 2;
    await step();
    time.at += DAY / 2;
    await step();
    expect(await told(id)).toEqual(['by watched']);
    time.at += DAY / 2;
    await step();
    expect(await told(id)).toEqual(['by watched', 'no_longer_watched']);
    expect(atSource().filter(([, type]) => type === 1)).toEqual([]);
  });

  it('ends none in the service as composed, before its projections have reached the head of the log', async () => {
    const id = await watch('1:26-cv-01001');
    await step();
    const options = { ...storage, clock: systemClock, logger: silent, owner: 'rebuilt' };
    const building = createProjectionRunner({ ...options, projections: [casesModel, watchedCases] });
    const environment = {
      COURTLISTENER_TOKEN: imitation.token,
      COURTLISTENER_URL: imitation.url,
      COURTLISTENER_WEBHOOK_SECRET: 'w'.repeat(32),
    };
    const service = openCaseAlerts({
      storage,
      config: readConfig(environment),
      clock,
      logger: silent,
      owner: randomUUID(),
      http,
      budget: createSharedBudget({ ...storage, clock, name: 'courtlistener', rates: [] }),
      pauses: { isPaused: () => false },
      freshness: [casesModel.name, watchedCases.name].map((projection) =>
        createFreshness({ log: storage.log, runner: building, projection }),
      ),
    });
    for (let day = 0; day < 3; day++) {
      await service?.step(clock.now());
      time.at += DAY;
    }
    expect(await told(id)).toEqual(['by watched']);
    await building.start();
    // Once they have, it is seen that the case is not watched in this log.
    await building.catchUp();
    await service?.step(clock.now());
    time.at += DAY;
    await service?.step(clock.now());
    expect(await told(id)).toEqual(['by watched', 'no_longer_watched']);
    await building.stop();
  });
});

async function record(id: string, command: Parameters<typeof alert.decide>[1]): Promise<void> {
  const context = { commandId: randomUUID(), requestId: null, correlationId: 'x', causationId: null, actor: 'test' };
  await handleWithRetry({ ...storage, clock }, alert, sourceStream.alert('courtlistener', id), command, context);
}

it('a case with an alert is covered, under any form of its number, and no other is', async () => {
  await watch('1:26-cv-01001');
  await watch('1:26-cv-01002');
  await step({ limit: 1 });
  const head = await storage.log.head();
  if (head !== null) await runner.waitFor(sourceRecords.name, head, 30_000);
  const covers = await anyCoverage(async () => () => false, alertCoverage(storage.readStore))(clock.now());
  const cases = ['1:26-cv-01001', '26-cv-1001', '1:26-cv-01002'];
  expect(cases.map((caseNumber) => covers({ court, caseNumber }))).toEqual([true, true, false]);
});

describe('an alert that ends', () => {
  it('is noticed within a day and switched on again', async () => {
    const id = await watch('1:26-cv-01001');
    await step();
    const [row] = imitation.alerts();
    imitation.endAlert(Number(row?.id));
    await step();
    expect(atSource()).toEqual([[Number(id), 0]]);
    time.at += DAY;
    await step();
    expect(atSource()).toEqual([[Number(id), 1]]);
    expect(await told(id)).toEqual(['by watched', 'disabled_by_source', 'renewed']);
  });

  it('is renewed before CourtListener ends it, after 150 days', async () => {
    const id = await watch('1:26-cv-01001');
    await step();
    time.at += 149 * DAY;
    await step();
    expect(await told(id)).toEqual(['by watched']);
    time.at += 2 * DAY;
    await step();
    await step();
    expect(await told(id)).toEqual(['by watched', 'renewed']);
  });

  it('of an operator is asked for again, for that operator', async () => {
    const id = await watch('1:26-cv-01001');
    watched = [];
    const found = imitation.rows.addAlert(Number(id));
    const of = { source: 'courtlistener', sourceCaseId: id, court: 'ilnd', caseNumber: '1:26-cv-01001' } as const;
    await record(id, { type: 'Subscribe', subscription: { ...of, alertId: String(found.id), by: 'Ann Lee' } });
    const process = keeper();
    await process.step(clock.now());
    await record(id, { type: 'End', alertId: String(found.id), why: 'disabled_by_source', by: 'courtlistener' });
    imitation.endAlert(found.id);
    await process.step(clock.now());
    expect(await told(id)).toEqual(['by Ann Lee', 'disabled_by_source', 'renewed']);
    expect(atSource()).toEqual([[Number(id), 1]]);
  });
});

describe('a clock that ran ahead by a year and is set back', () => {
  it('does not keep the account’s list from being compared, also with a new process', async () => {
    const id = await watch('1:26-cv-01001');
    time.at += 365 * DAY;
    await step();
    time.at -= 365 * DAY;
    const [row] = imitation.alerts();
    imitation.endAlert(Number(row?.id));
    await step();
    expect(atSource()).toEqual([[Number(id), 1]]);
  });

  it('does not delay the next comparison, nor what was put off', () => {
    const [before, ahead] = [time.at, time.at + 365 * DAY];
    expect(isStepDue(ahead, { steppedAt: ahead, next: ahead + 1 })).toBe(false);
    expect(isStepDue(ahead + 1, { steppedAt: ahead, next: ahead + 1 })).toBe(true);
    expect(isStepDue(before, { steppedAt: ahead, next: ahead + 1 })).toBe(true);
  });

  it('does not leave a docket alone that was refused meanwhile', async () => {
    const id = await watch('1:26-cv-01001');
    const process = keeper();
    const list = JSON.stringify({ next: null, previous: null, results: [] });
    imitation.answerWith((url) =>
      url.includes('?')
        ? { status: 200, body: list, headers: {} }
        : { status: 400, body: '{"docket":["none of yours"]}', headers: {} },
    );
    time.at += 365 * DAY;
    await process.step(clock.now());
    imitation.answerWith(null);
    expect(await told(id)).toEqual([]);
    await process.step(clock.now());
    expect(await told(id)).toEqual([]);
    time.at -= 365 * DAY;
    await process.step(clock.now());
    expect(await told(id)).toEqual(['by watched']);
  });
});

describe('a kill', () => {
  it('between a request and its record costs a request: the alert is found again', async () => {
    const id = await watch('1:26-cv-01001');
    const dying = new Error('killed');
    const log = { ...storage.log, append: () => Promise.reject(dying), read: storage.log.read.bind(storage.log) };
    const readAll = storage.log.readAll.bind(storage.log);
    const head = storage.log.head.bind(storage.log);
    await expect(step({ log: { ...log, readAll, head } as never })).rejects.toThrow('killed');
    expect([atSource(), await told(id)]).toEqual([[[Number(id), 1]], []]);
    await step();
    expect([atSource(), await told(id)]).toEqual([[[Number(id), 1]], ['by watched']]);
  });
});

describe('a source that does not answer', () => {
  it('is asked again when it says, and nothing is recorded', async () => {
    const id = await watch('1:26-cv-01001');
    imitation.failNext({ path: 'docket-alerts/', status: 503, body: '<html></html>' });
    const now = clock.now();
    expect(await keeper().step(now)).toBeGreaterThan(now);
    expect(await told(id)).toEqual([]);
    await step({ isAllowed: () => false });
    await step({ covers: () => false });
    expect(await told(id)).toEqual([]);
    await step();
    expect(await told(id)).toEqual(['by watched']);
  });

  it('is asked for few pages of its list, also if that goes round in a circle', async () => {
    await watch('1:26-cv-01001');
    const results = [{ id: 5, docket: 9, alert_type: 1 }];
    const next = `${imitation.url}docket-alerts/?cursor=again`;
    imitation.answerWith(() => ({ status: 200, body: { next, previous: null, results }, headers: {} }));
    await step();
    expect(asked().length).toBeLessThan(5);
    imitation.answerWith(null);
  });
  it('with a full account is not asked for more', async () => {
    for (const number of ['1:26-cv-01001', '1:26-cv-01002', '1:26-cv-01003', '1:26-cv-01004']) await watch(number);
    const process = keeper({ limit: 50 });
    await process.step(clock.now());
    expect(asked().filter((one) => one.startsWith('POST'))).toHaveLength(4);
    await process.step(clock.now());
    expect(asked()).toEqual([]);
  });
});
