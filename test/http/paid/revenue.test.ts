/**
 * Revenue of real sales. Given paid calls of every endpoint on a chain, the events name courts and cases, and the read model's
 * USDC and network fees are exactly what the receiver got and what the fee payer lost.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { docketStream } from '../../../src/events/docket.ts';
import type { EventOf } from '../../../src/events/event.ts';
import { type PaymentAuthorized, QueryAnswered } from '../../../src/events/payment.ts';
import { revenue } from '../../../src/projections/revenue.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { revenueOf } from '../../../src/queries/revenue.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { openWorld, type World } from '../world.ts';

const CASE = 'case_id=3:24-cv-01234&court_code=cand&last_checked=2020-01-01T00:00:00Z';
const QUERY = { case_id: '3:24-cv-01234', court_code: 'cand' };
const OTHER = { case_id: '1:24-cv-00007', court_code: 'nysd' };
const UNKNOWN = { case_id: '3:24-cv-99998', court_code: 'cand' };
const ALL = { from: null, to: null };

let world: World;
beforeAll(async () => {
  world = await openWorld();
  const entries = [rawEntry(1, '2024-02-01', 'COMPLAINT')];
  await world.importDocket(rawDocket(entries));
  await world.importDocket(
    rawDocket(entries, { court_id: 'nysd', docket_number: '1:24-cv-00007', federal_dn_office_code: '1' }),
  );
});
afterAll(() => world.close());

it('names the courts of what was sold, and adds up what the chain moved', async () => {
  const { feePayer } = world.parties;
  const before = await world.chain.balance(feePayer.toBase58());
  const wallet = await world.wallet(60_000_000n);
  const pay = await world.agentOf(wallet, fetch, '$10');
  const get = async (path: string) => expect((await pay(`${world.url}${path}`)).status, path).toBe(200);
  await get(`/v2/case?${CASE}`);
  await get(`/v2/monitor?${CASE}`);
  await get(`/v1/case?${CASE}`);
  await get('/v2/wallet/keys');
  const batch = await pay(`${world.url}/v2/cases/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queries: [OTHER, QUERY, UNKNOWN, OTHER] }),
  });
  expect(batch.status).toBe(200);

  const sold = new Map<string, EventOf<typeof QueryAnswered>['data']['courts']>();
  const answered = new Map<string, EventOf<typeof QueryAnswered>['data']['cases']>();
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: [QueryAnswered.type] })) {
    for (const { stream, data, revision } of events) {
      const [authorized] = await world.storage.log.read(stream, { from: revision - 1, limit: 1 });
      const { endpoint } = authorized!.data as EventOf<typeof PaymentAuthorized>['data'];
      sold.set(endpoint, data.courts as never);
      answered.set(endpoint, data.cases as never);
    }
  }
  const cand = [{ court: 'cand', cases: 1 }];
  expect(Object.fromEntries(sold)).toEqual({
    'GET /v2/case': cand,
    'GET /v2/monitor': cand,
    'GET /v1/case': cand,
    'GET /v2/wallet/keys': [],
    'POST /v2/cases/batch': [
      { court: 'nysd', cases: 2 },
      { court: 'cand', cases: 1 },
    ],
  });

  const one = [docketStream('cand', '3:24-cv-01234')];
  expect(Object.fromEntries(answered)).toEqual({
    'GET /v2/case': one,
    'GET /v2/monitor': one,
    'GET /v1/case': one,
    'GET /v2/wallet/keys': [],
    'POST /v2/cases/batch': [docketStream('nysd', '1:24-cv-00007'), ...one],
  });

  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const ports = { ...world.storage, projections: [revenue], clock: systemClock, logger, owner: 'revenue-test' };
  await createProjectionRunner(ports).catchUp();
  const { rows, total } = await revenueOf(world.storage.readStore, 'endpoint', ALL);
  expect(rows.map(({ key, payments }) => [key, payments]).toSorted()).toEqual(
    [...sold.keys()].map((endpoint) => [endpoint, 1]).toSorted(),
  );
  expect(total).toMatchObject({ payments: 5, answers: 7, usdc: await world.received(), rolledBack: 0, failed: 0 });
  expect(total.fees).toBe(before - (await world.chain.balance(feePayer.toBase58())));
  const courts = await revenueOf(world.storage.readStore, 'court', ALL);
  expect(courts.rows.map(({ key, answers }) => [key, answers])).toEqual([
    ['cand', 4],
    ['nysd', 2],
    ['(none)', 1],
  ]);
});
