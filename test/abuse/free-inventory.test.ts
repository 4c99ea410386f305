/** Free inventory: numbers without their office, in calls that cost nothing, must not reveal which cases are known. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { openWorld, type World } from '../http/world.ts';

const OFFICES = ['1', '3', '4', '5'];
const CORE = '24-cv-05678';
const KNOWN = OFFICES.map((office) => `${office}:${CORE}`);

let world: World;
beforeAll(async () => {
  world = await openWorld();
  const entries = [rawEntry(1, '2024-02-01', 'COMPLAINT')];
  for (const docket_number of KNOWN) await world.importDocket(rawDocket(entries, { docket_number }));
});
afterAll(() => world.close());

const named = (text: string) => KNOWN.filter((number) => text.includes(number));
const AMBIGUOUS = { case_id: CORE, court_code: 'cand' };
const WRONG_OFFICE = { case_id: `9:${CORE}`, court_code: 'cand' };

async function bought(path: string, init: RequestInit = {}) {
  const wallet = await world.wallet(60_000_000n);
  const pay = await world.agentOf(wallet, fetch, '$60');
  const answer = await pay(world.url + path, init);
  return { status: answer.status, text: await answer.text(), spent: 60_000_000n - (await world.balance(wallet)) };
}
const batch = (queries: object[]) =>
  bought('/v2/cases/batch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queries }),
  });

describe('an error that costs nothing', () => {
  it.each([
    [409, AMBIGUOUS],
    [404, WRONG_OFFICE],
  ])('with status %s names no known case, and explains what a complete number is', async (status, query) => {
    const answer = await bought(`/v2/case?${new URLSearchParams(query)}`);
    expect([answer.status, answer.spent, named(answer.text)]).toEqual([status, 0n, []]);
    if (status === 409)
      expect(JSON.parse(answer.text).error.details).toMatchObject({ pattern: expect.stringContaining('\\d') });
  });

  it('for a batch of 50 names none', async () => {
    const answer = await batch(Array.from({ length: 50 }, (_, index) => (index % 2 ? AMBIGUOUS : WRONG_OFFICE)));
    expect([answer.status, answer.spent, named(answer.text)]).toEqual([200, 0n, []]);
  });

  it('before payment names none', async () => {
    for (const query of [AMBIGUOUS, WRONG_OFFICE]) {
      const asked = await fetch(`${world.url}/v2/case?${new URLSearchParams(query)}`);
      expect([asked.status, named(await asked.text())]).toEqual([402, []]);
    }
  });
});

it('names the candidates in a batch that is charged', async () => {
  const answer = await batch([AMBIGUOUS, { case_id: KNOWN[0], court_code: 'cand' }]);
  expect([answer.status, answer.spent, named(answer.text)]).toEqual([200, 1_980_000n, KNOWN]);
});
