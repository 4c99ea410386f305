/** Reports whether a delivery's signatures match, and if not, why. Pure; for `docket callbacks verify`. */
import { createHmac } from 'node:crypto';
import { bodyVariants, looksRewritten } from './body-variants.ts';
import {
  bodyDigest,
  type CallbackKey,
  isFresh,
  SIGNATURE_HEADERS,
  type SignatureFamily,
  type SignedDelivery,
  sameDigest,
  signedDigest,
  standardDigests,
  TOLERANCE_SECONDS,
  verifySignature,
} from './signature.ts';

/** A key that the owner of a receiver has. */
export interface HeldKey {
  /** Null if only the secret was given. */
  readonly keyId: string | null;
  readonly secret: string;
  /** Unix seconds until which it may sign; null for a key that has not been replaced. */
  readonly validUntil: number | null;
}

export interface Finding {
  readonly code:
    | 'no_signature'
    | 'header_missing'
    | 'signature_malformed'
    | 'stale'
    | 'times_differ'
    | 'other_key'
    | 'expired_key'
    | 'wrong_key_id'
    | 'body_changed'
    | 'body_reserialised'
    | 'secret_decoded'
    | 'standard_id_or_time_changed'
    | 'wrong_secret'
    | 'idempotency_key_differs';
  readonly message: string;
  readonly hint: string;
}

export interface FamilyVerdict {
  readonly family: SignatureFamily;
  /** Whether the delivery has a signature of the family at all. */
  readonly present: boolean;
  readonly matches: boolean;
  /** The key that matches; null also if its id was not given. */
  readonly keyId: string | null;
}

export interface SignatureReport {
  /** All signatures present match, with a key that was valid, and the timestamp is within the tolerance. */
  readonly valid: boolean;
  readonly families: readonly FamilyVerdict[];
  readonly findings: readonly Finding[];
}

export const FAMILY_HEADERS: Readonly<Record<SignatureFamily, string>> = {
  service: 'X-Service-Signature',
  'standard-webhooks': 'webhook-signature',
};

export interface Explained extends SignedDelivery {
  readonly keys: readonly HeldKey[];
  /** Unix seconds at which the delivery arrived. */
  readonly atSeconds: number;
}

export function explainSignature(delivery: Explained): SignatureReport {
  const service = familyVerdict(delivery, 'service');
  const standard = familyVerdict(delivery, 'standard-webhooks');
  const findings = [
    ...(service.present || standard.present ? [] : [noSignature()]),
    ...(service.present ? serviceFindings(delivery, service.matches) : []),
    ...(standard.present ? standardFindings(delivery, standard.matches, service.matches) : []),
    ...timeFindings(delivery),
    ...expiredFindings(delivery, [service, standard]),
    ...idempotencyFindings(delivery),
  ];
  const unique = findings.filter(({ code }, index) => findings.findIndex((other) => other.code === code) === index);
  return {
    valid: unique.length === 0,
    families: [service, standard].map(({ key: _, ...verdict }) => verdict),
    findings: unique,
  };
}

interface Matched extends FamilyVerdict {
  readonly key: HeldKey | null;
}

function familyVerdict(delivery: Explained, family: SignatureFamily): Matched {
  const present = delivery.headers[FAMILY_HEADERS[family].toLowerCase()] !== undefined;
  const key = delivery.keys.find((held) => verifySignature(delivery, family, [asKey(held)]) !== null) ?? null;
  return { family, present, matches: key !== null, keyId: key?.keyId ?? null, key };
}

const asKey = ({ keyId, secret }: HeldKey): CallbackKey => ({ keyId: keyId ?? '', secret });

const noSignature = (): Finding => ({
  code: 'no_signature',
  message: 'The headers X-Service-Signature and webhook-signature are both missing.',
  hint: 'Pass the headers as received. Possible causes: a proxy drops headers that it does not know, or the service did not send the request.',
});

function serviceFindings(delivery: Explained, matches: boolean): readonly Finding[] {
  const { headers, keys } = delivery;
  const named = headers[SIGNATURE_HEADERS.keyId];
  const findings: Finding[] = [];
  if (named === undefined) findings.push(missing('X-Service-Signature-Key-Id'));
  if (headers[SIGNATURE_HEADERS.timestamp] === undefined) findings.push(missing('X-Service-Timestamp'));
  const signed = signedDigest(headers[SIGNATURE_HEADERS.signature] ?? '');
  if (!signed) {
    return [...findings, malformed('X-Service-Signature', 'sha256= followed by 64 hexadecimal digits')];
  }
  const heldIds = keys.flatMap(({ keyId }) => keyId ?? []);
  if (matches) {
    const key = keys.find(({ secret }) => sameDigest(bodyDigest(secret, delivery.body), signed));
    if (named !== undefined && key?.keyId && key.keyId !== named) findings.push(wrongKeyId(named, key.keyId));
    return findings;
  }
  const otherKey = named !== undefined && heldIds.length > 0 && !heldIds.includes(named);
  return [
    ...findings,
    mismatch(delivery, (secret, body) => sameDigest(signed, hmac(secret, body)), otherKey ? named : null),
  ];
}

function standardFindings(delivery: Explained, matches: boolean, serviceMatches: boolean): readonly Finding[] {
  const { headers } = delivery;
  const [id, time] = [headers[SIGNATURE_HEADERS.standardId], headers[SIGNATURE_HEADERS.standardTimestamp]];
  if (id === undefined) return [missing('webhook-id')];
  if (time === undefined) return [missing('webhook-timestamp')];
  if (matches) return [];
  const signed = standardDigests(headers[SIGNATURE_HEADERS.standardSignature] ?? '');
  if (signed.length === 0)
    return [
      malformed(
        'webhook-signature',
        'v1, followed by the base64 of 32 bytes; several signatures are separated by spaces',
      ),
    ];
  if (serviceMatches) {
    return [
      {
        code: 'standard_id_or_time_changed',
        message:
          'The body matches X-Service-Signature, but webhook-signature does not match webhook-id and webhook-timestamp.',
        hint: 'It covers `webhook-id.webhook-timestamp.body`: use all three as received, separated by dots.',
      },
    ];
  }
  const matchesWith = (secret: string | Buffer, body: Buffer) => {
    const expected = hmac(secret, Buffer.concat([Buffer.from(`${id}.${time}.`), body]));
    return signed.some((digest) => sameDigest(digest, expected));
  };
  return [mismatch(delivery, matchesWith, null)];
}

/** The most likely reason why no key matches, found by trying the usual ones. */
function mismatch(
  { body, keys }: Explained,
  matchesWith: (secret: string | Buffer, body: Buffer) => boolean,
  otherKey: string | null,
): Finding {
  for (const { change, body: variant } of bodyVariants(body)) {
    if (keys.some(({ secret }) => matchesWith(secret, variant))) return bodyChanged(change);
  }
  if (keys.some(({ secret }) => matchesWith(Buffer.from(secret, 'hex'), body))) return secretDecoded();
  if (otherKey !== null) {
    return {
      code: 'other_key',
      message: `It is signed with key ${otherKey}, whose secret was not given.`,
      hint: 'After a rotation, deliveries are signed with the new key immediately: use the secret that the last POST /v2/wallet/keys returned. If the id does not belong to your wallet, another wallet paid for the delivery.',
    };
  }
  if (looksRewritten(body)) return bodyChanged('its JSON was parsed and serialized again');
  return {
    code: 'wrong_secret',
    message: 'None of the given secrets matches, and none of the usual changes to a body explains it.',
    hint: 'Use the secret of the key that X-Service-Signature-Key-Id names, all 64 characters, and the raw bytes of the body before they are decoded. If both are right, the service did not send this.',
  };
}

const hmac = (secret: string | Buffer, body: Buffer): Buffer => createHmac('sha256', secret).update(body).digest();

function bodyChanged(change: string): Finding {
  const reserialised = change.includes('JSON was parsed');
  return {
    code: reserialised ? 'body_reserialised' : 'body_changed',
    message: `The body differs from the signed one: ${change}.`,
    hint: reserialised
      ? 'Keep the raw bytes of the request and verify those; parse them afterwards. Most frameworks have an option that keeps them.'
      : 'Verify the bytes of the request as received on the wire, without a text editor, a shell or a proxy in between.',
  };
}

const secretDecoded = (): Finding => ({
  code: 'secret_decoded',
  message: 'It was signed with the 32 bytes that result from hex-decoding the secret.',
  hint: "The key of the HMAC is the secret's text itself, its 64 characters as UTF-8. The service uses this key; the signer of this delivery did not.",
});

const missing = (name: string): Finding => ({
  code: 'header_missing',
  message: `The header ${name} is missing.`,
  hint: 'Every delivery has it. Pass the headers as received.',
});

const malformed = (name: string, form: string): Finding => ({
  code: 'signature_malformed',
  message: `${name} does not have the form that the service writes.`,
  hint: `Expected: ${form}.`,
});

const wrongKeyId = (named: string, actual: string): Finding => ({
  code: 'wrong_key_id',
  message: `The matching secret was given for key ${actual}, but the delivery names key ${named}.`,
  hint: 'Check the key ids where you store the secrets: they are mixed up.',
});

function timeFindings({ headers, atSeconds }: Explained): readonly Finding[] {
  const [service, standard] = [headers[SIGNATURE_HEADERS.timestamp], headers[SIGNATURE_HEADERS.standardTimestamp]];
  const findings: Finding[] = [];
  if (service !== undefined && standard !== undefined && service !== standard) {
    findings.push({
      code: 'times_differ',
      message: 'X-Service-Timestamp and webhook-timestamp differ.',
      hint: 'The service writes the same time into both; a signature covers only the second.',
    });
  }
  const late = [service, standard].find((time) => time !== undefined && !isFresh(time, atSeconds));
  if (late !== undefined) {
    const off = /^\d{1,15}$/.test(late) ? Math.round(atSeconds - Number(late)) : null;
    const message =
      off === null
        ? 'The timestamp is not a number of seconds.'
        : `The timestamp is ${Math.abs(off)} seconds ${off > 0 ? 'old' : 'ahead'}; at most ${TOLERANCE_SECONDS} are allowed.`;
    const hint = 'Check the clock of the receiver. For a stored delivery, pass its arrival time with --at.';
    findings.push({ code: 'stale', message, hint });
  }
  return findings;
}

/** A replaced key that signed after its 30 minutes. */
function expiredFindings({ headers, keys }: Explained, verdicts: readonly Matched[]): readonly Finding[] {
  const time = Number(headers[SIGNATURE_HEADERS.timestamp] ?? headers[SIGNATURE_HEADERS.standardTimestamp]);
  const expired = (key: HeldKey | null) => key !== null && key.validUntil !== null && time > key.validUntil;
  const matched = verdicts.flatMap(({ key, matches }) => (matches ? key : []));
  // If there is also a signature by a key that is still valid, the expired one does no harm.
  if (matched.length === 0 || !matched.every(expired) || keys.length === 0) return [];
  return [
    {
      code: 'expired_key',
      message: `It is signed with key ${matched[0]?.keyId ?? '(no id given)'}, which was no longer valid at that time.`,
      hint: 'A replaced key signs for 30 more minutes. A later signature is not from the service: reject the delivery, and rotate again if others may know the old secret.',
    },
  ];
}

function idempotencyFindings({ headers, body }: Explained): readonly Finding[] {
  const header = headers[SIGNATURE_HEADERS.idempotencyKey];
  const inside = idempotencyKeyIn(body);
  if (header === undefined || inside === null || header === inside) return [];
  return [
    {
      code: 'idempotency_key_differs',
      message: 'Idempotency-Key differs from webhook.idempotency_key in the body.',
      hint: 'The header is not signed, but the body is: deduplicate by the value in the body, and reject this delivery.',
    },
  ];
}

function idempotencyKeyIn(body: Buffer): string | null {
  try {
    const key: unknown = JSON.parse(body.toString('utf8'))?.webhook?.idempotency_key;
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}
