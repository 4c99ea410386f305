/**
 * Given an agent that bought answers,
 * when an operator forgets its wallet, or the docket that they show,
 * then callers see it as the API says: 410 for results, 404 for the docket.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { carryOut, giveOrder } from '../../src/commands/forget/forget.ts';
import type { ForgetSubject } from '../../src/events/forget.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { openWorld, type World } from './world.ts';

const NUMBER = '4:25-cv-00813';
const DOCKET = {
  court_id: 'cand',
  docket_number: NUMBER,
  case_name: 'Quillfeder v. Muster',
  date_filed: '2024-02-01',
  docket_entries: [
    { document_number: '1', date_filed: '2024-02-01', date_entered: '2024-02-01', description: 'NOTICE of Quillfeder' },
  ],
};

let service: World;
beforeEach(async () => {
  service = await openWorld();
  await service.importDocket(DOCKET);
});
afterEach(() => service.close());

async function forget(subject: ForgetSubject): Promise<void> {
  const ports = { ...service.storage, clock: systemClock, untilQueriesEnded: async () => {} };
  const order = { forgetId: randomUUID(), subject, by: 'J. Muster', reason: 'order of 2 March' };
  await giveOrder(ports, order);
  await carryOut(ports, order);
}

it('a forgotten docket is unknown, its results are gone, and asking for it is free', async () => {
  const pay = await service.agent();
  const query = `${service.url}/v2/case?court_code=cand&case_id=${NUMBER}&context=full`;
  const sold = await pay(query);
  expect([sold.status, (await sold.text()).includes('Quillfeder')]).toEqual([200, true]);
  await forget({ kind: 'docket', docket: `docket-cand-${NUMBER}` });
  expect((await fetch(service.url + sold.headers.get('content-location'))).status).toBe(410);
  const offered = await fetch(query);
  expect(await offered.text()).not.toContain('Quillfeder');
  const asked = await pay(query);
  expect(asked.status).toBe(404);
  expect(await asked.json()).toMatchObject({
    error: { code: 'case_not_found', details: { charged: false } },
  });
});

it("a forgotten wallet's results are gone, and it may buy again", async () => {
  const pay = await service.agent();
  const query = `${service.url}/v2/case?court_code=cand&case_id=${NUMBER}`;
  const sold = await pay(query);
  const path = sold.headers.get('content-location');
  expect((await fetch(service.url + path)).status).toBe(200);
  const payments = [];
  for await (const { events } of service.storage.log.readAll(null, { by: 'types', types: ['PaymentAuthorized'] })) {
    payments.push(...events);
  }
  await forget({ kind: 'wallet', wallet: String(payments[0]?.data.wallet) });
  const gone = await fetch(service.url + path);
  expect(gone.status).toBe(410);
  expect(await gone.json()).toMatchObject({ error: { code: 'result_gone' } });
  expect((await pay(query)).status).toBe(200);
});
