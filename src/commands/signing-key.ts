/**
 * A wallet's signing keys (specification 3.2): the first is made when it is first needed, each rotation makes the next.
 * The key just replaced stays valid for half an hour; one that was replaced before it ends at once, since a receiver has
 * to accept two keys and never three.
 */
import { SigningKeyCreated, type SigningKeyEvent, SigningKeyRotated } from '../events/signing-key.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, plus, toInstant } from '../instant.ts';
import { type Decider, unreachable } from './decider.ts';

/** How long a replaced key stays valid (specification 3.2). */
export const ROTATION_WINDOW: Micros = 30 * 60 * MICROS_PER_SECOND;

export interface SigningKey {
  readonly keyId: string;
  readonly createdAt: Instant;
  /** Which master key its secret is derived from. */
  readonly masterVersion: number;
}

/** A key, and what making it did to the one before. */
export interface MadeKey extends SigningKey {
  /** The key that it replaced, and until when that one stays valid; null for a wallet's first key. */
  readonly replaced: { readonly keyId: string; readonly validUntil: Instant } | null;
}

/** Every key that the wallet ever had, oldest first. */
export interface WalletKeys {
  readonly keys: readonly MadeKey[];
}

export interface ValidKeys {
  readonly current: SigningKey;
  readonly previous: (SigningKey & { readonly validUntil: Instant }) | null;
}

interface NewKey {
  readonly keyId: string;
  readonly masterVersion: number;
  /** When the key is made. */
  readonly at: Micros;
}

export type SigningKeyCommand =
  /** Makes the wallet's first key, where it has none. */
  | ({ readonly type: 'Ensure' } & NewKey)
  /** Makes this key the current one, once, however often it is asked for. */
  | ({ readonly type: 'Rotate' } & NewKey);

export const signingKeys: Decider<WalletKeys, SigningKeyCommand, SigningKeyEvent> = {
  initialState: { keys: [] },

  decide({ keys }, { type, keyId, masterVersion, at }) {
    const current = keys.at(-1);
    const key = { keyId, masterVersion, createdAt: toInstant(at) };
    // A wallet that rotates before it ever had a key gets its first one, which replaces nothing.
    if (!current) return [SigningKeyCreated.of(key)];
    switch (type) {
      case 'Ensure':
        return [];
      case 'Rotate':
        if (keys.some((made) => made.keyId === keyId)) return [];
        return [
          SigningKeyRotated.of({
            ...key,
            previousKeyId: current.keyId,
            previousValidUntil: plus(key.createdAt, ROTATION_WINDOW),
          }),
        ];
      default:
        return unreachable(type);
    }
  },

  evolve({ keys }, event) {
    const { keyId, createdAt, masterVersion } = event.data;
    const key = { keyId, createdAt, masterVersion };
    switch (event.type) {
      case 'SigningKeyCreated':
        return { keys: [...keys, { ...key, replaced: null }] };
      case 'SigningKeyRotated': {
        const { previousKeyId, previousValidUntil } = event.data;
        return { keys: [...keys, { ...key, replaced: { keyId: previousKeyId, validUntil: previousValidUntil } }] };
      }
      default:
        return unreachable(event);
    }
  },
};

/**
 * The keys that a receiver has to accept at a moment: sign with the current one. Null where the wallet has none yet.
 * The previous key is valid up to its `validUntil`, and not at it.
 */
export function validKeysAt({ keys }: WalletKeys, now: Micros): ValidKeys | null {
  const made = keys.at(-1);
  if (!made) return null;
  const { replaced, ...current } = made;
  const former = replaced && keys.find(({ keyId }) => keyId === replaced.keyId);
  if (!replaced || !former || toInstant(now) >= replaced.validUntil) return { current, previous: null };
  const { replaced: _, ...previous } = former;
  return { current, previous: { ...previous, validUntil: replaced.validUntil } };
}

/** The key of this id, whether it is still valid or not; null where the wallet never had it. */
export const madeKey = ({ keys }: WalletKeys, keyId: string): MadeKey | null =>
  keys.find((made) => made.keyId === keyId) ?? null;
