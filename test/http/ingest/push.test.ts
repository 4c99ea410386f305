/**
 * Given sources with tokens, when they push dockets, then each docket is recorded under the source's name, reported, and
 * sold as any other; a repetition changes nothing; and without a valid token nothing is read.
 */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sourceTokenHash } from '../../../src/commands/source-token/token.ts';
import { MOST_DOCKETS } from '../../../src/http/ingest/push-dockets.ts';
import {
  MAX_PUSH_BYTES,
  PUSHED_BYTES_PER_MINUTE,
  PUSHES_AT_ONCE,
  PUSHES_PER_MINUTE,
} from '../../../src/http/ingest/push-limits.ts';
import { createOperatorActs } from '../../../src/processes/operator-acts.ts';
import { MICROS_PER_SECOND, systemClock } from '../../../src/runtime/instant.ts';
import { writeOwnDocket } from '../../../src/sources/files/own-docket.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { silent } from '../serving.ts';
import { openWorld, type World } from '../world.ts';

const ENTRIES = [
  { document_number: 1, date_filed: '2025-02-03', description: 'COMPLAINT against Canal Street Salt.' },
  { document_number: 2, date_filed: '2025-02-04', description: 'NOTICE of appearance.' },
];
const docketOf = (number: string, entries: readonly unknown[] = ENTRIES, court = 'cand') => ({
  court_id: court,
  docket_number: number,
  case_name: 'Birch Hollow Mill v. Canal Street Salt',
  date_filed: '2025-02-03',
  docket_entries: entries,
});

let world: World;
let token: string;
beforeAll(async () => {
  world = await openWorld({ unknownTokensPerMinute: 20 });
  token = await world.sourceToken('county-scraper');
});
afterAll(() => world.close());

interface Sending {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: string | null;
  /** Another node. */
  readonly at?: string;
}

async function push(
  body: string | Buffer | object,
  { query = '', headers = {}, as = token, at = world.url }: Sending = {},
) {
  const answer = await fetch(`${at}/ingest/dockets${query}`, {
    method: 'POST',
    headers: {
      ...(as === null ? {} : { authorization: `Bearer ${as}` }),
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? (body as never) : JSON.stringify(body),
  });
  const text = await answer.text();
  expect(text).not.toContain('dkt_push_');
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as it comes
  return { status: answer.status, headers: answer.headers, json: JSON.parse(text) as any };
}
const lines = (...dockets: readonly object[]) => dockets.map((one) => JSON.stringify(one)).join('\n');
const NDJSON = { headers: { 'content-type': 'application/x-ndjson' } };
const checksOf = async (number: string) =>
  (await world.storage.log.read(`docket-cand-${number}`)).filter(({ type }) => type === 'DocketChecked');

describe('a pushed docket', () => {
  it('is recorded under the name of its source, visible at once, and sold', async () => {
    const { status, json } = await push(docketOf('4:25-cv-00100'));
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ source: 'county-scraper', visible: true, recorded: 1 }),
    ]);
    expect(json.results).toEqual([
      {
        where: '',
        court_code: 'cand',
        case_number: '4:25-cv-00100',
        outcome: 'recorded',
        entries: 2,
        new_filings: 0,
        baseline_filings: 2,
        revised: 0,
        merged: 0,
        sealed: 0,
        skipped_entries: 0,
        older_than_known: false,
        skipped: [],
        remarks: [],
      },
    ]);
    const [check] = await checksOf('4:25-cv-00100');
    expect([check?.data.source, check?.metadata.actor]).toEqual(['county-scraper', 'source:county-scraper']);
    const unpaid = await fetch(`${world.url}/v2/case?court_code=cand&case_id=4:25-cv-00100`);
    expect(((await unpaid.json()) as { error: { details: object } }).error.details).toMatchObject({
      known: true,
      source: 'county-scraper',
    });
    const agent = await world.agent();
    const answer = await agent(`${world.url}/v2/case?court_code=cand&case_id=4:25-cv-00100`);
    const sold = (await answer.json()) as { readonly case: { readonly filing_count: number } };
    expect(sold.case.filing_count).toBe(2);
  });

  it('that comes again changes nothing, in any form and compressed', async () => {
    const docket = docketOf('4:25-cv-00101');
    await push([docket]);
    const head = await world.storage.log.head();
    for (const body of [JSON.stringify([docket], null, 2), `[${JSON.stringify(docket)}]`]) {
      const { json } = await push(gzipSync(body), { headers: { 'content-encoding': 'gzip' } });
      expect(json).toMatchObject({ recorded: 0, unchanged: 1, refused: 0 });
    }
    expect(await world.storage.log.head()).toEqual(head);
  });

  it('that was looked at again is as fresh as that look, without news', async () => {
    const docket = docketOf('4:25-cv-00102');
    const first = { query: '?asked_at=2026-03-01T12:00:00Z' };
    await push(docket, first);
    await push(docket, first);
    expect(await checksOf('4:25-cv-00102')).toHaveLength(1);
    const { json } = await push(docket, { query: '?asked_at=2026-03-01T13:00:00Z' });
    expect(json.results[0]).toMatchObject({ outcome: 'unchanged', new_filings: 0 });
    expect((await checksOf('4:25-cv-00102')).map(({ data }) => data.askedAt)).toEqual([
      '2026-03-01T12:00:00.000000Z',
      '2026-03-01T13:00:00.000000Z',
    ]);
  });

  it('from a scraper whose clock is up to five minutes ahead was looked at now; more is refused', async () => {
    const ahead = (minutes: number) => ({
      query: `?asked_at=${new Date(Date.now() + minutes * 60_000).toISOString()}`,
    });
    const sent = await push(docketOf('4:25-cv-00112'), ahead(4));
    expect(sent.json).toMatchObject({ recorded: 1 });
    const [check] = await checksOf('4:25-cv-00112');
    expect(String(check?.data.askedAt) <= `${new Date().toISOString().slice(0, -1)}999Z`).toBe(true);
    const refused = await push(docketOf('4:25-cv-00113'), ahead(8));
    expect([refused.status, refused.json.error.code]).toEqual([400, 'invalid_parameter']);
  });

  it('announces what is new once', async () => {
    await push(docketOf('4:25-cv-00103'));
    const more = docketOf('4:25-cv-00103', [
      ...ENTRIES,
      { document_number: 3, date_filed: '2025-02-09', description: 'ORDER.' },
    ]);
    expect((await push(more)).json.results[0]).toMatchObject({ outcome: 'recorded', new_filings: 1 });
    expect((await push(more)).json).toMatchObject({ new_filings: 0, unchanged: 1 });
  });

  it('may be partial: then what is missing is not known to be missing', async () => {
    const { json } = await push(docketOf('4:25-cv-00104', ENTRIES.slice(0, 1)), { query: '?partial=true' });
    expect(json.recorded).toBe(1);
    expect((await checksOf('4:25-cv-00104'))[0]?.data.complete).toBe(false);
  });
});

describe('a node that has just started', () => {
  it('asks to try again while it does not know which tokens are valid', async () => {
    const starting = await world.node({}, createOperatorActs({ ...world.storage, logger: silent }));
    const { status, json } = await push(docketOf('4:25-cv-00190'), { at: starting });
    expect([status, json.error.code]).toEqual([503, 'service_unavailable']);
    expect(await checksOf('4:25-cv-00190')).toEqual([]);
  });
});

describe('a body', () => {
  it('may have one docket per line, in this service’s own form too; one bad docket or entry never affects the others', async () => {
    const parsed = readJuriscraperDocket(docketOf('4:25-cv-00201'), {
      askedAt: '2026-03-01T12:00:00.000000Z',
      complete: true,
      source: 'file',
    });
    if ('refused' in parsed) throw new Error(parsed.refused);
    const broken = docketOf('4:25-cv-00202', [
      ...ENTRIES,
      { document_number: 'x'.repeat(10), date_filed: 7 },
      'no entry',
    ]);
    const body = [
      lines(writeOwnDocket(parsed.snapshot)),
      '{"court_id": "cand"',
      lines(broken, docketOf('nothing'), docketOf('1:1', [], 'moon')),
    ];
    const { json } = await push(body.join('\n'), NDJSON);
    expect(json).toMatchObject({ dockets: 5, recorded: 2, refused: 3 });
    const byPlace = new Map(json.results.map((row: { where: string }) => [row.where, row]));
    expect(byPlace.get('line 1')).toMatchObject({ outcome: 'recorded', case_number: '4:25-cv-00201' });
    expect(byPlace.get('line 2')).toMatchObject({ outcome: 'refused', why: expect.stringMatching(/not JSON/) });
    expect(byPlace.get('line 3')).toMatchObject({ outcome: 'recorded', skipped_entries: expect.any(Number) });
    expect((byPlace.get('line 3') as { skipped: unknown[] }).skipped.length).toBeGreaterThan(0);
    expect(byPlace.get('line 5')).toMatchObject({ outcome: 'refused', why: 'unknown court "moon"' });
  });

  it('may have the pages of CourtListener, put together by docket', async () => {
    const api = 'https://www.courtlistener.com/api/rest/v4';
    const docket = {
      resource_uri: `${api}/dockets/7/`,
      id: 7,
      court_id: 'cand',
      docket_number: '4:25-cv-00203',
      case_name: 'Birch v. Salt',
      date_filed: '2025-02-03',
    };
    const page = {
      next: null,
      previous: null,
      results: [
        {
          resource_uri: `${api}/docket-entries/1/`,
          id: 1,
          docket: `${api}/dockets/7/`,
          date_filed: '2025-02-03',
          entry_number: 1,
          recap_sequence_number: '',
          description: 'COMPLAINT',
          recap_documents: [],
        },
      ],
    };
    const { json } = await push([
      page,
      docket,
      { next: null, previous: null, count: `${api}/x/`, results: [{ id: 9 }] },
    ]);
    expect(json.results).toEqual([
      expect.objectContaining({ outcome: 'refused', where: '[2]' }),
      expect.objectContaining({ outcome: 'recorded', where: 'docket 7', entries: 1 }),
    ]);
    expect(JSON.stringify(json)).not.toContain('/pushed/');
  });

  it('with more dockets than its limit is reported up to there', async () => {
    const { json } = await push('{}\n'.repeat(MOST_DOCKETS + 5), NDJSON);
    expect(json).toMatchObject({ dockets: MOST_DOCKETS + 1, refused: MOST_DOCKETS + 1 });
    expect(json.results.at(-1)).toMatchObject({
      where: `line ${MOST_DOCKETS + 1}`,
      why: expect.stringMatching(/at most/),
    });
  });

  it.each<[string, string | Buffer, Sending, number, string]>([
    ['another type', 'x', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    ['another encoding', 'x', { headers: { 'content-encoding': 'br' } }, 415, 'unsupported_media_type'],
    ['no gzip', 'x', { headers: { 'content-encoding': 'gzip' } }, 400, 'invalid_parameter'],
    [
      'half of its gzip',
      gzipSync('[1,2,3]').subarray(0, 20),
      { headers: { 'content-encoding': 'gzip' } },
      400,
      'invalid_parameter',
    ],
    ['a parameter of another name', '[]', { query: '?complete=1' }, 400, 'invalid_parameter'],
    ['a time without zone', '[]', { query: '?asked_at=2026-03-01' }, 400, 'invalid_parameter'],
    ['a time to come', '[]', { query: '?asked_at=2126-03-01T00:00:00Z' }, 400, 'invalid_parameter'],
    ['no such choice', '[]', { query: '?partial=perhaps' }, 400, 'invalid_parameter'],
    ['no such court', '[]', { query: '?court=moon' }, 400, 'invalid_parameter'],
    [
      'more bytes, unpacked, than its limit',
      gzipSync(Buffer.alloc(MAX_PUSH_BYTES + 1, ' ')),
      { headers: { 'content-encoding': 'gzip' } },
      413,
      'payload_too_large',
    ],
  ])('with %s is refused', async (_what, body, sending, status, code) => {
    const refused = await push(body, sending);
    expect([refused.status, refused.json.error.code]).toEqual([status, code]);
    expect(refused.json.error.details.hint).toMatch(/./);
  });

  it('that is refused while the rest of it still arrives leaves its connection open for the next request', async () => {
    const socket = connect(world.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (answer) => {
      text += answer;
    });
    const head = (...more: string[]) =>
      ['POST /ingest/dockets HTTP/1.1', 'host: x', `authorization: Bearer ${token}`, ...more, '', ''].join('\r\n');
    const json = 'content-type: application/json';
    const part = `80000\r\n${'x'.repeat(0x80_000)}\r\n`;
    socket.write(`${head(json, 'content-encoding: gzip', 'transfer-encoding: chunked')}${part}`);
    await vi.waitUntil(() => text.startsWith('HTTP/1.1 400'));
    socket.write(`${part}0\r\n\r\n${head(json, 'content-length: 2')}[]`);
    await vi.waitUntil(() => text.includes('HTTP/1.1 200'));
    socket.destroy();
  });
});

describe('a token', () => {
  it('limited to courts brings nothing of others', async () => {
    const limited = await world.sourceToken('southern', ['nysd']);
    const { json } = await push([docketOf('4:25-cv-00301'), docketOf('1:25-cv-00301', ENTRIES, 'nysd')], {
      as: limited,
    });
    expect(json).toMatchObject({ recorded: 1, refused: 1 });
    expect(json.results.find(({ outcome }: { outcome: string }) => outcome === 'refused').why).toBe(
      'this token may not push dockets of cand, only of nysd',
    );
    expect(await world.storage.log.read('docket-cand-4:25-cv-00301')).toEqual([]);
    expect((await push('[]', { query: '?court=cand', as: limited })).json.error).toMatchObject({
      code: 'court_not_allowed',
      details: { allowed_courts: ['nysd'] },
    });
  });

  it('of all courts may be used for one of them', async () => {
    const { json } = await push([docketOf('4:25-cv-00302')], { query: '?court=nysd' });
    expect(json.results[0]).toMatchObject({ outcome: 'refused', why: 'is of cand, but the request says nysd' });
  });

  it.each<[string, string | null, string]>([
    ['is missing', null, 'Bearer realm="dockets"'],
    ['is wrong', `dkt_push_${'A'.repeat(43)}`, 'Bearer realm="dockets", error="invalid_token"'],
    ['is no token', 'secret', 'Bearer realm="dockets", error="invalid_token"'],
  ])('that %s opens nothing, and the body is not read', async (_what, as, challenge) => {
    const sent = await new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: number }>(
      (resolve, reject) => {
        const request = httpRequest(`${world.url}/ingest/dockets`, {
          method: 'POST',
          headers: {
            ...(as === null ? {} : { authorization: `Bearer ${as}` }),
            'content-type': 'application/json',
            'content-length': MAX_PUSH_BYTES,
          },
        });
        request.on('error', reject);
        request.on('response', (response) => {
          response.resume();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: request.socket?.bytesWritten ?? 0,
          });
          request.destroy();
        });
        // Only the headers: an answer comes without a byte of the body.
        request.flushHeaders();
      },
    );
    expect([sent.status, sent.headers['www-authenticate']]).toEqual([401, challenge]);
    expect(sent.bytes).toBeLessThan(1_000);
  });

  it('that was revoked opens nothing', async () => {
    const gone = await world.sourceToken('short-lived');
    await world.revokeSource('short-lived');
    while (world.acts.sourceOf(sourceTokenHash(gone)) !== null) await new Promise(setImmediate);
    expect((await push('[]', { as: gone })).status).toBe(401);
  });

  it('is never in an event', async () => {
    for await (const { events } of world.storage.log.readAll(null, { by: 'all' })) {
      expect(JSON.stringify(events)).not.toContain('dkt_push_');
    }
  });
});

describe('a limit', () => {
  it('holds for each source over all nodes', async () => {
    const busy = await world.sourceToken('busy');
    const { readStore } = world.storage;
    const minute = 60 * MICROS_PER_SECOND;
    const used = PUSHES_PER_MINUTE - 1;
    await readStore.increment('push-requests busy', used, PUSHES_PER_MINUTE, systemClock.now(), minute);
    expect((await push('[]', { as: busy })).status).toBe(200);
    const refused = await push('[]', { as: busy });
    expect([refused.status, refused.json.error.details]).toEqual([
      429,
      expect.objectContaining({ window: 'push_requests', limit: PUSHES_PER_MINUTE }),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = await world.node();
    expect((await push('[]', { as: busy, at: other })).status).toBe(429);
    expect((await push('[]')).status).toBe(200);
  });

  it('holds for bodies at the same time, and ends with them', async () => {
    const many = await world.sourceToken('many');
    const slow = Array.from({ length: PUSHES_AT_ONCE }, () => {
      const request = httpRequest(`${world.url}/ingest/dockets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${many}`, 'content-type': 'application/json' },
      });
      request.write('[');
      const answered = new Promise<number>((resolve, reject) => {
        request.on('error', reject);
        request.on('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
      });
      return { request, answered };
    });
    const { readStore } = world.storage;
    const counted = () =>
      readStore.increment('push-requests many', 0, PUSHES_PER_MINUTE, systemClock.now(), 60 * MICROS_PER_SECOND);
    while ((await counted()).count < PUSHES_AT_ONCE) await new Promise(setImmediate);
    const refused = await push('[]', { as: many });
    expect([refused.status, refused.json.error.details.window]).toEqual([429, 'push_uploads']);
    for (const { request } of slow) request.end(']');
    expect(await Promise.all(slow.map(({ answered }) => answered))).toEqual(slow.map(() => 200));
    expect((await push('[]', { as: many })).status).toBe(200);
  });

  it('counts bytes as they are unpacked, whatever becomes of the body', async () => {
    const heavy = await world.sourceToken('heavy');
    const body = gzipSync(Buffer.alloc(1024 * 1024, ' '));
    await push(body, { as: heavy, headers: { 'content-encoding': 'gzip' } });
    const { readStore } = world.storage;
    const count = (amount: number) =>
      readStore.increment(
        'push-bytes heavy',
        amount,
        Number.MAX_SAFE_INTEGER,
        systemClock.now(),
        60 * MICROS_PER_SECOND,
      );
    expect((await count(0)).count).toBe(1024 * 1024);
    await count(PUSHED_BYTES_PER_MINUTE);
    const { status, json } = await push('[]', { as: heavy });
    expect([status, json.error.details.window]).toEqual([429, 'push_bytes']);
  });

  it('holds for wrong tokens of one address, and never for a valid one', async () => {
    const answers = [];
    for (let count = 0; count < 21; count++) answers.push((await push('[]', { as: 'guess' })).status);
    expect(answers.at(-1)).toBe(429);
    expect((await push('[]')).status).toBe(200);
  });
});
