/**
 * The imitation of CourtListener itself, over a real socket.
 * Given its data, when a client asks as the API documents, then it pages, filters, limits and refuses as recorded.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CourtListenerImitation, openCourtListener } from './court-listener.ts';

let now = Date.UTC(2026, 2, 2, 17) * 1_000;
let site: CourtListenerImitation;

beforeEach(async () => {
  site = await openCourtListener({ clock: { now: () => now }, rates: [] });
});
afterEach(() => site.close());

async function get(path: string, init: RequestInit = {}) {
  const address = path.startsWith('http') ? path : site.url + path;
  const response = await fetch(address, {
    ...init,
    headers: { authorization: `Token ${site.token}`, ...init.headers },
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: JSON that tests look into
  const body: any = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body };
}

function docketOf(entries: number): number {
  const docket = site.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
  for (let number = 1; number <= entries; number++) {
    site.addEntry(docket, { number, description: `NOTICE ${number}`, documents: [{ pacerDocId: `06703${number}` }] });
  }
  return docket;
}

describe('the imitation of CourtListener', () => {
  it('pages by cursor in one ordering, every row once, forwards and back', async () => {
    const docket = docketOf(45);
    const first = await get(`docket-entries/?docket=${docket}&order_by=date_modified`);
    expect(first.body).toMatchObject({ previous: null, count: expect.stringContaining('count=on') });
    const second = await get(first.body.next);
    const third = await get(second.body.next);
    const numbers = [first, second, third].flatMap(({ body }) =>
      body.results.map((row: { entry_number: number }) => row.entry_number),
    );
    expect(numbers).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
    expect(third.body.next).toBeNull();
    const back = await get(third.body.previous);
    expect(back.body.results).toEqual(second.body.results);
    expect((await get(first.body.count)).body).toEqual({ count: 45 });
    const other = first.body.next.replace('order_by=date_modified', 'order_by=id');
    expect(await get(other)).toMatchObject({ status: 404, body: { detail: 'Invalid cursor' } });
  });

  it('numbers pages of any other ordering, up to the hundredth', async () => {
    const docket = docketOf(25);
    const list = `docket-entries/?docket=${docket}&order_by=recap_sequence_number,entry_number`;
    const first = await get(list);
    expect(first.body).toMatchObject({ count: 25, next: expect.stringContaining('page=2') });
    expect((await get(first.body.next)).body.results).toHaveLength(5);
    expect(await get(`${list}&page=101`)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('Deep API pagination') },
    });
    expect(await get(`${list}&page=x`)).toMatchObject({ status: 404 });
  });

  it('repeats an entry for each document that a filter matches, and leaves out what is not wanted', async () => {
    const docket = site.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
    const entry = site.addEntry(docket, { number: 1, documents: [{}, { attachmentNumber: 1 }] });
    const list = `docket-entries/?docket=${docket}&recap_documents__date_modified__gt=2026-01-01T00:00:00Z`;
    const { body } = await get(`${list}&omit=recap_documents__plain_text`);
    expect(body.results.map((row: { id: number }) => row.id)).toEqual([entry, entry]);
    expect(body.results[0].recap_documents[0]).not.toHaveProperty('plain_text');
    expect((await get(list)).body.results[0].recap_documents[0]).toHaveProperty('plain_text');
  });

  it('limits the account in rolling windows, the shortest first', async () => {
    site.setRates([
      { requests: 5, micros: 60_000_000 },
      { requests: 8, micros: 3_600_000_000 },
    ]);
    for (let request = 0; request < 5; request++) expect((await get('dockets/')).status).toBe(200);
    const refused = await get('dockets/');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.body.detail).toContain('5/min');
    now += 60_000_000;
    for (let request = 0; request < 3; request++) expect((await get('dockets/')).status).toBe(200);
    expect((await get('dockets/')).body.detail).toContain('8/hour');
    expect((await get('api-usage/')).body[1]).toMatchObject({ rate: '8/hour', used: 8, remaining: 0 });
  });

  it('keeps one alert for each docket, renews and ends it', async () => {
    const docket = docketOf(0);
    const json = { 'content-type': 'application/json' };
    const post = () => get('docket-alerts/', { method: 'POST', headers: json, body: JSON.stringify({ docket }) });
    const made = await post();
    expect(made).toMatchObject({ status: 201, body: { alert_type: 1, docket } });
    expect(await post()).toMatchObject({
      status: 400,
      body: { non_field_errors: [expect.stringContaining('unique')] },
    });
    const path = `docket-alerts/${made.body.id}/`;
    const patched = await get(path, { method: 'PATCH', headers: json, body: '{"alert_type":0}' });
    expect(patched.body.alert_type).toBe(0);
    expect((await get(path, { method: 'DELETE' })).status).toBe(204);
    expect(site.alerts()).toEqual([]);
    expect((await get(path)).status).toBe(404);
  });

  it('refuses keys without the word, unknown ids and misspelt filters', async () => {
    expect(await get('dockets/', { headers: { authorization: site.token } })).toMatchObject({ status: 401 });
    expect(await get('dockets/7/')).toMatchObject({
      status: 404,
      body: { detail: 'No Docket matches the given query.' },
    });
    expect(await get('docket-entries/?court_code=ilnd')).toMatchObject({
      status: 400,
      body: { unknown_params: ['court_code'] },
    });
  });
});
