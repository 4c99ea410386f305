/**
 * How far a read model reaches into the log. Checked before a caller learns that something does not exist: while the
 * model is behind, halted or being rebuilt, the missing data may still arrive.
 */
import type { EventLog } from '../storage/event-log.ts';
import type { ProjectionRunner } from './runner.ts';

export interface Freshness {
  /** Whether it has reached the head of the log since this process started, so it is not being built from scratch. */
  readonly wasBuilt: boolean;
  /**
   * Whether it shows everything that was in the log at the time of the call. Waits briefly if it does not yet.
   * @throws StorageFailure
   */
  showsEverything(): Promise<boolean>;
}

/** For a model that never changes. */
export const COMPLETE: Freshness = { wasBuilt: true, showsEverything: async () => true };

/**
 * How long a healthy model needs at most to pass the latest write, in milliseconds. On EventStoreDB, a process that does
 * not run the projection learns of unrelated events after about 300 ms.
 */
const PATIENCE_MS = 1_000;
/** Divides the wait: if the whole process stalls for a moment, only one part is used up. */
const PARTS = 5;

export interface FreshnessOptions {
  readonly log: Pick<EventLog, 'head'>;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly projection: string;
  /** Milliseconds; one second by default. */
  readonly patienceMs?: number | undefined;
}

/**
 * Reads the log as rarely as possible: one check runs at a time and serves all callers that came before it started.
 * Callers that come while it waits in vain get its result.
 */
export function createFreshness({ log, runner, projection, patienceMs = PATIENCE_MS }: FreshnessOptions): Freshness {
  let wasBuilt = false;
  let looking: Promise<boolean> | null = null;

  async function look(): Promise<boolean> {
    const head = await log.head();
    let reached = head === null;
    for (let part = 0; head !== null && !reached && part < PARTS; part++) {
      reached = await runner.waitFor(projection, head, patienceMs / PARTS);
    }
    wasBuilt ||= reached;
    return reached;
  }

  return {
    get wasBuilt() {
      return wasBuilt;
    },
    async showsEverything() {
      // The running check saw an earlier head. If that was not reached, the present one is not either.
      if (looking !== null && !(await looking)) return false;
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/** For questions that all exist before the first is answered: checks only once. */
export function askedOnce(freshness: Freshness): Freshness {
  let asked: Promise<boolean> | null = null;
  return {
    get wasBuilt() {
      return freshness.wasBuilt;
    },
    showsEverything() {
      asked ??= freshness.showsEverything();
      return asked;
    },
  };
}
