import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { signatureHeaders, standardSecret } from '../../src/callbacks/signature.ts';
import { main } from '../../src/cli/main.ts';

const folder = mkdtempSync(join(tmpdir(), 'verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CURRENT = { keyId: 'current', secret: '5a'.repeat(32) };
const PREVIOUS = { keyId: 'previous', secret: '6b'.repeat(32) };
const AT = 1_767_607_200;
const ID = 'f3b9c1d2-6a4e-4f70-9b18-2c5d7e8f9a01';
const webhook = {
  version: '2.0.0',
  event_type: 'case_query_complete',
  date_created: '2026-01-05T10:00:00.000000Z',
  deprecation_date: null,
  delivery_id: ID,
  idempotency_key: ID,
};
const BODY = JSON.stringify({ payload: { case_id: '3:24-cv-00042', name: 'Müller', n: 1 }, webhook });

const signed = (keys = [CURRENT], atSeconds = AT, body: string | Buffer = BODY) =>
  signatureHeaders({ body: Buffer.from(body), deliveryId: ID, idempotencyKey: ID, atSeconds, keys });
const serviceOnly = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('webhook-')));

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function run(argv: readonly string[], body: string | Buffer = BODY, environment: NodeJS.ProcessEnv = {}) {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = Readable.from([Buffer.from(body)], { objectMode: false });
  const code = await main(['callbacks', 'verify', ...argv], { environment, stdin, stdout, stderr, interactive: false });
  return { code, out: stdout.text, error: stderr.text };
}

interface Asked {
  readonly body?: string | Buffer;
  readonly keys?: readonly string[];
  readonly at?: string | number;
  readonly more?: readonly string[];
}

/** The report on a delivery, as JSON. */
async function verify(headers: Record<string, string>, { body = BODY, keys, at = AT, more = [] }: Asked = {}) {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const held = (keys ?? [`current:${CURRENT.secret}`]).flatMap((key) => ['--key', key]);
  const { code, out, error } = await run([...lines, ...held, '--at', String(at), '--json', ...more], body);
  expect(out + error).not.toMatch(/(5a){8}|(6b){8}/);
  const report = JSON.parse(out);
  return { code, report, found: report.findings.map((finding: { code: string }) => finding.code) };
}

describe('docket callbacks verify says that a delivery is valid', () => {
  it('in its original form, and by which key', async () => {
    const { code, report } = await verify(signed());
    expect(code).toBe(0);
    expect(report).toEqual({
      valid: true,
      families: [
        { family: 'service', present: true, matches: true, keyId: 'current' },
        { family: 'standard-webhooks', present: true, matches: true, keyId: 'current' },
      ],
      findings: [],
    });
  });

  it('with only the four headers of the specification, or only those of Standard Webhooks', async () => {
    expect(await verify(serviceOnly(signed()))).toMatchObject({ code: 0, found: [] });
    const standard = Object.fromEntries(Object.entries(signed()).filter(([name]) => name.startsWith('webhook-')));
    expect(await verify(standard)).toMatchObject({ code: 0, found: [] });
  });

  it('during a rotation, with either key', async () => {
    const until = '@2026-01-05T10:30:00Z';
    const both = [`current:${CURRENT.secret}`, `previous:${PREVIOUS.secret}${until}`];
    expect(await verify(signed([CURRENT, PREVIOUS]), { keys: both })).toMatchObject({ code: 0 });
    expect(await verify(signed([PREVIOUS]), { keys: both })).toMatchObject({ code: 0 });
  });

  it('with keys in every format', async () => {
    for (const key of [
      CURRENT.secret,
      CURRENT.secret.toUpperCase(),
      standardSecret(CURRENT.secret),
      `current:${CURRENT.secret}`,
    ]) {
      expect(await verify(signed(), { keys: [key] })).toMatchObject({ code: 0 });
    }
  });

  it('from files, with keys from the environment', async () => {
    const body = join(folder, 'body.json');
    writeFileSync(body, BODY);
    const lines = Object.entries(signed()).map(([name, value]) => `${name}: ${value}`);
    const written = {
      'headers.txt': lines.join('\n'),
      'dump.txt': `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`,
      'headers.json': JSON.stringify(signed()),
    };
    for (const [name, text] of Object.entries(written)) {
      const file = join(folder, name);
      writeFileSync(file, text);
      const environment = { SIGNING_KEYS: `current:${CURRENT.secret},previous:${PREVIOUS.secret}` };
      const { code, out } = await run(
        ['--headers', file, '--body', body, '--at', '2026-01-05T10:00:00Z'],
        '',
        environment,
      );
      expect([name, code, out.split('\n')[0]]).toEqual([name, 0, 'valid']);
      expect(out).toContain('X-Service-Signature  matches, by key current');
    }
  });
});

describe('docket callbacks verify explains why a delivery is not valid', () => {
  const pretty = JSON.stringify(JSON.parse(BODY), null, 2);
  const sorted = JSON.stringify({
    webhook: Object.fromEntries(Object.entries(webhook).sort()),
    payload: JSON.parse(BODY).payload,
  });

  it.each([
    ['its JSON was written again', pretty, 'body_reserialised'],
    ['its JSON was sorted', sorted, 'body_reserialised'],
    [
      'its JSON was sorted beyond recognition',
      BODY.replace(/"case_id":"[^"]+","name"/, '"name"').replace('"n":1', '"n": 1'),
      'body_reserialised',
    ],
    ['a newline was added', `${BODY}\n`, 'body_changed'],
    ['a CRLF was added', `${BODY}\r\n`, 'body_changed'],
    ['a byte order mark was added', `\ufeff${BODY}`, 'body_changed'],
    ['it was read as Latin-1', Buffer.from(BODY).toString('latin1'), 'body_changed'],
    ['it was put into a string', JSON.stringify(BODY), 'body_changed'],
    ['it was encoded', Buffer.from(BODY).toString('base64'), 'body_changed'],
    ['a value was changed', BODY.replace('00042', '00043'), 'wrong_secret'],
    ['it is empty', '', 'wrong_secret'],
  ])('%s', async (_, body, expected) => {
    for (const headers of [signed(), serviceOnly(signed())]) {
      const { code, found } = await verify(headers, { body });
      expect([code, found]).toEqual([1, [expected]]);
    }
  });

  it('it is stale, or from a clock that is ahead', async () => {
    expect(await verify(signed(), { at: AT + 300 })).toMatchObject({ code: 0 });
    const late = await verify(signed(), { at: AT + 301 });
    expect(late).toMatchObject({ code: 1, found: ['stale'] });
    expect(late.report.findings[0].message).toContain('301 seconds old');
    expect((await verify(signed(), { at: AT - 400 })).report.findings[0].message).toContain('400 seconds ahead');
  });

  it('another key signed it: the id shows which', async () => {
    const { code, found, report } = await verify(signed([{ ...CURRENT, keyId: 'newer', secret: '7c'.repeat(32) }]));
    expect([code, found[0]]).toEqual([1, 'other_key']);
    expect(report.findings[0].message).toContain('newer');
  });

  it('an expired key signed it', async () => {
    const keys = [`current:${CURRENT.secret}`, `previous:${PREVIOUS.secret}@2026-01-05T09:59:00Z`];
    expect(await verify(signed([PREVIOUS]), { keys })).toMatchObject({ code: 1, found: ['expired_key'] });
  });

  it('the secret does not belong to the key', async () => {
    expect(await verify(signed(), { keys: [`current:${PREVIOUS.secret}`] })).toMatchObject({
      code: 1,
      found: ['wrong_secret'],
    });
  });

  it('the key ids are mixed up', async () => {
    expect(await verify(signed(), { keys: [`previous:${CURRENT.secret}`] })).toMatchObject({
      code: 1,
      found: ['wrong_key_id'],
    });
  });

  it('it was signed with the decoded secret', async () => {
    const digest = createHmac('sha256', Buffer.from(CURRENT.secret, 'hex')).update(BODY).digest('hex');
    const headers = { ...serviceOnly(signed()), 'X-Service-Signature': `sha256=${digest}` };
    expect(await verify(headers)).toMatchObject({ code: 1, found: ['secret_decoded'] });
  });

  it('the time or id that webhook-signature covers was changed', async () => {
    for (const change of [
      { 'webhook-id': 'other' },
      { 'webhook-timestamp': String(AT + 1), 'X-Service-Timestamp': String(AT + 1) },
    ]) {
      expect(await verify({ ...signed(), ...change })).toMatchObject({
        code: 1,
        found: ['standard_id_or_time_changed'],
      });
    }
  });

  it('the two times differ, or the idempotency key differs from that of the body', async () => {
    expect((await verify({ ...signed(), 'X-Service-Timestamp': String(AT + 1) })).found).toEqual(['times_differ']);
    expect((await verify({ ...signed(), 'Idempotency-Key': 'other' })).found).toEqual(['idempotency_key_differs']);
  });

  it('headers are missing or malformed', async () => {
    expect((await verify({ 'Content-Type': 'application/json' })).found).toEqual(['no_signature']);
    const { 'X-Service-Signature-Key-Id': _, ...noKeyId } = serviceOnly(signed());
    expect((await verify(noKeyId)).found).toEqual(['header_missing']);
    const bare = serviceOnly(signed())['X-Service-Signature']!.slice(7);
    expect((await verify({ ...serviceOnly(signed()), 'X-Service-Signature': bare })).found).toEqual([
      'signature_malformed',
    ]);
  });

  it('in words, with a hint', async () => {
    const lines = Object.entries(signed()).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const { code, out, error } = await run([...lines, '--key', CURRENT.secret, '--at', String(AT)], pretty);
    expect(code).toBe(1);
    expect(out).toContain('not valid\n');
    expect(out).toContain('body_reserialised: The body differs from the signed one');
    expect(out).toContain('raw bytes');
    expect(error).toContain('not valid');
  });
});

describe('docket callbacks verify --computed', () => {
  const of = (key: string | Buffer, body: string) => createHmac('sha256', key).update(body).digest('hex');
  it.each([
    ['the right one', of(CURRENT.secret, BODY), /^the secret's text over the received body$/],
    [
      'with the decoded secret',
      of(Buffer.from(CURRENT.secret, 'hex'), BODY),
      /hex-decoded secret over the received body/,
    ],
    ['of JSON written again', of(CURRENT.secret, JSON.stringify(JSON.parse(BODY), null, 2)), /serialized again/],
    [
      'of JSON as Python writes it',
      `sha256=${of(CURRENT.secret, BODY.replace('ü', '\\u00fc').replaceAll(':"', ': "').replaceAll(',"', ', "').replaceAll('":{', '": {').replaceAll('":1', '": 1').replaceAll('":null', '": null'))}`,
      /serialized again/,
    ],
    ['of Standard Webhooks', signed()['webhook-signature']!, /^Standard Webhooks, over the received body$/],
  ])('explains how a digest was computed: %s', async (_, digest, story) => {
    expect((await verify(signed(), { more: ['--computed', digest] })).report.computed).toMatch(story);
  });

  it('says if it cannot explain it', async () => {
    expect((await verify(signed(), { more: ['--computed', '00'.repeat(32)] })).report.computed).toBeNull();
  });
});

describe('docket callbacks verify, with wrong arguments', () => {
  it.each([
    ['no key', ['--header', 'a: b'], 'No key'],
    ['a key that is none', ['--header', 'a: b', '--key', 's3cr3t'], 'Invalid key'],
    ['a short key', ['--header', 'a: b', '--key', 'id:abcdef'], 'Invalid key'],
    [
      'a whsec_ of the decoded bytes',
      ['--header', 'a: b', '--key', `whsec_${Buffer.alloc(32, 1).toString('base64')}`],
      'whsec_',
    ],
    ['no header', ['--key', CURRENT.secret], 'No header'],
    ['a header without a colon', ['--header', 'nonsense', '--key', CURRENT.secret], 'Not a header'],
    ['a time that is none', ['--header', 'a: b', '--key', CURRENT.secret, '--at', 'yesterday'], 'not a time'],
    ['a file that is not there', ['--headers', join(folder, 'missing'), '--key', CURRENT.secret], 'cannot be read'],
  ])('with %s: exit 2, and no secret repeated', async (_, argv, message) => {
    const { code, error, out } = await run([...argv, '--json']);
    expect(code).toBe(2);
    expect(error).toContain(message);
    expect(JSON.parse(out).error.message).toContain(message);
    expect(out + error).not.toMatch(/s3cr3t|(5a){8}/);
  });

  it('has help with examples', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    expect(out).toContain('Examples:');
    expect(out).toContain('Exit codes:');
  });
});
