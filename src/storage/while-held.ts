/** The loop of a process that works under a lease: one node works, the others wait for the lease. */
import { pause } from '../runtime/pause.ts';
import { HeldLease, LeaseLost, type LeaseOptions } from './held-lease.ts';

const LONGEST_BACK_OFF_MS = 5_000;

export interface HeldWork {
  readonly lease: LeaseOptions;
  /** Ends the loop after the current work, which also receives it. */
  readonly signal: AbortSignal;
  /**
   * Works until it is done or its signal aborts. The signal also aborts if the lease is lost.
   * @param progressed call it after progress, so that earlier failures no longer count
   */
  readonly work: (lease: HeldLease, signal: AbortSignal, progressed: () => void) => Promise<void>;
  /** Before each pause while another node has the lease. */
  readonly standBy?: () => Promise<void>;
  /** Between two attempts to acquire the lease, milliseconds; a function of how many have failed since it was held. */
  readonly standByMs: number | ((looks: number) => number);
  /** After work that ended by itself, milliseconds; 0 if omitted. */
  readonly restMs?: number;
  /** The lease, the work or `standBy` failed. Not called for a lost lease. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds before a retry; if omitted, 100 after the first failure, doubled up to 5,000. */
  readonly backOffMs?: (failures: number) => number;
  /** The lease was lost: another node works now. */
  readonly lost?: () => void;
  /** Called after each attempt, before the lease is released. */
  readonly ended?: () => void;
}

/** Runs until the signal aborts. Never throws. */
export async function whileHeld(held: HeldWork): Promise<void> {
  const { lease: options, signal, standByMs, restMs = 0, backOffMs = backOff } = held;
  let failures = 0;
  let looks = 0;
  while (!signal.aborted) {
    let lease: HeldLease | null = null;
    let pauseMs = restMs;
    try {
      lease = await HeldLease.acquire(options);
      if (lease) {
        looks = 0;
        await held.work(lease, AbortSignal.any([signal, lease.lost]), () => {
          failures = 0;
        });
        failures = 0;
      } else {
        looks++;
        pauseMs = typeof standByMs === 'number' ? standByMs : standByMs(looks);
        await held.standBy?.();
      }
    } catch (error) {
      if (error instanceof LeaseLost) held.lost?.();
      else held.failed(error);
      failures++;
      pauseMs = backOffMs(failures);
    } finally {
      held.ended?.();
      await lease?.release().catch((error: unknown) => held.failed(error));
    }
    if (pauseMs > 0) await pause(pauseMs, signal);
  }
}

const backOff = (failures: number): number => Math.min(LONGEST_BACK_OFF_MS, 50 * 2 ** failures);
