/**
 * Keeps the calls to one endpoint within what its plan allows in a second, and half of them for what was sold already:
 * broadcasts, looks for an outcome, recovery. However much comes in, a payment that is claimed can be settled.
 */

/** Who calls: `reserved` may use every call, `intake` half of them. */
export type PaceShare = 'reserved' | 'intake';

const WINDOW_MS = 1_000;
const INTAKE_PART = 0.5;

interface Waiting {
  go(admitted: boolean): void;
}

export class RpcPace {
  readonly #most: Readonly<Record<PaceShare, number>>;
  /** When calls of the last second went out, by the monotonic clock: all of them, and those of the intake. */
  readonly #sent: Readonly<Record<PaceShare, number[]>> = { reserved: [], intake: [] };
  readonly #waiting: Readonly<Record<PaceShare, Set<Waiting>>> = { reserved: new Set(), intake: new Set() };
  #timer: NodeJS.Timeout | undefined;

  /** @param callsPerSecond at least 2 */
  constructor(callsPerSecond: number) {
    this.#most = { reserved: callsPerSecond, intake: Math.max(1, Math.floor(callsPerSecond * INTAKE_PART)) };
  }

  /** @returns true once the call may go out; false where that takes longer than so many milliseconds */
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

  /** What is reserved goes first; of each share, who came first. */
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
