import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import {
  type CallbackKey,
  isFresh,
  type SignatureFamily,
  type Signing,
  signatureHeaders,
  standardSecret,
  verifySignature,
} from '../../src/callbacks/signature.ts';

const FAMILIES: readonly SignatureFamily[] = ['service', 'standard-webhooks'];
const key = (keyId: string, digit: string): CallbackKey => ({ keyId, secret: digit.repeat(64) });
const [current, previous, other] = [key('k2', '2'), key('k1', '1'), key('k0', '0')];
const signing = (more: Partial<Signing> = {}): Signing => ({
  body: Buffer.from('{"payload":{}}'),
  deliveryId: 'd',
  idempotencyKey: 'i',
  atSeconds: 1_767_607_200,
  keys: [current],
  ...more,
});
const received = (input: Signing) => ({
  headers: Object.fromEntries(
    Object.entries(signatureHeaders(input)).map(([name, value]) => [name.toLowerCase(), value]),
  ),
  body: input.body,
});

describe('the headers of an attempt', () => {
  test('are the published ones', () => {
    // Computed with another program: openssl dgst -sha256 -hmac.
    expect(signatureHeaders(signing())).toEqual({
      'X-Service-Signature': 'sha256=759cb7c4d6e16311983f01a4126458d1d9546be3b4db375d4e77dcf0339b4cd3',
      'X-Service-Signature-Key-Id': 'k2',
      'X-Service-Timestamp': '1767607200',
      'Idempotency-Key': 'i',
      'webhook-id': 'd',
      'webhook-timestamp': '1767607200',
      'webhook-signature': 'v1,15sGBAWcbzJWI42BtSG5yb/abefMnx7igKn18bvt2y0=',
    });
  });

  test('use the newest key in the one family, and both keys in the other', () => {
    const delivery = received(signing({ keys: [current, previous] }));
    expect(delivery.headers['x-service-signature-key-id']).toBe('k2');
    expect(verifySignature(delivery, 'service', [current])).toEqual(current);
    expect(verifySignature(delivery, 'service', [previous])).toBeNull();
    expect(verifySignature(delivery, 'standard-webhooks', [current])).toEqual(current);
    expect(verifySignature(delivery, 'standard-webhooks', [previous])).toEqual(previous);
    expect(verifySignature(delivery, 'standard-webhooks', [other])).toBeNull();
  });

  test('cannot be made without a key', () => {
    expect(() => signatureHeaders(signing({ keys: [] }))).toThrow(RangeError);
  });

  test('contain no secret', () => {
    expect(JSON.stringify(signatureHeaders(signing({ keys: [current, previous] })))).not.toMatch(/1{64}|2{64}/);
  });
});

describe('for every body and key', () => {
  const bodies = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));

  test('a signed body verifies, and one changed byte does not', () => {
    fc.assert(
      fc.property(bodies, secrets, fc.nat(), (body, secret, at) => {
        const keys = [{ keyId: 'k', secret }];
        const delivery = received(signing({ body, keys }));
        const changed = Buffer.concat([body, Buffer.from('\n')]);
        if (body.length > 0) changed[at % body.length]! ^= 1;
        for (const family of FAMILIES) {
          expect(verifySignature(delivery, family, keys)).toEqual(keys[0]);
          expect(verifySignature({ ...delivery, body: changed }, family, keys)).toBeNull();
        }
      }),
    );
  });

  test('a Standard Webhooks library verifies it', () => {
    fc.assert(
      fc.property(fc.json(), secrets, secrets, (json, secret, older) => {
        const atSeconds = Math.floor(Date.now() / 1000);
        const keys = [
          { keyId: 'b', secret },
          { keyId: 'a', secret: older },
        ];
        const { headers } = received(signing({ body: Buffer.from(json), keys, atSeconds }));
        for (const held of keys) new Webhook(standardSecret(held.secret)).verify(json, headers, { jsonParse: false });
      }),
    );
  });
});

test.each([
  ['1767607200', 1_767_607_500, true],
  ['1767607200', 1_767_607_501, false],
  ['1767607200', 1_767_606_900, true],
  ['1767607200', 1_767_606_899, false],
  ['', 0, false],
  ['1e9', 1_000_000_000, false],
  ['-5', 0, false],
  [' 5', 5, false],
])('the time %j at %i is fresh: %j', (time, now, fresh) => expect(isFresh(time, now)).toBe(fresh));

test.each(['', 'sha256=', 'sha256=zz', `sha1=${'0'.repeat(64)}`, '0'.repeat(64), `sha256=${'0'.repeat(63)}`])(
  'a signature of the form %j matches nothing',
  (signature) => {
    const { body } = signing();
    expect(verifySignature({ headers: { 'x-service-signature': signature }, body }, 'service', [current])).toBeNull();
  },
);
