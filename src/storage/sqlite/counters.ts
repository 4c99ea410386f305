/** Fixed-window counters for rate limits. */

import type { Micros } from '../../runtime/instant.ts';
import type { Counted } from '../read-store.ts';
import type { Database } from './driver.ts';

interface CounterRow {
  readonly count: number;
  readonly resetsAt: Micros;
}

/** Expired counters are swept occasionally, a few at a time, faster than new ones can appear. */
const WINDOWS_BETWEEN_SWEEPS = 500;
const MOST_SWEPT = 1000;

/** All writes here run inside a transaction of the caller, which makes them exact between processes. */
export class Counters {
  readonly #select;
  readonly #write;
  readonly #sweep;
  #windowsUntilSweep = WINDOWS_BETWEEN_SWEEPS;

  constructor(database: Database) {
    this.#select = database.prepare<[string], CounterRow>(
      'SELECT count, resets_at AS resetsAt FROM counters WHERE id = ?',
    );
    this.#write = database.prepare(
      `INSERT INTO counters (id, count, resets_at) VALUES (@id, @count, @resetsAt)
       ON CONFLICT (id) DO UPDATE SET count = @count, resets_at = @resetsAt`,
    );
    this.#sweep = database.prepare<[Micros]>(
      `DELETE FROM counters WHERE id IN (SELECT id FROM counters WHERE resets_at <= ? LIMIT ${MOST_SWEPT})`,
    );
  }

  /** What a counter shows now, without a write. Null if its window must first be shortened, which `add` does. */
  look(id: string, now: Micros, windowMicros: Micros): Counted | null {
    const row = this.#select.get(id);
    if (row && row.resetsAt > now + windowMicros) return null;
    return row && row.resetsAt > now
      ? { count: row.count, allowed: true, resetsAt: row.resetsAt }
      : { count: 0, allowed: true, resetsAt: now + windowMicros };
  }

  add(id: string, amount: number, limit: number, now: Micros, windowMicros: Micros, restartsAtZero = false): Counted {
    const row = this.#endingInTime(id, now + windowMicros);
    const isOver = row?.count === 0 && amount > 0 && restartsAtZero;
    const open = row && row.resetsAt > now && !isOver ? row : null;
    const { count, resetsAt } = open ?? { count: 0, resetsAt: now + windowMicros };
    const sum = Math.max(0, count + amount);
    const allowed = amount <= 0 || sum <= limit;
    // Only an increment starts a window; a read or a late refund does not.
    if (amount === 0 || !allowed || (amount < 0 && !open)) return { count, allowed, resetsAt };
    this.#write.run({ id, count: sum, resetsAt });
    if (!open) this.#sweepSometimes(now);
    return { count: sum, allowed, resetsAt };
  }

  /**
   * A window that ends later than one that would start now was started before the clock was set back. It is shortened
   * to that, permanently: otherwise a clock jump would lock a wallet out for the length of the jump.
   */
  #endingInTime(id: string, latest: Micros): CounterRow | undefined {
    const row = this.#select.get(id);
    if (!row || row.resetsAt <= latest) return row;
    this.#write.run({ id, count: row.count, resetsAt: latest });
    return { count: row.count, resetsAt: latest };
  }

  #sweepSometimes(now: Micros): void {
    this.#windowsUntilSweep--;
    if (this.#windowsUntilSweep > 0) return;
    this.#windowsUntilSweep = WINDOWS_BETWEEN_SWEEPS;
    this.#sweep.run(now);
  }
}
