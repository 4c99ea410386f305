/**
 * x402's extension `sign-in-with-x` for Solana (CAIP-122): a message that the wallet signs for our domain, one call and
 * a time. Unlike a payment, it cannot be relayed: wallets show the domain, and clients sign only for the domain that
 * they called. The reference implementation depends on an Ethereum library, so only the tests use it, for comparison.
 */
import { createHash, randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { z } from 'zod';
import type { JsonObject } from '../../events/event.ts';
import { type Instant, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import { isSignedBy } from '../../solana/verify-transaction-signature.ts';
import { nestingOf } from '../nesting.ts';

/** The name of the extension, and the request header of the proof. */
export const SIGN_IN_WITH_X = 'sign-in-with-x';

/** How long a signed message is valid. */
const SIGN_IN_WINDOW: Micros = 5 * 60 * MICROS_PER_SECOND;
/** How far a client's clock may be ahead of ours. */
const CLOCK_SKEW: Micros = 60 * MICROS_PER_SECOND;
const MAX_HEADER_BYTES = 4 * 1024;

/** What the signed message must contain. */
export interface SignInTerms {
  readonly publicUrl: string;
  /** Path of the endpoint, without query. */
  readonly path: string;
  /** What the signer agrees to; the same path may have another meaning with another method. */
  readonly statement: string;
  /** CAIP-2. */
  readonly chainId: string;
}

/** A valid proof. */
export interface SignIn {
  /** Base58 address. */
  readonly wallet: string;
  /** SHA-256 of the signed message, hex, which identifies the message. */
  readonly proof: string;
  /** The proof is no longer accepted from then on. */
  readonly validUntil: Instant;
}

/** What a 402 offers: everything that the message must contain. */
export function signInDeclaration(terms: SignInTerms, now: Micros): JsonObject {
  const uri = uriOf(terms);
  const issuedAt = millisText(now);
  return {
    info: {
      domain: new URL(terms.publicUrl).host,
      uri,
      statement: terms.statement,
      version: '1',
      nonce: randomBytes(8).toString('hex'),
      issuedAt,
      expirationTime: millisText(now + SIGN_IN_WINDOW),
    },
    supportedChains: [{ chainId: terms.chainId, type: 'ed25519' }],
    schema: SCHEMA,
  };
}

/** The required members of a proof. Kept short, because the whole 402 must fit the header buffer of a proxy. */
const SCHEMA: JsonObject = {
  type: 'object',
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};

const uriOf = ({ publicUrl, path }: SignInTerms): string => `${publicUrl}${path}`;

/** In the format of `Date.toISOString`, because clients compare and copy these texts. */
const millisText = (at: Micros): string => new Date(Math.floor(at / MICROS_PER_MS)).toISOString();

const line = z
  .string()
  .max(1_024)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u);
const time = z.iso.datetime({ offset: true });
const microsOf = (sent: string): Micros => Date.parse(sent) * MICROS_PER_MS;

const Payload = z.object({
  domain: line.max(262),
  address: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
  statement: line.optional(),
  uri: line,
  version: z.literal('1'),
  chainId: line,
  type: z.literal('ed25519'),
  nonce: z.string().regex(/^[A-Za-z0-9]{8,128}$/),
  issuedAt: time,
  expirationTime: time.optional(),
  notBefore: time.optional(),
  requestId: line.optional(),
  resources: z.array(line).max(8).optional(),
  signatureScheme: z.literal('siws').optional(),
  signature: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/),
});
type Payload = z.infer<typeof Payload>;

/** Why a proof is invalid. */
export type SignInFault = 'sign_in_invalid' | 'sign_in_for_another_call' | 'sign_in_expired';

/**
 * Reads and checks a proof. Never throws.
 * @param header base64 of JSON, as clients of the extension send it
 */
export async function readSignIn(header: string, terms: SignInTerms, now: Micros): Promise<SignIn | SignInFault> {
  const payload = parse(header);
  if (!payload) return 'sign_in_invalid';
  const isOurs =
    payload.domain === new URL(terms.publicUrl).host &&
    payload.uri === uriOf(terms) &&
    payload.chainId === terms.chainId &&
    payload.statement === terms.statement;
  if (!isOurs) return 'sign_in_for_another_call';
  const issued = microsOf(payload.issuedAt);
  const ends = Math.min(
    issued + SIGN_IN_WINDOW,
    payload.expirationTime === undefined ? Number.MAX_SAFE_INTEGER : microsOf(payload.expirationTime),
  );
  const begins = payload.notBefore === undefined ? issued : microsOf(payload.notBefore);
  if (now >= ends || Math.max(issued, begins) > now + CLOCK_SKEW) return 'sign_in_expired';
  const message = signInMessage(payload);
  const [key, signature] = [decoded(payload.address, 32), decoded(payload.signature, 64)];
  if (!key || !signature || !(await isSignedBy(key, Buffer.from(message), signature))) return 'sign_in_invalid';
  return {
    wallet: payload.address,
    proof: createHash('sha256').update(message).digest('hex'),
    validUntil: toInstant(ends),
  };
}

function parse(header: string): Payload | null {
  if (header.length > MAX_HEADER_BYTES || !/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'base64'));
    return nestingOf(text) > 4 ? null : (Payload.safeParse(JSON.parse(text)).data ?? null);
  } catch {
    return null;
  }
}

function decoded(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(bs58.decodeUnsafe(text) ?? []);
  return bytes.length === length ? bytes : null;
}

/** The text that a wallet signs: CAIP-122 in the extension's form for Solana. */
function signInMessage(said: Omit<Payload, 'signature'>): string {
  const [, reference] = said.chainId.split(':');
  const lines = [`${said.domain} wants you to sign in with your Solana account:`, said.address, ''];
  if (said.statement) lines.push(said.statement, '');
  lines.push(
    `URI: ${said.uri}`,
    `Version: ${said.version}`,
    `Chain ID: ${reference}`,
    `Nonce: ${said.nonce}`,
    `Issued At: ${said.issuedAt}`,
  );
  if (said.expirationTime) lines.push(`Expiration Time: ${said.expirationTime}`);
  if (said.notBefore) lines.push(`Not Before: ${said.notBefore}`);
  if (said.requestId) lines.push(`Request ID: ${said.requestId}`);
  if (said.resources?.length) lines.push('Resources:', ...said.resources.map((resource) => `- ${resource}`));
  return lines.join('\n');
}
