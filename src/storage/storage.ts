/** The three stores together, whatever engines are under them. */
import type { EventLog } from './event-log.ts';
import type { PayloadStore } from './payload-store.ts';
import type { ReadStore } from './read-store.ts';

export interface Storage {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  /** Bytes that can still be written, or null where nobody can say; left out where the engines are elsewhere. */
  freeBytes?(): Promise<number | null>;
  /** Ends what is under way, then closes all three. */
  close(): Promise<void>;
}
