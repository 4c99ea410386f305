/** The heads that the log records, and which of them proves an event (docs/design/audit.md#proofs). */
import { decodeEvent } from '../../events/codec.ts';
import type { EventOf } from '../../events/event.ts';
import {
  LOG_HEAD_STREAM,
  type LogHeadAnchored,
  type LogHeadEvent,
  type LogHeadRecorded,
} from '../../events/log-head.ts';
import type { ReadableLog } from '../readable-log.ts';

export type RecordedHead = EventOf<typeof LogHeadRecorded>['data'] & { readonly publicKey: string };
export type Anchor = EventOf<typeof LogHeadAnchored>['data'];

export interface Covering {
  readonly head: RecordedHead;
  /** The first one of this head or of a later one. */
  readonly anchor: Anchor | null;
}

const PAGE = 1000;

/**
 * The smallest head that covers a number of events, with the first anchor that covers the head.
 * @returns null if no head covers so many events yet
 * @throws UnreadableEvent for an event that this service did not write
 */
export async function headCovering(log: ReadableLog, events: number): Promise<Covering | null> {
  const keys = new Map<number, string>();
  let head: RecordedHead | null = null;
  let page = await log.read(LOG_HEAD_STREAM, { limit: PAGE });
  while (page.length > 0) {
    for (const { type, data } of page.map((event) => decodeEvent(event) as LogHeadEvent)) {
      if (type === 'LogHeadKeyIntroduced') keys.set(data.masterVersion, data.publicKey);
      if (type === 'LogHeadAnchored' && head !== null && data.size >= head.size) return { head, anchor: data };
      if (type === 'LogHeadRecorded' && head === null && data.size >= events) {
        const publicKey = keys.get(data.masterVersion);
        if (publicKey !== undefined) head = { ...data, publicKey };
      }
    }
    const from: number = (page.at(-1)?.revision ?? 0) + 1;
    page = await log.read(LOG_HEAD_STREAM, { from, limit: PAGE });
  }
  return head && { head, anchor: null };
}
