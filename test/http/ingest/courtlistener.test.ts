/**
 * Given the address of CourtListener's webhooks, when anything is posted there, then it is recorded once and acknowledged,
 * whatever it is; and without the right secret the address is like any other that does not exist.
 */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_WEBHOOK_BYTES } from '../../../src/http/ingest/courtlistener.ts';
import type { RecordedEvent } from '../../../src/storage/event-log.ts';
import { entryRow, reordered } from '../../sources/webhooks/sender.ts';
import { rawRequest } from '../raw-request.ts';
import { openWorld, type World } from '../world.ts';

const SECRET = 'k3y-of_the.mill~7f0c9d51e6a84b2299';
const DOCKET = 71_000_001;
const messageOf = (id: number, more: object = {}) => ({
  payload: { results: [entryRow({ id, docket: DOCKET, number: 3, text: 'ORDER. Call 312-555-0199.', ...more })] },
  webhook: { event_type: 1, version: 2, date_created: '2026-02-11T19:30:02.440187+00:00', deprecation_date: null },
});

let world: World;
const lines: string[] = [];
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  world = await openWorld({ webhookSecret: SECRET, logger: pino({ level: 'trace' }, sink) });
});
afterAll(() => world.close());

interface Posting {
  readonly secret?: string;
  readonly key?: string | null;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly at?: string;
}

let keys = 0;
async function post(body: unknown, { secret = SECRET, key = `key ${keys++}`, type, headers, at }: Posting = {}) {
  const answer = await fetch(`${at ?? world.url}/ingest/courtlistener/${secret}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': type ?? 'application/json',
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? (body as never) : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as it comes
  return { status: answer.status, json: (await answer.json()) as any };
}

async function received(): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const { events } of world.storage.log.readAll(null, { by: 'streams', prefixes: ['source-webhook-'] })) {
    found.push(...events);
  }
  return found;
}
/** What one posting appended. */
async function appendedBy(body: unknown, posting: Posting = {}) {
  const before = (await received()).length;
  const answer = await post(body, posting);
  return { answer, appended: (await received()).slice(before) };
}

describe('a docket alert', () => {
  it('is recorded with its content, masked, before it is acknowledged', async () => {
    const { answer, appended } = await appendedBy(messageOf(1));
    expect([answer.status, answer.json.outcome]).toEqual([200, 'received']);
    expect(appended.map(({ type, data }) => [type, data.source, data.eventType])).toEqual([
      ['WebhookReceived', 'courtlistener', 1],
    ]);
    const content = String(await world.storage.payloads.get(String(appended[0]?.data.content)));
    expect(content).toContain('ORDER. Call [');
    expect(content).not.toContain('555-0199');
    // Only what is used is kept.
    expect(content).not.toContain('thumbnail');
  });

  it('that is repeated has one effect, with its keys in another order and on two nodes at once', async () => {
    const message = messageOf(2);
    const other = await world.node();
    const { appended } = await appendedBy(message, { key: 'the same' });
    expect(appended).toHaveLength(1);
    const again = await appendedBy(reordered(message), { key: 'the same' });
    expect([again.answer.status, again.answer.json.outcome, again.appended]).toEqual([200, 'repeated', []]);

    const before = (await received()).length;
    const racing = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        post(index % 3 === 0 ? reordered(messageOf(3)) : messageOf(3), {
          key: 'a race',
          at: index % 2 === 0 ? world.url : other,
        }),
      ),
    );
    expect(racing.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(racing.filter(({ json }) => json.outcome === 'received')).toHaveLength(1);
    expect(await received()).toHaveLength(before + 1);
    const stored: string[] = [];
    for await (const { name } of world.storage.payloads.list('pushed', '2999-01-01T00:00:00.000000Z'))
      stored.push(name);
    const named = (await received()).flatMap(({ data }) => (typeof data.content === 'string' ? [data.content] : []));
    expect(stored.sort()).toEqual(named.sort());
  });

  it('without a key is known by its content', async () => {
    const first = await appendedBy(messageOf(4), { key: null });
    const again = await appendedBy(reordered(messageOf(4)), { key: null });
    const other = await appendedBy(messageOf(5), { key: null });
    expect([first, again, other].map(({ appended }) => appended.length)).toEqual([1, 0, 1]);
  });
});

describe('anything else with the right secret', () => {
  it.each([
    ['a search alert', { payload: { results: [], alert: {} }, webhook: { event_type: 2, version: 2 } }, 'ignored'],
    ['a fetch', { payload: { id: 1 }, webhook: { event_type: 3, version: 2 } }, 'ignored'],
    ['old alerts without any', { payload: { old_alerts: [] }, webhook: { event_type: 4, version: 2 } }, 'ignored'],
    ['a granted prayer', { payload: { id: 1 }, webhook: { event_type: 5, version: 2 } }, 'ignored'],
    ['a test of version 1', { ...messageOf(6), webhook: { event_type: 1, version: 1 } }, 'ignored'],
    ['an unknown type', { payload: {}, webhook: { event_type: 77, version: 9, deprecation_date: 'None' } }, 'ignored'],
    ['no results', { payload: {}, webhook: { event_type: 1, version: 2 } }, 'unreadable'],
    ['no webhook', { payload: { results: [] } }, 'unreadable'],
    ['a list', [], 'unreadable'],
    ['no JSON', '{"payload":', 'unreadable'],
    ['nothing', '', 'unreadable'],
    ['bytes that are no text', Buffer.of(0x22, 0xff, 0x22), 'unreadable'],
    ['a deep value', '['.repeat(100_000) + ']'.repeat(100_000), 'unreadable'],
    ['a lone surrogate', '{"payload":{"\\ud800":1},"webhook":{"event_type":3}}', 'ignored'],
  ])('%s is acknowledged without effect', async (_what, body, outcome) => {
    const { answer, appended } = await appendedBy(body);
    expect([answer.status, answer.json.outcome]).toEqual([200, outcome]);
    expect(appended.map(({ type, data }) => [type, data.content, data.outcome])).toEqual([
      ['WebhookReceived', null, undefined],
      ['WebhookApplied', undefined, outcome],
    ]);
    const again = await post(body, { key: null });
    const twice = await post(body, { key: null });
    expect([again.status, twice.status, twice.json.outcome]).toEqual([200, 200, 'repeated']);
  });

  it('is refused only for its type, its encoding or its size', async () => {
    for (const [body, posting, status, code] of [
      [messageOf(7), { type: 'text/plain' }, 415, 'unsupported_media_type'],
      [messageOf(7), { headers: { 'content-encoding': 'gzip' } }, 415, 'unsupported_media_type'],
      [' '.repeat(MAX_WEBHOOK_BYTES + 1), {}, 413, 'payload_too_large'],
    ] as const) {
      const { answer, appended } = await appendedBy(body, posting);
      expect([answer.status, answer.json.error.code, appended]).toEqual([status, code, []]);
      expect(answer.json.error.details.hint).toEqual(expect.any(String));
    }
    const most = JSON.stringify(messageOf(8)).padEnd(MAX_WEBHOOK_BYTES, ' ');
    expect((await post(most)).json.outcome).toBe('received');
  });
});

describe('without the right secret', () => {
  const plain = (text: string) =>
    text
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/date: .*/i, 'date: TIME');

  it('the address is like one that does not exist, byte for byte, with any method', async () => {
    const without = await openWorld({});
    try {
      for (const method of ['POST', 'GET', 'HEAD', 'OPTIONS', 'PUT']) {
        for (const path of ['wrong', `${SECRET}x`, SECRET.slice(1), '', 'wrong/', '%2e%2e', 'a/b']) {
          const sending = { method, headers: { 'content-type': 'text/plain', 'content-length': '0' } };
          const [here, there] = await Promise.all(
            [world, without].map(({ port }) => rawRequest(port, `/ingest/courtlistener/${path}`, sending)),
          );
          const seen = [here, there].map((one) =>
            plain(JSON.stringify([one?.status, [...(one?.headers ?? [])], one?.text])),
          );
          expect(seen[0]).toBe(seen[1]);
          expect(here?.status === 404 || method === 'OPTIONS' || method === 'HEAD').toBe(true);
        }
      }
      // The right secret is not told from a wrong one by another method.
      for (const method of ['GET', 'PUT', 'OPTIONS']) {
        const [right, wrong] = await Promise.all(
          [SECRET, 'x'.repeat(SECRET.length)].map((secret) =>
            rawRequest(world.port, `/ingest/courtlistener/${secret}`, { method }),
          ),
        );
        expect(plain(String(right?.text))).toBe(plain(String(wrong?.text)));
        expect(right?.status).toBe(wrong?.status);
      }
      // Where nothing is configured, no secret opens anything.
      expect((await post(messageOf(9), { at: without.url })).status).toBe(404);
    } finally {
      await without.close();
    }
  });

  it('no body is read', async () => {
    const head = { 'content-length': String(4 * MAX_WEBHOOK_BYTES), 'content-type': 'application/json' };
    const { status } = await rawRequest(world.port, '/ingest/courtlistener/wrong', { method: 'POST', headers: head });
    expect(status).toBe(404);
  });
});

it('the secret is in no log line, event or answer, also of an address that was mistyped', async () => {
  for (const path of [SECRET, `courtlistener/${SECRET}`, `ingest/${SECRET}`, `ingest/courtlistener/${SECRET}/`]) {
    expect((await rawRequest(world.port, `/${path}`, { method: 'POST' })).text).not.toContain(SECRET);
  }
  const seen = lines.join('');
  expect(seen).toContain('/ingest/courtlistener/:secret');
  const known = JSON.stringify(await received());
  for (const text of [seen, known]) expect(text).not.toContain(SECRET);
});
