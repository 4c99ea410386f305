/** Queues by key: in each, a limited number of callers has a turn at once; one by default. */
export interface LineOptions {
  /** By the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
}

import { onAbort } from '../../runtime/on-abort.ts';

/** Ends a turn, which starts the next in the queue. Call it once. */
export type EndTurn = () => void;

interface Line {
  turns: number;
  readonly behind: Set<() => void>;
}

export class WaitingLines {
  readonly #atOnce: number;
  /** Running turns and waiting callers, in order of arrival. Empty queues are removed. */
  readonly #lines = new Map<string, Line>();
  readonly #napping = new Map<string, Set<() => void>>();

  /** @param atOnce turns of one queue at the same time */
  constructor(atOnce = 1) {
    this.#atOnce = atOnce;
  }

  /** Whether a caller has a turn in this queue or waits for one. */
  has(line: string): boolean {
    return this.#lines.has(line);
  }

  /** @returns once the caller has its turn; null if time runs out before */
  async turn(line: string, { until, signal }: LineOptions): Promise<EndTurn | null> {
    const found = this.#lines.get(line);
    if (!found) this.#lines.set(line, { turns: 1, behind: new Set() });
    else if (found.turns < this.#atOnce) found.turns++;
    else if (!(await called(found.behind, until, signal))) return null;
    return () => this.#next(line);
  }

  /** Waits for this long, or until `nudge` is called for the queue. */
  async nap(line: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    const nappers = this.#napping.get(line) ?? new Set();
    this.#napping.set(line, nappers);
    await called(nappers, performance.now() + milliseconds, signal);
    if (nappers.size === 0) this.#napping.delete(line);
  }

  /** Wakes every `nap` of this queue. */
  nudge(line: string): void {
    for (const wake of [...(this.#napping.get(line) ?? [])]) wake();
  }

  #next(line: string): void {
    const found = this.#lines.get(line);
    if (!found) return;
    const [first] = found.behind;
    if (first) first();
    else if (found.turns > 1) found.turns--;
    else this.#lines.delete(line);
  }
}

function called(behind: Set<() => void>, until: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = (isCalled: boolean) => {
      clearTimeout(timer);
      unlisten();
      behind.delete(call);
      resolve(isCalled);
    };
    const call = () => leave(true);
    const late = () => leave(false);
    const timer = setTimeout(late, Math.max(0, until - performance.now()));
    const unlisten = onAbort(signal, late);
    behind.add(call);
    if (signal.aborted) late();
  });
}
