/** The three stores together, with any engines. */
import type { StorageCopies } from './copies.ts';
import type { EventLog } from './event-log.ts';
import type { PayloadStore } from './payload-store.ts';
import type { ReadStore } from './read-store.ts';

export interface Storage {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly copies: StorageCopies;
  /** Bytes that can still be written, or null if unknown; omitted if the engines run elsewhere. */
  freeBytes?(): Promise<number | null>;
  /** Finishes running work, then closes all three. */
  close(): Promise<void>;
}
