/** Combines an event log and a payload store of two engines, which no transaction can span. */
import type { EventLog } from './event-log.ts';
import type { PayloadStore } from './payload-store.ts';
import { StorageFailure } from './storage-failure.ts';

/**
 * The same log, which also accepts appends with payloads. It stores the payloads first, so that an event never names
 * missing content. If the append is rejected, they stay behind unreferenced, for the caller to remove.
 */
export function withPayloadsFirst(log: EventLog, payloads: Pick<PayloadStore, 'store'>): EventLog {
  return {
    async append({ payloads: along = [], ...append }) {
      try {
        await Promise.all(along.map((payload) => payloads.store(payload)));
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        // Even if payloads were stored, no part of the append was sent.
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
