/**
 * Slots and their blockhashes. A slot's blockhash is derived from the chain's seed and the slot's number. So a
 * restarted chain knows every blockhash that it ever issued, and how long each is still valid.
 */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';

/** How many blocks a blockhash stays valid after its own (a cluster's MAX_PROCESSING_AGE). */
export const BLOCKHASH_LIFETIME = 150;
/** Slots after which a slot is final. */
export const FINALITY_SLOTS = 32;
/** Slots that are caught up after a late timer. After a longer pause, the chain continues from where it stopped. */
const MAX_CATCH_UP_SLOTS = 8;

export interface SlotClockOptions {
  readonly seed: Buffer;
  readonly slot: number;
  /** The last saved block time, seconds. */
  readonly unixTime: number;
  readonly slotMs: number;
  /** Milliseconds of a monotonic clock. The wall clock may be adjusted, but a chain's height follows elapsed time. */
  readonly monotonicMs: () => number;
  /** Seconds since the Unix epoch, read once: block times then follow the monotonic clock. */
  readonly wallSeconds: () => number;
}

export class SlotClock {
  readonly #seed: Buffer;
  readonly #slotMs: number;
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;
  readonly #startedSeconds: number;
  /** Slots of the currently valid blockhashes, by their bytes in latin1. */
  readonly #valid = new Map<string, number>();
  #slot: number;
  #slotBeganMs: number;

  constructor({ seed, slot, unixTime, slotMs, monotonicMs, wallSeconds }: SlotClockOptions) {
    this.#seed = seed;
    this.#slotMs = slotMs;
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
    this.#slotBeganMs = this.#startedMs;
    this.#startedSeconds = Math.max(unixTime, Math.floor(wallSeconds()));
    this.#slot = slot;
    for (let known = Math.max(0, slot - BLOCKHASH_LIFETIME); known <= slot; known++) {
      this.#valid.set(keyOf(this.blockhashBytes(known)), known);
    }
  }

  /** No slot is ever skipped, so this is also the block height. */
  get slot(): number {
    return this.#slot;
  }

  get finalizedSlot(): number {
    return Math.max(0, this.#slot - FINALITY_SLOTS);
  }

  /** Seconds since the Unix epoch. */
  get unixTime(): number {
    return this.#startedSeconds + Math.floor((this.#monotonicMs() - this.#startedMs) / 1000);
  }

  /** Advances by the slots that have passed. Returns whether there were any. */
  advance(): boolean {
    const now = this.#monotonicMs();
    const passed = Math.floor((now - this.#slotBeganMs) / this.#slotMs);
    if (passed < 1) return false;
    this.#slotBeganMs += passed * this.#slotMs;
    const target = this.#slot + Math.min(passed, MAX_CATCH_UP_SLOTS);
    while (this.#slot < target) {
      this.#slot++;
      this.#valid.set(keyOf(this.blockhashBytes(this.#slot)), this.#slot);
      const expired = this.#slot - BLOCKHASH_LIFETIME - 1;
      if (expired >= 0) this.#valid.delete(keyOf(this.blockhashBytes(expired)));
    }
    return true;
  }

  /** Milliseconds until the next slot begins. */
  untilNextMs(): number {
    return Math.max(0, this.#slotBeganMs + this.#slotMs - this.#monotonicMs());
  }

  blockhashBytes(slot: number): Buffer {
    const number = Buffer.alloc(8);
    number.writeBigUInt64LE(BigInt(slot));
    return createHash('sha256').update(this.#seed).update(number).digest();
  }

  blockhash(slot: number): string {
    return bs58.encode(this.blockhashBytes(slot));
  }

  /** The slot of a blockhash that is still valid, otherwise null. */
  slotOf(blockhash: Buffer): number | null {
    return this.#valid.get(keyOf(blockhash)) ?? null;
  }
}

const keyOf = (blockhash: Buffer): string => blockhash.toString('latin1');
