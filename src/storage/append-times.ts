/** Times the appends to a log. */
import { type EventLog, RevisionConflict } from './event-log.ts';

/** `conflict`: another writer of the stream was first, which is part of normal operation. */
export type AppendOutcome = 'ok' | 'conflict' | 'failed';

/** @param ended never throws */
export function withAppendTimes(log: EventLog, ended: (outcome: AppendOutcome, seconds: number) => void): EventLog {
  const { readLeaves, doubts } = log;
  return {
    async append(append) {
      const began = performance.now();
      const end = (outcome: AppendOutcome): void => ended(outcome, (performance.now() - began) / 1000);
      try {
        const appended = await log.append(append);
        end('ok');
        return appended;
      } catch (error) {
        end(error instanceof RevisionConflict ? 'conflict' : 'failed');
        throw error;
      }
    },
    read: (stream, options) => log.read(stream, options),
    readAll: (from, filter) => log.readAll(from, filter),
    ...(readLeaves && { readLeaves: (from) => readLeaves.call(log, from) }),
    subscribe: (from, filter, signal) => log.subscribe(from, filter, signal),
    head: () => log.head(),
    countAfter: (from, limit) => log.countAfter(from, limit),
    ...(doubts && { doubts: () => doubts.call(log) }),
    check: () => log.check(),
    close: () => log.close(),
  };
}
