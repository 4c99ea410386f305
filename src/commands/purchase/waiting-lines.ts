/** Lines of those who wait for the same thing: of each only a few have their turn at once, one where nothing is said. */
export interface LineOptions {
  /** By the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
}

import { onAbort } from '../../runtime/on-abort.ts';

/** Ends a turn: the next one in line is called. To be called once. */
export type EndTurn = () => void;

interface Line {
  turns: number;
  readonly behind: Set<() => void>;
}

export class WaitingLines {
  readonly #atOnce: number;
  /** Whose turn it is, counted, and those behind, in the order in which they came. An empty line is not kept. */
  readonly #lines = new Map<string, Line>();
  readonly #napping = new Map<string, Set<() => void>>();

  /** @param atOnce how many of one line have their turn at the same time */
  constructor(atOnce = 1) {
    this.#atOnce = atOnce;
  }

  /** Whether a caller has a turn in this line, or waits for one. */
  has(line: string): boolean {
    return this.#lines.has(line);
  }

  /** @returns once it is this one's turn; null if time is up before */
  async turn(line: string, { until, signal }: LineOptions): Promise<EndTurn | null> {
    const found = this.#lines.get(line);
    if (!found) this.#lines.set(line, { turns: 1, behind: new Set() });
    else if (found.turns < this.#atOnce) found.turns++;
    else if (!(await called(found.behind, until, signal))) return null;
    return () => this.#next(line);
  }

  /** Waits for this long, or until `nudge` says that something has changed. */
  async nap(line: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    const nappers = this.#napping.get(line) ?? new Set();
    this.#napping.set(line, nappers);
    await called(nappers, performance.now() + milliseconds, signal);
    if (nappers.size === 0) this.#napping.delete(line);
  }

  /** Wakes all that nap in this line. */
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
