/**
 * Finding a case on CourtListener by its number, over real sockets.
 * Given dockets there, when a case is asked for by a form of its number, then the right one is found, or all that may be meant.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCaseNumber } from '../../../src/courts/case-number.ts';
import { docketStream } from '../../../src/events/docket.ts';
import type { CourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { lookUp } from '../../../src/sources/courtlistener/lookup.ts';
import { court } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';

let world: AskingWorld;
beforeEach(async () => {
  world = await openAsking();
});
afterEach(() => world.close());

function add(court: string, number: string, more: object = {}): number {
  const docket = world.site.addDocket({ court, number, ...more });
  world.site.addEntry(docket, { number: 1, description: `FIRST entry of ${number}` });
  return docket;
}

const paths = () => world.site.requests.map(({ url }) => url.split(/[?&](?=order_by|cursor)/)[0]);

describe('a case is looked up', () => {
  it.each([
    ['ilnd', 'ilnd', '1:26-cv-02417', '1:26-cv-02417'],
    ['a bankruptcy court', 'ilnb', '26-70412', '26-70412'],
    ['a bankruptcy court with offices', 'ilnb', '1-26-70412', '1:26-bk-70412'],
    ['Arizona’s bankruptcy court', 'azb', '2:26-bk-01234', '2:26-bk-01234'],
    ['Nebraska’s bankruptcy court', 'neb', '26-41234', '26-41234'],
    ['the Judicial Panel', 'jpml', 'MDL 3094', 'MDL No. 3094'],
    ['the Court of Federal Claims', 'uscfc', '1:26-cv-00123', '1:26-cv-00123'],
  ])('in %s', async (_, code, written, asked) => {
    const ids = new Map([
      ['azb', 'arb'],
      ['neb', 'nebraskab'],
    ]);
    add(ids.get(code) ?? code, written);
    add('ilsd', written);
    expect(await world.ask(code, asked)).toMatchObject({ look: 'complete' });
    const { body } = await world.world.ask(code, asked, { context: 'full' });
    expect(JSON.stringify(body)).toContain(`FIRST entry of ${written}`);
  });

  it('by its exact number with one request, which finds it at once the next time', async () => {
    const docket = add('ilnd', '1:26-cv-02417');
    world.clock.advance(3_600_000);
    const look = await world.ask('ilnd', '1:26-cv-02417');
    expect(paths()).toEqual([
      'dockets/?court=ilnd&docket_number=1%3A26-cv-02417',
      `docket-entries/?docket=${docket}&omit=recap_documents__plain_text`,
      `parties/?docket=${docket}&filter_nested_results=True`,
      `attorneys/?docket=${docket}&filter_nested_results=True`,
    ]);
    world.site.requests.length = 0;
    world.clock.advance(3_600_000);
    expect(await world.ask('ilnd', '1:26-cv-02417', { stream: 'stream' in look ? look.stream : null })).toMatchObject({
      look: 'unchanged',
    });
    expect(paths().map((path) => path?.replace(/__gt=[^&]+/, '__gt'))).toEqual([
      `dockets/${docket}/`,
      `docket-entries/?docket=${docket}&omit=recap_documents__plain_text`,
      `docket-entries/?docket=${docket}&omit=recap_documents__plain_text`,
    ]);
    expect(world.site.requests[1]?.url).toContain('&date_modified__gt=');
    expect(world.site.requests[2]?.url).toContain('&recap_documents__date_modified__gt=');
  });

  it('again after a week, because CourtListener may have opened another docket for it', async () => {
    add('ilnd', '1:26-cv-02417');
    world.clock.advance(3_600_000);
    const look = await world.ask('ilnd', '1:26-cv-02417');
    const stream = 'stream' in look ? look.stream : null;
    const other = world.site.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
    world.site.addEntry(other, { number: 2, description: 'ORDER in another docket' });
    world.site.requests.length = 0;
    for (let day = 0; day < 8; day++) {
      world.clock.advance(24 * 3_600_000);
      expect(await world.ask('ilnd', '1:26-cv-02417', { stream })).toHaveProperty('stream', stream);
    }
    expect(await world.filings(stream ?? '')).toMatchObject([
      { description: 'FIRST entry of 1:26-cv-02417' },
      { description: 'ORDER in another docket' },
    ]);
    expect(paths().filter((path) => path?.includes('docket_number=')).length).toBeLessThanOrEqual(2);
  });

  it('without its office, if only one case is meant', async () => {
    add('ilnd', '3:26-cv-02417');
    add('ilnd', '1:26-cr-02417');
    expect(await world.ask('ilnd', '26-cv-02417')).toMatchObject({
      look: 'complete',
      stream: docketStream('ilnd', '3:26-cv-02417'),
    });
  });

  it('without its office, and the head of each that may be meant is recorded, so that callers can choose', async () => {
    add('ilnd', '3:26-cv-02417');
    add('ilnd', '1:26-cv-02417');
    expect(await world.ask('ilnd', '26-cv-02417')).toEqual({ look: 'not_found' });
    await expect(world.world.ask('ilnd', '26-cv-02417')).rejects.toThrow(/ambiguous_case_id/);
    // A head alone is not sold.
    await expect(world.world.ask('ilnd', '1:26-cv-02417')).rejects.toThrow(/court_unavailable/);
    await world.ask('ilnd', '1:26-cv-02417');
    await expect(world.world.ask('ilnd', '1:26-cv-02417')).resolves.toBeDefined();
  });

  it('without its office again, and the cases that may be meant never become one', async () => {
    add('ilnd', '3:26-cv-02417');
    add('ilnd', '1:26-cv-02417');
    for (let times = 0; times < 3; times++) {
      expect(await world.ask('ilnd', '26-cv-02417')).toEqual({ look: 'not_found' });
    }
    expect(await world.ask('ilnd', '1:26-cv-02417')).toMatchObject({ look: 'complete' });
    expect(await world.filings(docketStream('ilnd', '1:26-cv-02417'))).toMatchObject([
      { description: 'FIRST entry of 1:26-cv-02417' },
    ]);
    expect(await world.filings(docketStream('ilnd', '3:26-cv-02417'))).toEqual([]);
  });

  it('and is not found with a few requests, nor in a court that CourtListener does not have', async () => {
    expect(await world.ask('ilnd', '1:26-cv-99999')).toEqual({ look: 'not_found' });
    expect(world.site.requests).toHaveLength(2);
    expect(await world.ask('scotus', '25-447')).toEqual({ look: 'not_found' });
    expect(world.site.requests).toHaveLength(2);
  });
});

describe('a search that does not answer leaves what the database said', () => {
  it.each(['hangs', 'drops'] as const)('if it %s', async (how) => {
    await world.close();
    world = await openAsking({ searchMs: 500 });
    world.site.setSearch(how);
    expect(await world.ask('ca7', '26-9999')).toEqual({ look: 'not_found' });
  });

  it.each([
    ['is too large', 200, 'x'.repeat(17 * 1024 * 1024)],
    ['is a page for people', 502, '<html>Bad Gateway</html>'],
  ])('if its answer %s', async (_, status, body) => {
    world.site.failNext({ path: 'search/', status, body });
    expect(await world.ask('ca7', '26-9999')).toEqual({ look: 'not_found' });
  });

  it('but not if the account may not ask at all', async () => {
    world.site.failNext({ path: 'search/', status: 401, body: { detail: 'Invalid token.' } });
    expect(await world.ask('ca7', '26-9999')).toMatchObject({ look: 'failed', because: { fault: 'unauthorised' } });
  });

  it('and gets less time than a query waits for a look', async () => {
    const given: (number | undefined)[] = [];
    const client: CourtListenerClient = {
      cursorOf: () => null,
      send: async ({ path, totalMs }) => {
        if (path !== 'search/') return { ok: { results: [] } };
        given.push(totalMs);
        return { fault: 'timeout', reason: 'late', retryAt: null };
      },
    };
    const number = parseCaseNumber(court('ca7'), '26-9999');
    if (!number) throw new Error('not a number');
    const asking = { priority: 'paid', signal: new AbortController().signal } as const;
    expect(await lookUp(client, court('ca7'), number, asking)).toEqual({ dockets: [] });
    expect(given).toHaveLength(1);
    expect(given[0]).toBeLessThan(15_000);
  });
});
