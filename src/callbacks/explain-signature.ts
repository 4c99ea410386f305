/** Says whether a delivery's signatures match, and if not, why: pure, for `docket callbacks verify`. */
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

/** A key as the owner of a receiver holds it. */
export interface HeldKey {
  /** Null where only the secret was given. */
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
  /** Whether the delivery carries a signature of the family at all. */
  readonly present: boolean;
  readonly matches: boolean;
  /** The key that matches; null also where its id was not given. */
  readonly keyId: string | null;
}

export interface SignatureReport {
  /** All that is there matches, by a key that was valid, in time. */
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
  /** Unix seconds at which the delivery came. */
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
  message: 'There is neither an X-Service-Signature nor a webhook-signature.',
  hint: 'Give the headers as they came. A proxy that drops headers it does not know looks like this, and so does a request that the service did not send.',
});

function serviceFindings(delivery: Explained, matches: boolean): readonly Finding[] {
  const { headers, keys } = delivery;
  const named = headers[SIGNATURE_HEADERS.keyId];
  const findings: Finding[] = [];
  if (named === undefined) findings.push(missing('X-Service-Signature-Key-Id'));
  if (headers[SIGNATURE_HEADERS.timestamp] === undefined) findings.push(missing('X-Service-Timestamp'));
  const signed = signedDigest(headers[SIGNATURE_HEADERS.signature] ?? '');
  if (!signed) {
    return [...findings, malformed('X-Service-Signature', 'sha256= and 64 hexadecimal digits')];
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
    return [malformed('webhook-signature', 'v1, and the base64 of 32 bytes, several with spaces between')];
  if (serviceMatches) {
    return [
      {
        code: 'standard_id_or_time_changed',
        message:
          'The body matches by X-Service-Signature, but webhook-signature does not match webhook-id and webhook-timestamp.',
        hint: 'It covers `webhook-id.webhook-timestamp.body`: take all three as they came, with the dots between.',
      },
    ];
  }
  const matchesWith = (secret: string | Buffer, body: Buffer) => {
    const expected = hmac(secret, Buffer.concat([Buffer.from(`${id}.${time}.`), body]));
    return signed.some((digest) => sameDigest(digest, expected));
  };
  return [mismatch(delivery, matchesWith, null)];
}

/** The likeliest reason why no key matches, by trying what usually happens. */
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
      hint: 'After a rotation deliveries are signed with the new key at once: use the secret that the last POST /v2/wallet/keys gave. If the id is not of your wallet, the delivery was paid for by another one.',
    };
  }
  if (looksRewritten(body)) return bodyChanged('its JSON was parsed and written again');
  return {
    code: 'wrong_secret',
    message: 'No secret that was given matches, and none of the usual changes of a body explains it.',
    hint: 'Take the secret of the key that X-Service-Signature-Key-Id names, all 64 characters of it, and the body as bytes, before anything decodes it. If both are right, the service did not send this.',
  };
}

const hmac = (secret: string | Buffer, body: Buffer): Buffer => createHmac('sha256', secret).update(body).digest();

function bodyChanged(change: string): Finding {
  const reserialised = change.includes('JSON was parsed');
  return {
    code: reserialised ? 'body_reserialised' : 'body_changed',
    message: `The body is not the one that was signed: ${change}.`,
    hint: reserialised
      ? 'Keep the raw bytes of the request and verify those; parse them afterwards. Most frameworks have an option that keeps them.'
      : 'Verify the bytes of the request as they came over the wire, without a text editor, a shell or a proxy in between.',
  };
}

const secretDecoded = (): Finding => ({
  code: 'secret_decoded',
  message: 'It was signed with the 32 bytes that the secret stands for in hexadecimal.',
  hint: "The key of the HMAC is the secret's text itself, its 64 characters as UTF-8. The service signs so; what made this signature does not.",
});

const missing = (name: string): Finding => ({
  code: 'header_missing',
  message: `The header ${name} is missing.`,
  hint: 'Every delivery carries it. Give the headers as they came.',
});

const malformed = (name: string, form: string): Finding => ({
  code: 'signature_malformed',
  message: `${name} is not of the form that the service writes.`,
  hint: `It is ${form}.`,
});

const wrongKeyId = (named: string, actual: string): Finding => ({
  code: 'wrong_key_id',
  message: `The secret that matches was given as that of key ${actual}, but the delivery names key ${named}.`,
  hint: 'The ids of the keys are mixed up where the secrets are kept.',
});

function timeFindings({ headers, atSeconds }: Explained): readonly Finding[] {
  const [service, standard] = [headers[SIGNATURE_HEADERS.timestamp], headers[SIGNATURE_HEADERS.standardTimestamp]];
  const findings: Finding[] = [];
  if (service !== undefined && standard !== undefined && service !== standard) {
    findings.push({
      code: 'times_differ',
      message: 'X-Service-Timestamp and webhook-timestamp differ.',
      hint: 'The service writes the same time into both; only the second is covered by a signature.',
    });
  }
  const late = [service, standard].find((time) => time !== undefined && !isFresh(time, atSeconds));
  if (late !== undefined) {
    const off = /^\d{1,15}$/.test(late) ? Math.round(atSeconds - Number(late)) : null;
    const message =
      off === null
        ? 'The timestamp is not a number of seconds.'
        : `The timestamp is ${Math.abs(off)} seconds ${off > 0 ? 'old' : 'ahead'}; ${TOLERANCE_SECONDS} are allowed.`;
    const hint = 'Check the clock of the receiver. For a delivery that was kept, say when it came with --at.';
    findings.push({ code: 'stale', message, hint });
  }
  return findings;
}

/** A previous key that signed after its 30 minutes. */
function expiredFindings({ headers, keys }: Explained, verdicts: readonly Matched[]): readonly Finding[] {
  const time = Number(headers[SIGNATURE_HEADERS.timestamp] ?? headers[SIGNATURE_HEADERS.standardTimestamp]);
  const expired = (key: HeldKey | null) => key !== null && key.validUntil !== null && time > key.validUntil;
  const matched = verdicts.flatMap(({ key, matches }) => (matches ? key : []));
  // With a signature by a key that is still valid beside it, the expired one does no harm.
  if (matched.length === 0 || !matched.every(expired) || keys.length === 0) return [];
  return [
    {
      code: 'expired_key',
      message: `It is signed with key ${matched[0]?.keyId ?? '(no id given)'}, which was valid until before that time.`,
      hint: 'A replaced key signs for 30 minutes more. What it signs later does not come from the service: refuse it, and rotate again if the old secret may be known to others.',
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
      message: 'Idempotency-Key is not the webhook.idempotency_key of the body.',
      hint: 'The header is not signed, the body is: deduplicate by what the body says, and refuse this delivery.',
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
