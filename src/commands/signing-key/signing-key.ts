/**
 * A wallet's signing keys (docs/design/interface.md#3.2). The first is created on first use, and each rotation creates
 * the next. The replaced key stays valid for 30 minutes. Any older key ends at once, because a receiver has to accept
 * two keys but never three.
 */
import { SignInProved, SigningKeyCreated, type SigningKeyEvent, SigningKeyRotated } from '../../events/signing-key.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, plus, toInstant } from '../../runtime/instant.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

/** How long a replaced key stays valid (docs/design/interface.md#3.2). */
export const ROTATION_WINDOW: Micros = 30 * 60 * MICROS_PER_SECOND;

/**
 * How long a proof is remembered after it expires. Clocks of nodes differ, and one that is behind accepts it for
 * longer.
 */
const REMEMBERED_FOR: Micros = 3_600 * MICROS_PER_SECOND;

export interface SigningKey {
  readonly keyId: string;
  readonly createdAt: Instant;
  /** The version of the master key that its secret is derived from. */
  readonly masterVersion: number;
}

/** A key, and its effect on the previous key. */
export interface MadeKey extends SigningKey {
  /** The key that it replaced, and until when that one is valid; null for a wallet's first key. */
  readonly replaced: { readonly keyId: string; readonly validUntil: Instant } | null;
}

/** A message that the wallet signed to prove itself, and the payment that it was used with. */
export interface UsedProof {
  readonly proof: string;
  readonly payment: string;
  readonly validUntil: Instant;
}

export interface WalletKeys {
  /** Every key of the wallet, oldest first. */
  readonly keys: readonly MadeKey[];
  /**
   * Proofs that could still be replayed; null if the wallet needs none, because it never gave one and no rotation
   * required it.
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
  /** When the key is created. */
  readonly at: Micros;
}

export type SigningKeyCommand =
  /** Creates the wallet's first key if it has none. */
  | ({ readonly type: 'Ensure' } & NewKey)
  /** Makes this key the current one. Idempotent. */
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
    // A rotation before the first key creates the first key, which replaces nothing.
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
 * The keys that a receiver has to accept at a given time; the current one signs. Null if the wallet has no key yet. The
 * previous key is valid before its `validUntil`, not at it.
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

/** The key with this id, valid or not; null if the wallet never had it. */
export const madeKey = ({ keys }: Pick<WalletKeys, 'keys'>, keyId: string): MadeKey | null =>
  keys.find((made) => made.keyId === keyId) ?? null;
