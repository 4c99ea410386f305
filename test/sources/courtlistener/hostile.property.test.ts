/**
 * Given a site that answers anything, when the source asks about a case, then it never throws, makes few requests, and carries its
 * token nowhere else.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDocketAlerts } from '../../../src/sources/courtlistener/alerts.ts';
import { createCourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import { type AskingWorld, openAsking } from './asking.ts';

let world: AskingWorld;
beforeAll(async () => {
  world = await openAsking();
});
afterAll(() => world.close());

/** Values that are nearly what the API shows. */
const id = fc.oneof(fc.constant(71_900_001), fc.integer(), fc.constant('71900001'), fc.constant(null), fc.string());
const link = fc.oneof(
  fc.constant(null),
  fc.string(),
  fc.constant('SITEdocket-entries/?cursor=abc&docket=71900001'),
  fc.constant('https://elsewhere.example/api/rest/v4/docket-entries/?cursor=abc'),
  fc.integer(),
);
const row = fc.record(
  {
    id,
    docket: fc.oneof(fc.constant('SITEdockets/71900001/'), id),
    court_id: fc.constantFrom('ilnd', 'scotus', null, 7),
    docket_number: fc.constantFrom('1:26-cv-02417', '3:26-cv-02417', '', null, 9),
    entry_number: fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null)),
    date_filed: fc.oneof(fc.constant('2026-03-02'), fc.string(), fc.constant(null)),
    time_filed: fc.oneof(fc.constant('16:42:10'), fc.string(), fc.constant(null)),
    description: fc.oneof(fc.string(), fc.constant(null), fc.jsonValue()),
    recap_documents: fc.oneof(fc.array(fc.jsonValue()), fc.constant(null), fc.jsonValue()),
    party_types: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
    attorneys: fc.jsonValue(),
    name: fc.jsonValue(),
    contact_raw: fc.jsonValue(),
    parties_represented: fc.jsonValue(),
    date_modified: fc.jsonValue(),
    original_court_info: fc.jsonValue(),
  },
  { requiredKeys: ['id'] },
);
const page = fc.record(
  {
    next: link,
    previous: link,
    count: fc.jsonValue(),
    results: fc.array(fc.oneof(row, fc.jsonValue()), { maxLength: 5 }),
  },
  { requiredKeys: ['results'] },
);
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 201, 204, 301, 400, 403, 404, 418, 429, 500, 503),
  body: fc.oneof(page, row, fc.jsonValue(), fc.string()),
  headers: fc.constantFrom(
    {},
    { 'Retry-After': '1' },
    { 'Retry-After': 'soon' },
    { Location: 'https://elsewhere.example/' },
  ),
});

const KINDS = ['dockets/?', 'dockets/', 'docket-entries/', 'parties/', 'attorneys/', 'search/'] as const;

describe('a site that answers anything', () => {
  it('makes no look throw, and none longer than a few requests', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...KINDS), answer), fc.boolean(), async (answers, isKnown) => {
        const caseNumber = `1:26-cv-${String(20_000 + ++number)}`;
        const before = world.site.requests.length;
        const written = (text: string) =>
          text.replaceAll('SITE', world.site.url).replaceAll('1:26-cv-02417', caseNumber);
        world.site.answerWith((url) => {
          const kind = KINDS.find((one) => url.startsWith(one) && answers[one] !== undefined);
          const docket = { id: 71_900_001, court_id: 'ilnd', docket_number: caseNumber, case_name: 'Any v. Other' };
          const usual = url.startsWith('dockets/7') ? docket : { next: null, results: [docket] };
          const { status, body, headers } = (kind && answers[kind]) || { status: 200, body: usual, headers: {} };
          const sent = typeof body === 'string' ? written(body) : JSON.parse(written(JSON.stringify(body)));
          return { status, body: sent, headers };
        });
        const look = await world.ask('ilnd', caseNumber);
        expect(['complete', 'partial', 'unchanged', 'not_found', 'failed']).toContain(look.look);
        if (isKnown && 'stream' in look) await world.ask('ilnd', caseNumber, { stream: look.stream });
        expect(world.site.requests.length - before).toBeLessThan(40);
        world.clock.advance(60_000);
      }),
      { numRuns: 150 },
    );
  });

  it('gets the token no other place by its links', async () => {
    world.site.answerWith(null);
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = elsewhere.address() as AddressInfo;
      const docket = world.site.addDocket({ court: 'ilnd', number: '1:26-cv-00001' });
      const links = [
        `http://127.0.0.1:${port}/api/rest/v4/docket-entries/?cursor=a`,
        `${world.site.url.replace('//', `//x@127.0.0.1:${port}#`)}docket-entries/?cursor=a`,
        `${world.site.url}docket-entries/../../../../o/?cursor=a`,
        `${world.site.url}docket-alerts/?cursor=a`,
        '//elsewhere.example/?cursor=a',
      ];
      for (const next of links) {
        const results = [{ id: 1, docket, entry_number: 1, description: 'COMPLAINT', recap_documents: [] }];
        world.site.failNext({ path: 'docket-entries/', status: 200, body: { next, results } });
        const look = await world.ask('ilnd', '1:26-cv-00001');
        expect(look).toMatchObject({ look: 'partial', because: { fault: 'unreadable' } });
      }
      expect(seen).toEqual([]);
    } finally {
      await new Promise((resolve) => elsewhere.close(resolve));
    }
  });

  it('brings neither its token nor anything but a short line of text into faults and logs', async () => {
    const { token, url } = world.site;
    const logged: string[] = [];
    const http = createSourceHttp({ userAgent: 'docket-test', allowPrivate: [new URL(url).host] });
    const asking = { priority: 'paid', signal: new AbortController().signal } as const;
    const client = createCourtListenerClient({
      http,
      budget: {
        take: async () => ({ taken: true }),
        hold: async () => {},
        standing: async () => ({ rates: [], heldUntil: null }),
      },
      clock: world.clock,
      url,
      token,
      logger: { error: (fields) => logged.push(JSON.stringify(fields)) },
    });
    const alerts = createDocketAlerts(client);
    /** Wherever a text is cut, it is cut inside the token for one of these. */
    const echoes = Array.from(
      { length: 14 },
      (_, index) => `${'x'.repeat(index * 15)}Token ${token}\u001b[2J\u009b31m`,
    );
    try {
      for (const echo of echoes) {
        for (const status of [400, 401, 403, 404, 429, 500]) {
          for (const body of [
            { detail: echo },
            { unknown_params: [echo, 'y'.repeat(100_000)] },
            { [echo]: 1 },
            { docket: [echo] },
          ]) {
            world.site.answerWith(() => ({ status, body, headers: {} }));
            const replies = [
              await client.send({ path: 'dockets/' }, asking),
              await alerts.subscribe('7', asking),
              await alerts.end('7', asking),
            ];
            for (const text of [...replies.map((reply) => JSON.stringify(reply)), ...logged.splice(0)]) {
              expect(text.length).toBeLessThan(500);
              expect(text).toMatch(/^[\x20-\x7e]*$/);
              expect(text).not.toContain(token.slice(0, 8));
            }
          }
        }
      }
    } finally {
      world.site.answerWith(null);
      await http.close();
    }
  });
});
