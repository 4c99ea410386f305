import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { courts } from '../../../src/courts/registry.ts';
import type { Health, PartStatus } from '../../../src/http/admin/health.ts';
import { chooseCoding } from '../../../src/http/content-coding.ts';
import { makeServer } from '../../../src/http/server.ts';
import { statusEndpoint } from '../../../src/http/v2/status.ts';
import type { CourtStandings } from '../../../src/queries/court-standings.ts';
import { MICROS_PER_SECOND, toInstant } from '../../../src/runtime/instant.ts';
import { listen, PUBLIC_URL, silent } from '../serving.ts';

const META_KEYS = [
  'request_id',
  'queried_at',
  'query_cost_usd',
  'sandbox',
  'coverage_status',
  'cache_age_seconds',
  'context_delivered',
  'language_delivered',
  'truncated',
  'tag',
];

interface StatusBody {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly api_version: string;
  readonly changelog_url: string;
  readonly operational_status: string;
  readonly components: unknown;
  readonly courts: readonly unknown[];
  readonly coverage_summary: Readonly<Record<string, unknown>>;
}

describe('GET /v2/status (docs/design/interface.md#4.4)', () => {
  let app: FastifyInstance;
  let base: string;
  let now: number;
  let chain: PartStatus;
  let since: string;
  let built: number;
  let known: CourtStandings | null;

  beforeEach(async () => {
    now = 1_800_000_000 * MICROS_PER_SECOND;
    chain = 'nominal';
    since = '2026-01-01T00:00:00.000000Z';
    built = 0;
    const service = { publicUrl: PUBLIC_URL, clock: { now: () => now } };
    const health = (): Health => {
      built++;
      return { chain: { status: chain, since, reason: 'the RPC endpoint at 10.0.0.7 is silent' } };
    };
    known = null;
    const standings = { latest: () => known, first: async () => known };
    const status = statusEndpoint({ service, courts, sourceOf: () => 'imported', health, standings });
    app = makeServer(service, silent, { answerEarly: status.answerEarly });
    status.register(app);
    base = `http://127.0.0.1:${await listen(app)}`;
  });
  afterEach(() => app.close());

  const ask = (headers: Record<string, string> = {}, path = '/v2/status', method = 'GET') =>
    fetch(base + path, { method, headers });
  const body = async (path?: string) => (await (await ask({}, path)).json()) as StatusBody;
  const settled = async () => {
    await ask();
    now += MICROS_PER_SECOND;
    await ask();
  };

  it('has meta, version, health and every court', async () => {
    const status = await body();
    expect(Object.keys(status)).toEqual([
      'api_version',
      'changelog_url',
      'operational_status',
      'components',
      'courts',
      'coverage_summary',
      'meta',
    ]);
    expect(Object.keys(status.meta)).toEqual(META_KEYS);
    expect(status.meta).toMatchObject({ query_cost_usd: 0, sandbox: false, truncated: false, tag: null });
    expect(status.api_version).toBe('2.0.1');
    expect(status.changelog_url).toBe(`${PUBLIC_URL}/docs#changelog`);
    expect(status.operational_status).toBe('nominal');
    expect(status.courts).toHaveLength(courts.length);
    expect(status.coverage_summary.planned).toBe(39);
  });

  it('is the live list for every query string, never a sandbox', async () => {
    const status = await body('/v2/status?test=1&whatever=2');
    expect(status.meta.sandbox).toBe(false);
    expect(status.courts).toHaveLength(courts.length);
  });

  it('shows the state of its parts but never the reasons', async () => {
    chain = 'down';
    const answer = await (await ask()).text();
    expect(JSON.parse(answer).components).toEqual({ chain: { status: 'down', since } });
    expect(JSON.parse(answer).operational_status).toBe('incident');
    expect(answer).not.toContain('10.0.0.7');
  });

  it('shows which courts are degraded and who pushes them, for as long as that is so', async () => {
    const cand = async () =>
      (await body()).courts.find((court) => (court as { court_code: string }).court_code === 'cand');
    const record = { casesKnown: 2, lastSuccessAt: null };
    known = new Map([['cand', { ...record, degraded: true, pushedBy: 'county-scraper' }]]);
    expect(await cand()).toMatchObject({ status: 'degraded', source: 'county-scraper', cases_known: 2 });
    known = new Map([['cand', record]]);
    await settled();
    await expect
      .poll(async () => (await cand()) as object)
      .toMatchObject({ status: 'live', source: 'imported', cases_known: 2 });
  });

  it('is rebuilt when something changed, at most once a second', async () => {
    await settled();
    const before = await body();
    chain = 'degraded';
    expect((await body()).operational_status).toBe('nominal');
    now += MICROS_PER_SECOND;
    // While the new body is compressed, the old one is served.
    await expect.poll(async () => (await body()).operational_status).toBe('degraded');
    const after = await body();
    expect(after.meta.request_id).not.toBe(before.meta.request_id);
    expect(after.meta.queried_at).toBe(toInstant(now));
    const looks = built;
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(built).toBe(looks);
  });

  it('keeps its bytes while nothing changes', async () => {
    await settled();
    const tag = (await ask()).headers.get('etag');
    now += 3600 * MICROS_PER_SECOND;
    expect((await ask()).headers.get('etag')).toBe(tag);
  });

  it.each([
    ['identity', (bytes: Buffer) => bytes],
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])('is served as %s with its own ETag, and the meta of each answer', async (coding, decompress) => {
    const { get } = await import('node:http');
    const { headers, bytes } = await new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve) =>
      get(`${base}/v2/status`, { headers: { 'accept-encoding': coding } }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(parts) }));
      }),
    );
    expect(headers['content-encoding']).toBe(coding === 'identity' ? undefined : coding);
    expect(headers.etag).toMatch(/^W\/"[^"]+"$/);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(headers.vary).toBe('Accept-Encoding');
    const read = JSON.parse(decompress(bytes).toString());
    expect(read.courts).toHaveLength(courts.length);
    expect(read.meta).toMatchObject({ request_id: headers['x-request-id'], queried_at: toInstant(now) });
  });

  it('has its own id and time in each answer under one tag', async () => {
    await settled();
    const answers = [];
    for (let time = 0; time < 3; time++) {
      now += 1000;
      for (const path of ['/v2/status', '/v2/status?x']) answers.push(await ask({}, path));
    }
    expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(1);
    for (const answer of answers) {
      const { meta } = (await answer.json()) as StatusBody;
      expect(meta.request_id).toBe(answer.headers.get('x-request-id'));
    }
  });

  it('shows for each court how its dockets are obtained, how many cases are known, and when one was last read', async () => {
    const at = '2026-05-01T00:00:00.000000Z';
    const of = async (code: string) =>
      (await body()).courts.find((each) => (each as { court_code: string }).court_code === code);
    const untold = { status: 'live', source: 'imported', cases_known: null, last_success_at: null };
    expect(await of('cand')).toMatchObject(untold);
    known = new Map([['cand', { casesKnown: 7, lastSuccessAt: at }]]);
    now += MICROS_PER_SECOND;
    await expect.poll(async () => (await of('cand')) as object).toMatchObject({ cases_known: 7, last_success_at: at });
    expect(await of('nysd')).toMatchObject({ cases_known: 0, last_success_at: null });
  });

  it('is a 304 for a matching tag, and a 200 for another', async () => {
    const tag = (await ask()).headers.get('etag')!;
    for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const answer = await ask({ 'if-none-match': known });
      expect([answer.status, await answer.text()]).toEqual([304, '']);
      expect(answer.headers.get('etag')).toBe(tag);
      expect(answer.headers.get('x-request-id')).toBeTruthy();
    }
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('answers HEAD without a body', async () => {
    const [get, head] = [await ask(), await ask({}, '/v2/status', 'HEAD')];
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
    expect((await ask({}, '/v2/status', 'POST')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('carries the id of each request, whether it is answered early or not', async () => {
    const answers = [await ask(), await ask(), await ask({}, '/v2/status?x=1')];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('strict-transport-security')).toBeTruthy();
    }
  });
});

describe('a coding is chosen', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    ['identity', 'identity'],
    ['identity;q=0', 'identity'],
    ['br;q=0', 'identity'],
    ['br;q=nonsense', 'identity'],
    ['zstd', 'identity'],
  ])('%s: %s', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding);
  });
});
