/** Lines of those who wait for the same thing: of each, only the first looks again and again whether it is there. */
export interface LineOptions {
  /** By the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
}

import { onAbort } from '../on-abort.ts';

/** Ends a turn: the next one in line is called. To be called once. */
export type EndTurn = () => void;

export class WaitingLines {
  /** Those behind whoever is first, in the order in which they came. A line without anybody in it is not kept. */
  readonly #behind = new Map<string, Set<() => void>>();

  /** @returns once it is this one's turn; null if time is up before */
  async turn(line: string, { until, signal }: LineOptions): Promise<EndTurn | null> {
    const behind = this.#behind.get(line);
    if (!behind) this.#behind.set(line, new Set());
    else if (!(await called(behind, until, signal))) return null;
    return () => this.#next(line);
  }

  #next(line: string): void {
    const behind = this.#behind.get(line);
    const [first] = behind ?? [];
    if (first) first();
    else this.#behind.delete(line);
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
