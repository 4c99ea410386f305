/** Explains how a digest from a receiver's own code was computed. Pure; for `docket callbacks verify --computed`. */
import { createHmac } from 'node:crypto';
import { type BodyVariant, bodyVariants } from './body-variants.ts';
import type { HeldKey } from './explain-signature.ts';
import { bodyDigest, SIGNATURE_HEADERS, type SignedDelivery, sameDigest, standardDigest } from './signature.ts';

/**
 * How a digest was computed: over which content, and with which key.
 *
 * @param computed in hexadecimal or base64, with or without the prefix `sha256=` or `v1,`
 * @returns null if none of the usual ways produces it
 */
export function explainComputed(
  computed: string,
  { headers, body, keys }: SignedDelivery & { readonly keys: readonly HeldKey[] },
): string | null {
  const text = computed.trim().replace(/^(sha256=|v1,)/, '');
  const digest = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  const [id, time] = [headers[SIGNATURE_HEADERS.standardId] ?? '', headers[SIGNATURE_HEADERS.standardTimestamp] ?? ''];
  const bodies = [{ change: null, body }, ...bodyVariants(body), ...prettyVariants(body)];
  for (const { change, body: variant } of bodies) {
    for (const { secret } of keys) {
      const ofBody = change === null ? 'the received body' : `a body that differs (${change})`;
      if (sameDigest(digest, bodyDigest(secret, variant))) return `the secret's text over ${ofBody}`;
      if (sameDigest(digest, decodedDigest(secret, variant))) return `the hex-decoded secret over ${ofBody}`;
      if (sameDigest(digest, standardDigest(secret, id, time, variant))) return `Standard Webhooks, over ${ofBody}`;
    }
  }
  return null;
}

const decodedDigest = (secret: string, body: Buffer): Buffer =>
  createHmac('sha256', Buffer.from(secret, 'hex')).update(body).digest();

/** The results of parsing and serializing the body in common languages. */
function prettyVariants(body: Buffer): readonly BodyVariant[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return [];
  }
  const spaced = JSON.stringify(parsed, null, 1).replace(/\n */g, '\n').replaceAll(',\n', ', ').replaceAll('\n', '');
  const change = 'its JSON was parsed and serialized again';
  return [
    JSON.stringify(parsed, null, 2),
    JSON.stringify(parsed, null, 4),
    spaced,
    escaped(spaced),
    escaped(JSON.stringify(parsed)),
  ].map((text) => ({ change, body: Buffer.from(text) }));
}

/** With all non-ASCII characters escaped, as Python writes it. */
const escaped = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
