/** Limits the calls of one run: how many in a second, and how many in all. */

/** The run has made as many calls as it was allowed to. */
export class CallBudgetSpent extends Error {
  readonly code = 'call_budget_spent';
  constructor(readonly calls: number) {
    super(`the budget of ${calls} calls is spent`);
    this.name = 'CallBudgetSpent';
  }
}

export interface CallLimits {
  /** Null for no limit. */
  readonly perSecond: number | null;
  /** Null for no limit. */
  readonly inAll: number | null;
}

/** The clock and the wait; replaced in tests. */
export interface Pacing {
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

export const systemPacing: Pacing = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

export class CallBudget {
  readonly #limits: CallLimits;
  readonly #pacing: Pacing;
  #calls = 0;
  #nextMs = 0;

  constructor(limits: CallLimits, pacing: Pacing = systemPacing) {
    this.#limits = limits;
    this.#pacing = pacing;
  }

  /** Calls so far. */
  get calls(): number {
    return this.#calls;
  }

  /**
   * Resolves when the next call may go out. Calls are spaced evenly, so that no second has more than its share.
   * @throws CallBudgetSpent
   */
  async take(): Promise<void> {
    const { perSecond, inAll } = this.#limits;
    if (inAll !== null && this.#calls >= inAll) throw new CallBudgetSpent(inAll);
    this.#calls++;
    if (perSecond === null) return;
    const now = this.#pacing.now();
    const at = Math.max(now, this.#nextMs);
    this.#nextMs = at + 1_000 / perSecond;
    if (at > now) await this.#pacing.pause(at - now);
  }
}
