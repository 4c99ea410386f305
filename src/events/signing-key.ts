/**
 * The keys that sign a wallet's callbacks (docs/design/interface.md#3.2). No event contains a secret: it is derived
 * from the key's id, the wallet and the named version of the master key.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';

const KeyId = z.string().regex(/^[0-9A-Za-z_-]{1,64}$/);
const MasterVersion = z.int().positive();

const NewKey = z.strictObject({
  keyId: KeyId,
  /** The master key version that its secret is derived from. */
  masterVersion: MasterVersion,
  createdAt: Instant,
  /** The wallet asked that a proof be demanded from here on, as after its first one. */
  signInRequired: z.literal(true).optional(),
});

/** The wallet's first key was created. */
export const SigningKeyCreated = event('SigningKeyCreated', 1, NewKey);

/** The current key was replaced; the old one stays valid for a while. */
export const SigningKeyRotated = event(
  'SigningKeyRotated',
  1,
  z.strictObject({
    ...NewKey.shape,
    previousKeyId: KeyId,
    /** The first instant at which the replaced key is no longer valid. */
    previousValidUntil: Instant,
  }),
);

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * The wallet proved its identity with a signed message. After the first proof, a payment alone no longer gives access
 * to a rotation or to the history of deliveries.
 */
export const SignInProved = event(
  'SignInProved',
  1,
  z.strictObject({
    /** SHA-256 of the signed message. */
    proof: Sha256,
    /** The payment that came with it; repeated with another payment, the proof is rejected. */
    payment: Sha256,
    provedAt: Instant,
    /** When the message is no longer accepted. It is remembered for an hour longer. */
    validUntil: Instant,
  }),
);

/** Events that create keys. */
export const SIGNING_KEY_CHANGES = [SigningKeyCreated, SigningKeyRotated] as const;
export type SigningKeyChange = EventOf<(typeof SIGNING_KEY_CHANGES)[number]>;

export const WALLET_STREAM_EVENTS = [...SIGNING_KEY_CHANGES, SignInProved] as const;

export type SigningKeyEvent = EventOf<(typeof WALLET_STREAM_EVENTS)[number]>;

/**
 * A version of the master key came into use. Its fingerprint shows whether another node, or a later start, has the same
 * one; nothing can be derived from it.
 */
export const MasterKeyIntroduced = event(
  'MasterKeyIntroduced',
  2,
  z.strictObject({
    masterVersion: MasterVersion,
    fingerprint: z.string().regex(/^[0-9a-f]{32}$/),
    /** Who brought it into use, `service` at its start or an operator, and why; null in version 1. */
    by: z.string().min(1).nullable(),
    reason: z.string().min(1).nullable(),
  }),
  { 1: (data) => ({ ...data, by: null, reason: null }) },
);

export type MasterKeyEvent = EventOf<typeof MasterKeyIntroduced>;

export const SIGNING_KEY_EVENTS = [...WALLET_STREAM_EVENTS, MasterKeyIntroduced] as const;

const WALLET_STREAM = /^wallet-([1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** Stream of a wallet's signing keys; the address is base58. */
export const walletStream = (wallet: string): string => `wallet-${wallet}`;

/** The wallet whose keys a stream holds; null for any other stream. */
export const walletOf = (stream: string): string | null => WALLET_STREAM.exec(stream)?.[1] ?? null;

/** Stream of the versions of the master key. */
export const MASTER_KEY_STREAM = 'operator-master-key';
