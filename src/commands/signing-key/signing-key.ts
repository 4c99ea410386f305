/**
 * A wallet's signing keys (docs/design/interface.md#3.2): the first is made when it is first needed, each rotation
 * makes the next. The key just replaced stays valid for half an hour; one that was replaced before it ends at once,
 * since a receiver has to accept two keys and never three.
 */
import { SignInProved, SigningKeyCreated, type SigningKeyEvent, SigningKeyRotated } from '../../events/signing-key.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, plus, toInstant } from '../../runtime/instant.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

/** How long a replaced key stays valid (docs/design/interface.md#3.2). */
export const ROTATION_WINDOW: Micros = 30 * 60 * MICROS_PER_SECOND;

/**
 * How long a proof is remembered after it is no longer accepted: nodes' clocks differ, and one that is behind accepts
 * it for longer.
 */
const REMEMBERED_FOR: Micros = 3_600 * MICROS_PER_SECOND;

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

/** A message that the wallet signed to prove itself, and the payment that it came with. */
export interface UsedProof {
  readonly proof: string;
  readonly payment: string;
  readonly validUntil: Instant;
}

export interface WalletKeys {
  /** Every key that the wallet ever had, oldest first. */
  readonly keys: readonly MadeKey[];
  /**
   * Proofs that could still be sent again; null for a wallet of which none is demanded: it never gave one, and no rotation
   * asked for it.
   */
  readonly proofs: readonly UsedProof[] | null;
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
  | ({ readonly type: 'Rotate'; readonly requireSignIn?: boolean } & NewKey)
  /** Uses a proof of the wallet for one payment. */
  | ({ readonly type: 'Prove'; readonly at: Micros } & UsedProof);

/** The proof was used with another payment. */
export type SigningKeyRejection = 'proof_used';

export const signingKeys: Decider<WalletKeys, SigningKeyCommand, SigningKeyEvent, SigningKeyRejection> = {
  initialState: { keys: [], proofs: null },

  decide({ keys, proofs }, command) {
    if (command.type === 'Prove') {
      const { proof, payment, validUntil, at } = command;
      const used = proofs?.find((one) => one.proof === proof);
      if (used) return used.payment === payment ? [] : rejected('proof_used');
      return [SignInProved.of({ proof, payment, provedAt: toInstant(at), validUntil })];
    }
    const { type, keyId, masterVersion, at } = command;
    const current = keys.at(-1);
    const demands = command.type === 'Rotate' && command.requireSignIn ? ({ signInRequired: true } as const) : {};
    const key = { keyId, masterVersion, createdAt: toInstant(at), ...demands };
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

  evolve({ keys, proofs }, event) {
    if (event.type === 'SignInProved') {
      const { proof, payment, provedAt, validUntil } = event.data;
      const remembered = (proofs ?? []).filter((one) => rememberedUntil(one) > provedAt);
      return { keys, proofs: [...remembered, { proof, payment, validUntil }] };
    }
    const { keyId, createdAt, masterVersion, signInRequired } = event.data;
    const key = { keyId, createdAt, masterVersion };
    const demanded = proofs ?? (signInRequired ? [] : null);
    switch (event.type) {
      case 'SigningKeyCreated':
        return { keys: [...keys, { ...key, replaced: null }], proofs: demanded };
      case 'SigningKeyRotated': {
        const { previousKeyId, previousValidUntil } = event.data;
        const replaced = { keyId: previousKeyId, validUntil: previousValidUntil };
        return { keys: [...keys, { ...key, replaced }], proofs: demanded };
      }
      default:
        return unreachable(event);
    }
  },
};

/** Until when a used proof is remembered. */
export const rememberedUntil = ({ validUntil }: Pick<UsedProof, 'validUntil'>): Instant =>
  plus(validUntil, REMEMBERED_FOR);

/**
 * The keys that a receiver has to accept at a moment: sign with the current one. Null where the wallet has none yet.
 * The previous key is valid up to its `validUntil`, and not at it.
 */
export function validKeysAt({ keys }: Pick<WalletKeys, 'keys'>, now: Micros): ValidKeys | null {
  const made = keys.at(-1);
  if (!made) return null;
  const { replaced, ...current } = made;
  const former = replaced && keys.find(({ keyId }) => keyId === replaced.keyId);
  if (!replaced || !former || toInstant(now) >= replaced.validUntil) return { current, previous: null };
  const { replaced: _, ...previous } = former;
  return { current, previous: { ...previous, validUntil: replaced.validUntil } };
}

/** The key of this id, whether it is still valid or not; null where the wallet never had it. */
export const madeKey = ({ keys }: Pick<WalletKeys, 'keys'>, keyId: string): MadeKey | null =>
  keys.find((made) => made.keyId === keyId) ?? null;
