/** Looks of one process: callers who ask about a case that is being looked at wait for the same look. */

import type { Micros } from '../../runtime/instant.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { type Look, PRIORITIES, type Priority } from '../../sources/source.ts';
import type { DeskAsking } from './desk.ts';

/** A look, as those who wait for it want it. */
export interface SharedLook {
  /** The most urgent one of those who wait. */
  readonly priority: Priority;
  /** The latest one; null: no limit. */
  readonly deadline: Micros | null;
  /** Aborts once nobody waits any more. */
  readonly signal: AbortSignal;
}

export class SharedLooks {
  readonly #running = new Map<string, Running>();
  #isStopped = false;

  /** Waits for the look of that key, which begins if none is under way. */
  join(key: string, asking: DeskAsking, begin: (shared: SharedLook) => Promise<Look>): Promise<Look> {
    if (this.#isStopped || asking.signal.aborted) return Promise.resolve(INTERRUPTED);
    const present = this.#running.get(key);
    if (present && !present.signal.aborted) return present.join(asking);
    // Nobody waits for the present one any more. It ends first: both would hold the same lease.
    const next = new Running(async (shared) => {
      await present?.ended;
      return shared.signal.aborted ? INTERRUPTED : begin(shared);
    });
    this.#running.set(key, next);
    const joined = next.join(asking);
    next.start();
    next.ended.finally(() => {
      if (this.#running.get(key) === next) this.#running.delete(key);
    });
    return joined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const all = [...this.#running.values()];
    for (const one of all) one.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }
}

const INTERRUPTED: Look = {
  look: 'failed',
  because: { fault: 'interrupted', reason: 'nobody waits for the look any more', retryAt: null },
};

class Running implements SharedLook {
  readonly #waiting = new Set<DeskAsking>();
  readonly #ending = new AbortController();
  readonly #outcome: Promise<Look>;
  /** Resolves once it is over, however it ended. */
  readonly ended: Promise<void>;
  start: () => void = () => undefined;

  constructor(work: (shared: SharedLook) => Promise<Look>) {
    const started = new Promise<void>((resolve) => {
      this.start = resolve;
    });
    this.#outcome = started.then(() => work(this));
    this.ended = this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get priority(): Priority {
    const waited = new Set([...this.#waiting].map(({ priority }) => priority));
    return PRIORITIES.find((priority) => waited.has(priority)) ?? 'backfill';
  }

  get deadline(): Micros | null {
    const deadlines = [...this.#waiting].map(({ deadline }) => deadline ?? Number.POSITIVE_INFINITY);
    const latest = Math.max(0, ...deadlines);
    return Number.isFinite(latest) ? latest : null;
  }

  abort(): void {
    this.#ending.abort();
  }

  /** The outcome, or an interruption once the caller leaves. */
  join(asking: DeskAsking): Promise<Look> {
    // An entry of its own, so that one caller may ask twice.
    const entry = { ...asking };
    this.#waiting.add(entry);
    return new Promise((resolve, reject) => {
      const leave = onAbort(asking.signal, () => {
        this.#leave(entry);
        resolve(INTERRUPTED);
      });
      this.#outcome.then(resolve, reject).finally(() => {
        leave();
        this.#waiting.delete(entry);
      });
    });
  }

  #leave(entry: DeskAsking): void {
    this.#waiting.delete(entry);
    if (this.#waiting.size === 0) this.abort();
  }
}
