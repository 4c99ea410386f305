/** Fixed-window counters for rate limits. Exact between processes: each change is one conditional update. */
import type { Collection, Db, Filter } from 'mongodb';
import type { Micros } from '../../runtime/instant.ts';
import type { Counted } from '../read-store.ts';
import { isDuplicate } from './failures.ts';

interface StoredCounter {
  readonly _id: string;
  readonly count: number;
  readonly resetsAt: Micros;
}

/** Expired counters are swept occasionally, a few at a time, faster than new ones can appear. */
const WINDOWS_BETWEEN_SWEEPS = 500;
const MOST_SWEPT = 1000;

export class Counters {
  readonly #counters: Collection<StoredCounter>;
  #windowsUntilSweep = WINDOWS_BETWEEN_SWEEPS;

  constructor(database: Db) {
    this.#counters = database.collection('counters');
  }

  async prepare(): Promise<void> {
    await this.#counters.createIndex({ resetsAt: 1 });
  }

  async add(
    id: string,
    amount: number,
    limit: number,
    now: Micros,
    windowMicros: Micros,
    restartsAtZero = false,
  ): Promise<Counted> {
    for (;;) {
      if (restartsAtZero && amount > 0 && amount <= limit) {
        // Tried first, since most counters of this kind are at 0.
        const resetsAt = now + windowMicros;
        if (await this.#begin(id, amount, { $or: [{ resetsAt: { $lte: now } }, { count: 0 }] }, resetsAt)) {
          await this.#sweepSometimes(now);
          return { count: amount, allowed: true, resetsAt };
        }
      }
      const changed = amount === 0 ? null : await this.#change(id, amount, limit, now, now + windowMicros);
      if (changed) return { count: changed.count, allowed: true, resetsAt: changed.resetsAt };
      const stored = await this.#endingInTime(id, now + windowMicros);
      const open = stored && stored.resetsAt > now ? stored : null;
      const { count, resetsAt } = open ?? { count: 0, resetsAt: now + windowMicros };
      const fits = amount <= 0 || count + amount <= limit;
      // Only an increment starts a window; a read or a late refund does not.
      if (amount === 0 || !fits || (amount < 0 && !open)) return { count, allowed: fits, resetsAt };
      if (amount > 0 && !open && (await this.#begin(id, amount, { resetsAt: { $lte: now } }, resetsAt))) {
        await this.#sweepSometimes(now);
        return { count: amount, allowed: true, resetsAt };
      }
      // Another process changed the counter in between: read it again.
    }
  }

  /**
   * Changes a counter whose window is open, if the change fits. Null if it does not fit, or if there is no such
   * counter.
   */
  async #change(id: string, amount: number, limit: number, now: Micros, latest: Micros): Promise<StoredCounter | null> {
    const open = { _id: id, resetsAt: { $gt: now } };
    const inTime = { $min: { resetsAt: latest } };
    const after = { returnDocument: 'after' } as const;
    if (amount > 0) {
      const room = { ...open, count: { $lte: limit - amount } };
      return this.#counters.findOneAndUpdate(room, { $inc: { count: amount }, ...inTime }, after);
    }
    const enough = { ...open, count: { $gte: -amount } };
    return (
      (await this.#counters.findOneAndUpdate(enough, { $inc: { count: amount }, ...inTime }, after)) ??
      this.#counters.findOneAndUpdate({ ...open, count: { $lt: -amount } }, { $set: { count: 0 }, ...inTime }, after)
    );
  }

  /**
   * A window that ends later than one that would start now was started before the clock was set back. It is shortened
   * to that, permanently: otherwise a clock jump would lock a wallet out for the length of the jump.
   */
  async #endingInTime(id: string, latest: Micros): Promise<StoredCounter | null> {
    const stored = await this.#counters.findOne({ _id: id });
    if (!stored || stored.resetsAt <= latest) return stored;
    await this.#counters.updateOne({ _id: id }, { $min: { resetsAt: latest } });
    return { ...stored, resetsAt: latest };
  }

  /** Starts a window if there is none, or if the present one matches `ended`. */
  async #begin(id: string, count: number, ended: Filter<StoredCounter>, resetsAt: Micros): Promise<boolean> {
    try {
      await this.#counters.updateOne({ _id: id, ...ended }, { $set: { count, resetsAt } }, { upsert: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async #sweepSometimes(now: Micros): Promise<void> {
    this.#windowsUntilSweep--;
    if (this.#windowsUntilSweep > 0) return;
    this.#windowsUntilSweep = WINDOWS_BETWEEN_SWEEPS;
    const ended = { resetsAt: { $lte: now } };
    const old = await this.#counters.find(ended, { projection: { _id: 1 }, limit: MOST_SWEPT }).toArray();
    await this.#counters.deleteMany({ _id: { $in: old.map(({ _id }) => _id) }, ...ended });
  }
}
