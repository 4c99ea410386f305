/**
 * Reads the stream of the heads from its end: it grows by an event a minute, and only its end matters to those who
 * write it.
 */
import { decodeEvent } from '../../events/codec.ts';
import type { EventOf } from '../../events/event.ts';
import { LOG_HEAD_STREAM, LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import type { EventLog, RecordedEvent } from '../../storage/event-log.ts';
import { folded, type Loaded } from '../handle.ts';
import { type LogHead, type LogHeads, logHeads } from './log-head.ts';

type Readable = Pick<EventLog, 'read'>;

export type LogHeadKey = EventOf<typeof LogHeadKeyIntroduced>['data'];

const FIRST_PAGE = 64;
const LARGEST_PAGE = 4_096;

/** The newest heads, and what the next writer needs. */
export interface NewestHeads extends Loaded<LogHeads> {
  /** The head before the newest; null if there is none. */
  readonly previous: LogHead | null;
}

/**
 * @param isEnough whether the events read so far, oldest first, go back far enough; until the two newest heads if omitted
 * @throws the errors of the log
 */
export async function loadNewestHeads(
  log: Readable,
  isEnough: (events: readonly RecordedEvent[]) => boolean = (events) => events.filter(isHead).length >= 2,
): Promise<NewestHeads> {
  let events: readonly RecordedEvent[] = [];
  for await (const page of pagesFromEnd(log, LOG_HEAD_STREAM)) {
    events = [...page, ...events];
    if (isEnough(events)) break;
  }
  const { state, head } = folded(logHeads, events);
  const previous = events.filter(isHead).at(-2);
  return { state, head, previous: previous ? headOf(previous) : null };
}

/**
 * The public key that signed the head at a revision of the stream: the newest introduction of its version before it.
 * Null if there is none.
 */
export async function publicKeyAt(log: Readable, masterVersion: number, revision: number): Promise<string | null> {
  for await (const key of keysBefore(log, revision)) if (key.masterVersion === masterVersion) return key.publicKey;
  return null;
}

/** The keys that signed heads up to a revision of the stream, the newest first. */
export async function* keysBefore(log: Readable, revision: number): AsyncIterable<LogHeadKey> {
  for await (const page of pagesFromEnd(log, LOG_HEAD_STREAM, revision)) {
    for (const recorded of [...page].reverse()) {
      if (recorded.type === LogHeadKeyIntroduced.type) yield decodeEvent(recorded).data as LogHeadKey;
    }
  }
}

export const isHead = ({ type }: Pick<RecordedEvent, 'type'>): boolean => type === LogHeadRecorded.type;

/** @param recorded a `LogHeadRecorded` */
export const headOf = (recorded: RecordedEvent): LogHead => decodeEvent(recorded).data as LogHead;

/** Pages of a stream from its end to its start; the events of each page are oldest first. */
async function* pagesFromEnd(log: Readable, stream: string, newest?: number): AsyncIterable<readonly RecordedEvent[]> {
  let before = (newest ?? (await newestRevision(log, stream))) + 1;
  for (let size = FIRST_PAGE; before > 0; size = Math.min(size * 4, LARGEST_PAGE)) {
    const from = Math.max(0, before - size);
    // The newest page has no limit, because the stream may have grown meanwhile.
    const isOpen = newest === undefined && size === FIRST_PAGE;
    const events = await log.read(stream, isOpen ? { from } : { from, limit: before - from });
    // A damaged log may have any revision behind its end: the stream is continued after its contiguous part.
    yield isOpen ? events.filter(({ revision }, index) => revision === from + index) : events;
    before = from;
  }
}

/** -1 for no stream. Finds the end by doubling and halving, since a stream can be read only forwards. */
async function newestRevision(log: Readable, stream: string): Promise<number> {
  // Compared, because a damaged log may have a far larger revision, to which doubling would never lead.
  const exists = async (revision: number) =>
    (await log.read(stream, { from: revision, limit: 1 }))[0]?.revision === revision;
  let [known, missing] = [-1, 0];
  for (let step = 1; await exists(missing); step *= 2) {
    known = missing;
    missing += step;
  }
  while (missing - known > 1) {
    const middle = Math.floor((known + missing) / 2);
    if (await exists(middle)) known = middle;
    else missing = middle;
  }
  return known;
}
