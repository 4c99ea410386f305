/**
 * The keys that sign heads, and what vouches for each: one that was kept, the master key at hand, or the log alone
 * (docs/design/audit.md#keys-of-heads).
 */
import type { Position } from '../../storage/event-log.ts';
import type { Breach } from '../judging.ts';

/** What the auditor knows about keys apart from the log. */
export interface TrustedKeys {
  /** Public keys that somebody kept, base64. If there is one, each key of the log must be among them. */
  readonly kept: readonly string[];
  /** The key that each version of the master key at hand gives, and the fingerprint of that version. */
  readonly derived: ReadonlyMap<number, { readonly publicKey: string; readonly fingerprint: string }>;
}

export const NO_TRUSTED_KEYS: TrustedKeys = { kept: [], derived: new Map() };

/** A key as the log introduced it. */
export interface IntroducedKey {
  readonly masterVersion: number;
  readonly publicKey: string;
  /** In the stream `log-head`. */
  readonly revision: number;
  readonly position: Position;
}

export interface JudgedKey extends IntroducedKey {
  /**
   * What vouches for it: a key that was kept, the master key at hand, or nothing but the log. `other`: a kept key or the
   * master key at hand is another one.
   */
  readonly vouchedBy: 'kept' | 'derived' | 'log' | 'other';
  /** The master key at hand has another fingerprint than the log says of this version, so it proves nothing. */
  readonly masterKeyDiffers: boolean;
}

export interface HeadKeysState {
  readonly keys: readonly IntroducedKey[];
  readonly fingerprints: readonly (readonly [version: number, fingerprint: string])[];
}

export class HeadKeys {
  readonly #keys = new Map<number, IntroducedKey>();
  readonly #fingerprints = new Map<number, string>();

  constructor(state: HeadKeysState | null) {
    for (const key of state?.keys ?? []) this.#keys.set(key.masterVersion, key);
    for (const [version, fingerprint] of state?.fingerprints ?? []) this.#fingerprints.set(version, fingerprint);
  }

  /** Notes a key, unless its version has one. @returns the key of that version */
  introduce(key: IntroducedKey): IntroducedKey {
    const known = this.#keys.get(key.masterVersion);
    if (known) return known;
    this.#keys.set(key.masterVersion, key);
    return key;
  }

  /** The public key of a version; undefined if none was introduced. */
  of(masterVersion: number): string | undefined {
    return this.#keys.get(masterVersion)?.publicKey;
  }

  noteMasterKey(masterVersion: number, fingerprint: string): void {
    if (!this.#fingerprints.has(masterVersion)) this.#fingerprints.set(masterVersion, fingerprint);
  }

  /** In the order of their introduction. */
  judged({ kept, derived }: TrustedKeys): readonly JudgedKey[] {
    return [...this.#keys.values()].map((key) => {
      const own = derived.get(key.masterVersion);
      const masterKeyDiffers = own !== undefined && own.fingerprint !== this.#fingerprints.get(key.masterVersion);
      const isDerived = own !== undefined && own.publicKey === key.publicKey;
      if (kept.length > 0) {
        return { ...key, vouchedBy: kept.includes(key.publicKey) ? 'kept' : 'other', masterKeyDiffers };
      }
      if (isDerived) return { ...key, vouchedBy: 'derived', masterKeyDiffers: false };
      return { ...key, vouchedBy: own && !masterKeyDiffers ? 'other' : 'log', masterKeyDiffers };
    });
  }

  /** Keys that are not what the auditor knows; and none, where a key was kept, since it once signed a head. */
  *breaches(trusted: TrustedKeys): Iterable<Breach> {
    if (trusted.kept.length > 0 && this.#keys.size === 0) {
      const place = { stream: 'log-head', revision: null, position: null };
      yield { rule: 'head_key_kept', ...place, expected: 'a key given with --key', found: 'no key' };
    }
    for (const { vouchedBy, masterVersion, publicKey, revision, position } of this.judged(trusted)) {
      if (vouchedBy !== 'other') continue;
      const expected =
        trusted.kept.length > 0
          ? 'a key given with --key'
          : `the key that version ${masterVersion} of the master key gives: ${trusted.derived.get(masterVersion)?.publicKey}`;
      yield { rule: 'head_key_kept', stream: 'log-head', revision, position, expected, found: publicKey };
    }
  }

  toJson(): HeadKeysState {
    return { keys: [...this.#keys.values()], fingerprints: [...this.#fingerprints] };
  }
}
