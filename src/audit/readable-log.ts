/** The methods of a log that exports, reports and proofs need. */
import type { EventLog } from '../storage/event-log.ts';

export type ReadableLog = Pick<EventLog, 'read' | 'readAll'>;
