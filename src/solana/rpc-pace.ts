/**
 * Limits the calls to one endpoint to what its plan allows per second. Half of them are reserved for sold queries:
 * broadcasts, checks of an outcome, recovery. So a claimed payment can be settled under any load.
 */

/** Which share a call belongs to: `reserved` may use every call, `intake` half of them. */
export type PaceShare = 'reserved' | 'intake';

const WINDOW_MS = 1_000;
const INTAKE_PART = 0.5;

interface Waiting {
  go(admitted: boolean): void;
}

export class RpcPace {
  readonly #most: Readonly<Record<PaceShare, number>>;
  /** When the calls of the last second went out, by the monotonic clock: all of them, and those of the intake. */
  readonly #sent: Readonly<Record<PaceShare, number[]>> = { reserved: [], intake: [] };
  readonly #waiting: Readonly<Record<PaceShare, Set<Waiting>>> = { reserved: new Set(), intake: new Set() };
  #timer: NodeJS.Timeout | undefined;

  /** @param callsPerSecond at least 2 */
  constructor(callsPerSecond: number) {
    this.#most = { reserved: callsPerSecond, intake: Math.max(1, Math.floor(callsPerSecond * INTAKE_PART)) };
  }

  /** @returns true once the call may go out; false if that takes longer than this many milliseconds */
  turn(share: PaceShare, patienceMs: number): Promise<boolean> {
    if (this.#waiting[share].size === 0 && this.#admit(share)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        go: (admitted) => {
          clearTimeout(late);
          this.#waiting[share].delete(waiting);
          resolve(admitted);
        },
      };
      const late = setTimeout(() => waiting.go(false), patienceMs);
      this.#waiting[share].add(waiting);
      this.#schedule();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const share of ['reserved', 'intake'] as const) for (const { go } of [...this.#waiting[share]]) go(false);
  }

  #admit(share: PaceShare): boolean {
    const now = performance.now();
    for (const sent of Object.values(this.#sent)) {
      let past = 0;
      while (past < sent.length && now - (sent[past] ?? now) >= WINDOW_MS) past++;
      sent.splice(0, past);
    }
    const { reserved: all, intake } = this.#sent;
    if (all.length >= this.#most.reserved) return false;
    if (share === 'intake' && intake.length >= this.#most.intake) return false;
    all.push(now);
    if (share === 'intake') intake.push(now);
    return true;
  }

  /** Reserved calls go first; within each share, in the order of arrival. */
  #pump(): void {
    for (const share of ['reserved', 'intake'] as const) {
      for (const { go } of this.#waiting[share]) {
        if (!this.#admit(share)) break;
        go(true);
      }
    }
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { reserved, intake } = this.#waiting;
    if (reserved.size + intake.size === 0) return;
    const full = this.#sent.reserved.length >= this.#most.reserved;
    const [oldest = 0] = full || reserved.size > 0 ? this.#sent.reserved : this.#sent.intake;
    this.#timer = setTimeout(() => this.#pump(), Math.max(1, oldest + WINDOW_MS - performance.now()));
  }
}
