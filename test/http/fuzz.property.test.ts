/**
 * Any request to any documented endpoint: no 5xx, no code outside the catalogue, no data without payment.
 * `test/support/watched-answers.ts` checks each answer against its schema.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILING_TYPES } from '../../src/dockets/filing-type.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import { OPERATIONS } from '../../src/http/openapi/operations.ts';
import { rawRequest } from './raw-request.ts';
import { SECRET, SECRET_CASE_ID, SECRET_DOCKET } from './refused.ts';
import { openWorld, type World } from './world.ts';

const CASE_ID = SECRET_CASE_ID;

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

/** Any text that a header or a target may carry once it is encoded. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', ' ', '\0', '1', 'true', 'null', '-1', '1e999', '[]', '{}', '[""]', '..', '%', '\u202e', '𝒳'),
  fc.integer({ min: 300, max: 3_000 }).map((length) => 'x'.repeat(length)),
);

const timestamp = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2025-01-01T00:00:00Z',
    '2025-01-01T00:00:00.123456789+05:30',
    '2025-01-01T00:00:00 05:30',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '2025-02-30T00:00:00Z',
    '2025-01-01',
    '1735689600',
  ),
);

const LIKELY = new Map<string, fc.Arbitrary<string>>(
  Object.entries({
    case_id: fc.constantFrom(CASE_ID, '4:25-cv-833', '25-cv-00833', '1:24-bk-10001', 'T-123-24', '24-1234'),
    court_code: fc.constantFrom('cand', 'CAND', 'ca9', 'nysb', 'fct', 'scotus', 'qc_cs', 'tx_supreme', 'jpml', 'cnad'),
    last_checked: timestamp,
    since: timestamp,
    context: fc.constantFrom('basic', 'FULL'),
    language: fc.constantFrom('en', 'fr', 'de'),
    filing_types: fc.oneof(
      fc.uniqueArray(fc.constantFrom(...FILING_TYPES)).map((types) => types.join(',')),
      fc.uniqueArray(fc.constantFrom(...FILING_TYPES)).map((types) => JSON.stringify(types)),
    ),
    document_types: fc.constantFrom('["order"]', 'order', '[["order"]]'),
    callback_url: fc.oneof(fc.webUrl(), fc.constantFrom('http://127.0.0.1/', 'file:///etc/passwd', 'x')),
    test: fc.constantFrom('1', '0', ''),
    status: fc.constantFrom('failed', 'pending', 'done'),
    limit: fc.oneof(fc.integer().map(String), fc.constantFrom('0', '1', '200', '201', '1.0', '0x10')),
    cursor: fc.base64String({ maxLength: 60 }),
  }),
);
const NAMES = [...LIKELY.keys()];

const parameter = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom('case_id[]', 'caseid', '__proto__', 'constructor', 'toString', 'test[]') },
  { weight: 1, arbitrary: anyText },
);
const pair = parameter.chain((name) =>
  fc.tuple(
    fc.constant(encodeAny(name)),
    fc.oneof(
      { weight: 6, arbitrary: (LIKELY.get(name) ?? anyText).map(encodeAny) },
      { weight: 2, arbitrary: anyText.map(encodeAny) },
      // Unencoded: broken percent-encoding and anything else that a target may contain.
      {
        weight: 1,
        arbitrary: fc.string({ unit: fc.constantFrom(...'%a0fF+;,/?:@$!*\'()[]{}|^`"<>\\~'), maxLength: 20 }),
      },
    ),
  ),
);

/** Percent-encoded as UTF-8; a lone surrogate, which is not valid UTF-8, as the bytes that broken clients send. */
function encodeAny(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%EF%BF%BD', '%ED%A0%80');
}

/** Complete queries are rare by chance, and only they get past the parameters. */
const sound = fc.record({
  case_id: fc.constant(CASE_ID),
  court_code: fc.constantFrom('cand', 'Cand', 'cand', 'qc_cs', 'nowhere'),
  last_checked: fc.constant('2025-01-01T00:00:00Z'),
});
const query = fc
  .tuple(fc.option(sound, { freq: 2 }), fc.array(pair, { maxLength: 4 }))
  .map(([base, pairs]) =>
    [...Object.entries(base ?? {}).map(([name, value]) => [name, encodeAny(value)]), ...pairs]
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
  );

const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64');
const payment = fc.oneof(
  headerText,
  fc.base64String(),
  fc.jsonValue().map(base64),
  fc
    .record({
      x402Version: fc.constantFrom(1, 2, 3, '2'),
      scheme: fc.constantFrom('exact', 'upto'),
      network: fc.constantFrom('solana-devnet', 'solana', 'base'),
      accepted: fc.record({ scheme: fc.constant('exact'), network: fc.constant('solana:x'), extra: fc.jsonValue() }),
      payload: fc.oneof(fc.jsonValue(), fc.record({ transaction: fc.base64String() })),
      extensions: fc.jsonValue(),
    })
    .map(base64),
);
const header = fc.oneof(
  fc.tuple(fc.constant('x-service-test'), fc.constantFrom('1', '0', '1, 1', 'yes')),
  fc.tuple(fc.constant('x-service-tag'), headerText),
  fc.tuple(fc.constantFrom('payment-signature', 'x-payment', 'x402-payment'), payment),
  fc.tuple(
    fc.constantFrom('accept', 'accept-encoding', 'if-none-match', 'origin', 'x-http-method-override'),
    headerText,
  ),
);

const batch = fc.record(
  {
    queries: fc.array(
      fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(fc.jsonValue(), anyText))),
      { maxLength: 4 },
    ),
    test: fc.jsonValue(),
  },
  { requiredKeys: ['queries'] },
);
const call = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
    method: fc.constantFrom('tools/list', 'tools/call', 'initialize', 'ping', 'notifications/initialized', 'x'),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record({
        name: fc.constantFrom(
          'service_case_query',
          'service_case_batch',
          'service_wallet_info',
          'service_pricing',
          'x',
        ),
        arguments: fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...NAMES, 'queries'), fc.jsonValue())),
      }),
    ),
  },
  { requiredKeys: ['jsonrpc', 'method'] },
);
const body = fc.record({
  type: fc.oneof(
    { weight: 6, arbitrary: fc.constant('application/json') },
    fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', ';;;'),
  ),
  bytes: fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    batch.map((value) => JSON.stringify(value)),
    call.map((value) => JSON.stringify(value)),
    anyText,
  ),
});

const isPaid = ({ price }: (typeof OPERATIONS)[number]) => price !== null;
const operation = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...OPERATIONS.filter(isPaid)) },
  { weight: 2, arbitrary: fc.constantFrom(...OPERATIONS.filter(({ path }) => path === '/v2/mcp')) },
  { weight: 1, arbitrary: fc.constantFrom(...OPERATIONS.filter((each) => !isPaid(each))) },
);

describe('any input', () => {
  it('gets an answer of the catalogue, or a free one', async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        operation,
        query,
        fc.array(header, { maxLength: 3 }),
        body,
        async (at, search, headers, sent) => {
          const bytes = Buffer.from(sent.bytes);
          const target = `${at.path.replace(/\{[^}]+\}/, 'x')}${search === '' ? '' : `?${search}`}`;
          const framing = { 'content-type': sent.type, 'content-length': String(bytes.length) };
          const answer = await rawRequest(world.port, target, {
            method: at.method.toUpperCase(),
            headers: { ...Object.fromEntries(headers), ...(at.method === 'post' ? framing : {}) },
            body: at.method === 'post' ? sent.bytes : '',
          });
          statuses.add(answer.status);
          expect(answer.status).toBeGreaterThanOrEqual(200);
          expect(answer.status).toBeLessThan(500);
          expect(answer.text).not.toContain(SECRET);
          if (answer.status < 400 || at.path === '/v2/mcp') return;
          const { code, details, message } = answer.json.error;
          expect(ERROR_CATALOGUE[code as ErrorCode]?.status).toBe(answer.status);
          expect(details.charged).toBe(false);
          expect(message).toBeTruthy();
        },
      ),
      { numRuns: 300 },
    );
    // The generator reaches the code behind the parameters, not only the parameters.
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 402, 422]));
  }, 60_000);
});
