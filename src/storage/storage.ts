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
  /**
   * Overwrites what write-ahead logs still hold of removed content. False if a reader prevents it; omitted if the engines
   * run elsewhere.
   */
  scrub?(): Promise<boolean>;
  /** Finishes running work, then closes all three. */
  close(): Promise<void>;
}
