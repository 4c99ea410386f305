/**
 * Given a case that CourtListener knows as closed, when it is reopened there, then the next look makes it an open case again,
 * and a feed, which says nothing of that, changes neither.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { docketStream } from '../../../src/events/docket.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { rawDocket } from '../../dockets/raw-docket.ts';
import { bodyOf, contextOf } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';

const NUMBER = '1:26-cv-02417';
const STREAM = docketStream('ilnd', NUMBER);
const CLOSED = ['closed', '2026-03-02'];
const HOUR = 3_600_000;

let world: AskingWorld;
let docket: number;
beforeEach(async () => {
  world = await openAsking();
  docket = world.site.addDocket({ court: 'ilnd', number: NUMBER, fields: { date_terminated: '2026-03-02' } });
  world.site.addEntry(docket, { number: 1, description: 'COMPLAINT', dateFiled: '2026-01-05' });
  world.clock.advance(HOUR);
  await world.ask('ilnd', NUMBER);
});
afterEach(() => world.close());

async function look() {
  world.clock.advance(HOUR);
  return world.ask('ilnd', NUMBER, { stream: STREAM });
}
async function served(): Promise<(string | null)[]> {
  await world.world.freshness.showsEverything();
  const { case: shown } = bodyOf(await world.world.ask('ilnd', NUMBER));
  return [shown.case_status, shown.closed_at?.slice(0, 10) ?? null];
}

it('a look at its changes reopens it, and closes it again later', async () => {
  expect(await served()).toEqual(CLOSED);
  world.site.changeDocket(docket, { date_terminated: null });
  expect(await look()).toMatchObject({ look: 'complete' });
  expect(await served()).toEqual(['open', null]);
  world.site.changeDocket(docket, { date_terminated: '2026-03-02' });
  await look();
  expect(await served()).toEqual(CLOSED);
});

it('a part that another source brings does not', async () => {
  const raw = rawDocket([], { court_id: 'ilnd', docket_number: NUMBER, date_terminated: null });
  const options = { askedAt: toInstant(world.clock.now()), complete: false, source: 'courtlistener' };
  const part = readJuriscraperDocket(raw, options);
  if ('refused' in part) throw new Error(part.refused);
  await ingestDocket({ ...world.world.ports, newId: randomUUID }, part.snapshot, contextOf());
  expect(await served()).toEqual(CLOSED);
});
