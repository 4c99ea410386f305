/**
 * How far a read model reaches into the log. Asked before anybody is told that there is none of something: while the
 * model is behind, halted or made anew, what it lacks may only be on its way.
 */
import type { EventLog } from '../storage/event-log.ts';
import type { ProjectionRunner } from './runner.ts';

export interface Reach {
  /** Whether it has been to the head of the log since this process began, so that it is not being made from nothing. */
  readonly wasBuilt: boolean;
  /**
   * Whether it shows everything that was in the log when this was called. Waits shortly where it does not yet.
   * @throws StorageFailure
   */
  showsEverything(): Promise<boolean>;
}

/** Of a model that nothing is ever added to. */
export const COMPLETE: Reach = { wasBuilt: true, showsEverything: async () => true };

/**
 * How long a model that is well may take, at most, to pass what was just written, milliseconds. On EventStoreDB a
 * process that does not run the projection learns of events that are none of its business after some 300.
 */
const PATIENCE_MS = 1_000;
/** It is waited out in so many parts: a moment in which the whole process stands still uses up one of them, not all. */
const PARTS = 5;

export interface ReachOptions {
  readonly log: Pick<EventLog, 'head'>;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly projection: string;
  /** Milliseconds; a second unless given. */
  readonly patienceMs?: number | undefined;
}

/**
 * Looks at the log as rarely as can be, however many ask: one look at a time, which is for all who asked before it began,
 * and who asks while it waits in vain is told what it found.
 */
export function createReach({ log, runner, projection, patienceMs = PATIENCE_MS }: ReachOptions): Reach {
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
      // A look that was under way saw the head as it was before: not reached, nor is the present one.
      if (looking !== null && !(await looking)) return false;
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/** For questions that were all there before the first of them is answered: asks no more than once. */
export function askedOnce(reach: Reach): Reach {
  let asked: Promise<boolean> | null = null;
  return {
    get wasBuilt() {
      return reach.wasBuilt;
    },
    showsEverything() {
      asked ??= reach.showsEverything();
      return asked;
    },
  };
}
