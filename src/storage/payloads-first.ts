/** An event log and a payload store that are two engines, so that no transaction spans both. */
import type { EventLog } from './event-log.ts';
import type { PayloadStore } from './payload-store.ts';
import { StorageFailure } from './storage-failure.ts';

/**
 * The same log, which takes appends with payloads: it stores those first, so that no event ever names what is not
 * there. Where the append is refused they stay behind, named by nothing, for the caller to remove.
 */
export function withPayloadsFirst(log: EventLog, payloads: Pick<PayloadStore, 'store'>): EventLog {
  return {
    async append({ payloads: along = [], ...append }) {
      try {
        await Promise.all(along.map((payload) => payloads.store(payload)));
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        // Whatever became of the payloads: of the append nothing was even sent.
        throw new StorageFailure(error.code, error.message, { cause: error, nothingWritten: true });
      }
      return log.append(append);
    },
    read: (stream, options) => log.read(stream, options),
    readAll: (from, filter) => log.readAll(from, filter),
    subscribe: (from, filter, signal) => log.subscribe(from, filter, signal),
    head: () => log.head(),
    countAfter: (from, limit) => log.countAfter(from, limit),
    doubts: () => log.doubts?.() ?? 0,
    check: () => log.check(),
    close: () => log.close(),
  };
}
