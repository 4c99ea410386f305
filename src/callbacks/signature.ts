/**
 * The signatures of a callback (docs/design/interface.md#5 and #6), created for each attempt. There are two families:
 * the specification's own signs the body; that of Standard Webhooks signs id, time and body. The HMAC key of both is
 * the secret's hex text as UTF-8 bytes, which is the form that a receiver has.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** A key as a signer or a verifier has it. `secret` is 64 hexadecimal characters. */
export interface CallbackKey {
  readonly keyId: string;
  readonly secret: string;
}

export interface Signing {
  /** The bytes to send, and no others. */
  readonly body: Buffer;
  /** Becomes `webhook-id`. */
  readonly deliveryId: string;
  readonly idempotencyKey: string;
  /** Unix seconds of the attempt. */
  readonly atSeconds: number;
  /** The newest key first, then the previous one while it is still valid. */
  readonly keys: readonly CallbackKey[];
}

/** Receivers reject timestamps further than this from their own clock (docs/design/interface.md#5). */
export const TOLERANCE_SECONDS = 300;

/** The names of the headers, in lower case as a receiver's framework returns them. */
export const SIGNATURE_HEADERS = {
  signature: 'x-service-signature',
  keyId: 'x-service-signature-key-id',
  timestamp: 'x-service-timestamp',
  idempotencyKey: 'idempotency-key',
  standardId: 'webhook-id',
  standardTimestamp: 'webhook-timestamp',
  standardSignature: 'webhook-signature',
} as const;

const PREFIX = 'sha256=';

/**
 * The headers of one attempt: the specification's four, signed with the newest key, and the three of Standard Webhooks.
 * The latter's signature header has one signature for each key, so that a receiver may switch at any moment of the
 * rotation.
 *
 * @throws RangeError without a key
 */
export function signatureHeaders({
  body,
  deliveryId,
  idempotencyKey,
  atSeconds,
  keys,
}: Signing): Record<string, string> {
  const [newest] = keys;
  if (!newest) throw new RangeError('a callback cannot be signed without a key');
  const time = String(atSeconds);
  return {
    'X-Service-Signature': PREFIX + bodyDigest(newest.secret, body).toString('hex'),
    'X-Service-Signature-Key-Id': newest.keyId,
    'X-Service-Timestamp': time,
    'Idempotency-Key': idempotencyKey,
    'webhook-id': deliveryId,
    'webhook-timestamp': time,
    'webhook-signature': keys
      .map(({ secret }) => `v1,${standardDigest(secret, deliveryId, time, body).toString('base64')}`)
      .join(' '),
  };
}

/** HMAC-SHA256 of the raw body; in hex, the content of `X-Service-Signature`. */
export const bodyDigest = (secret: string, body: Buffer): Buffer => createHmac('sha256', secret).update(body).digest();

/** HMAC-SHA256 of `id.time.body`; in base64, the content of `webhook-signature`. */
export const standardDigest = (secret: string, id: string, time: string, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${id}.${time}.`).update(body).digest();

/** The key in the form that Standard Webhooks libraries expect. */
export const standardSecret = (secret: string): string => `whsec_${Buffer.from(secret, 'utf8').toString('base64')}`;

/** The digest in an `X-Service-Signature`, or null if the header is not of the form `sha256=` and 64 hex digits. */
export function signedDigest(header: string): Buffer | null {
  return /^sha256=[0-9a-f]{64}$/i.test(header) ? Buffer.from(header.slice(PREFIX.length), 'hex') : null;
}

/** The digests of version `v1` in a `webhook-signature`; other versions are ignored. */
export function standardDigests(header: string): readonly Buffer[] {
  return header
    .split(' ')
    .filter((entry) => /^v1,[A-Za-z0-9+/]{43}=$/.test(entry))
    .map((entry) => Buffer.from(entry.slice(3), 'base64'));
}

/** Compares in constant time, so that timing does not reveal where two digests differ. */
export const sameDigest = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** A received delivery; header names are in lower case. */
export interface SignedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type SignatureFamily = 'service' | 'standard-webhooks';

/**
 * The receiver's check: the key whose signature of one family matches, or null. It does not check the time, see {@link
 * isFresh}. For tests and `docket callbacks verify`; `examples/receiver` shows it without this project.
 */
export function verifySignature(
  { headers, body }: SignedDelivery,
  family: SignatureFamily,
  keys: readonly CallbackKey[],
): CallbackKey | null {
  if (family === 'service') {
    const signed = signedDigest(headers[SIGNATURE_HEADERS.signature] ?? '');
    return signed && (keys.find(({ secret }) => sameDigest(signed, bodyDigest(secret, body))) ?? null);
  }
  const id = headers[SIGNATURE_HEADERS.standardId] ?? '';
  const time = headers[SIGNATURE_HEADERS.standardTimestamp] ?? '';
  const signed = standardDigests(headers[SIGNATURE_HEADERS.standardSignature] ?? '');
  return (
    keys.find(({ secret }) => {
      const expected = standardDigest(secret, id, time, body);
      return signed.some((digest) => sameDigest(digest, expected));
    }) ?? null
  );
}

/** Whether a timestamp header (Unix seconds) is within {@link TOLERANCE_SECONDS} of the receiver's clock. */
export const isFresh = (timestamp: string, nowSeconds: number): boolean =>
  /^\d{1,15}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= TOLERANCE_SECONDS;
