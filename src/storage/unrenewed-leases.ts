/**
 * Detects a dead holder after the clock was set back. A lease acquired before that may end hours from now by the
 * current clock. But a live holder renews its lease well before it expires, so a lease that stays unchanged for a whole
 * duration has no holder. This does not depend on another machine's clock.
 */
import type { Micros } from '../runtime/instant.ts';

/** A lease as it is stored. */
export interface StoredLease {
  readonly token: number;
  readonly expiresAt: Micros;
}

interface Seen extends StoredLease {
  readonly at: Micros;
}

export class UnrenewedLeases {
  readonly #seen = new Map<string, Seen>();

  /** Records the state of a lease of another owner. @returns whether it was not renewed for its whole duration */
  isUnrenewed(name: string, { token, expiresAt }: StoredLease, now: Micros, durationMicros: Micros): boolean {
    // It expires in the normal time.
    if (expiresAt <= now + durationMicros) {
      this.#seen.delete(name);
      return false;
    }
    const seen = this.#seen.get(name);
    const isSame = seen?.token === token && seen.expiresAt === expiresAt && seen.at <= now;
    if (!isSame) this.#seen.set(name, { token, expiresAt, at: now });
    return isSame && now - seen.at >= durationMicros;
  }
}
