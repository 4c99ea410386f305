/**
 * The whole log as lines of JSON that a program outside the service can check (docs/design/audit.md#exported-log). Holds
 * one batch at a time, however long the log is.
 */
import { LOG_HEAD_STREAM, LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../events/log-identity.ts';
import { signedNote, verifierKeyOf } from '../../events/log-note.ts';
import { LogTree, leafOf } from '../../events/log-tree.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import type { RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import { storedEvent, Unreadable } from '../verify/stored-json.ts';
import { exportedEvent } from './exported-event.ts';

/** Names the format in the first and in the last line. */
const FORMAT = 'docket-log';
const VERSION = 1;

/** The newest head of an exported log, as text that `docket audit head` prints too. */
interface NewestHead {
  readonly note: string;
  /** The key that signed it, as programs for signed notes take it. */
  readonly key: string;
}

/**
 * A line that names the log, one for each event in log order, and one with the count, the tree's root and the newest
 * signed head; in parts of one or more whole lines.
 * @param until position of the last event, so that a running service may go on writing; null in an empty log
 * @throws UnreadableEvent at the first event that `docket audit verify` calls unreadable: written anew, it could pass
 */
export async function* rawLog(
  log: Pick<RawEventLog, 'read' | 'find'>,
  until: Position | null,
  exportedAt: Instant,
): AsyncIterable<string> {
  const first = await log.find(LOG_IDENTITY_STREAM, 0);
  const founded = first && readable(first);
  const logId = founded?.type === LogFounded.type ? String(founded.data.logId) : null;
  yield lineOf({ format: FORMAT, version: VERSION, log_id: logId, exported_at: exportedAt, head: until });
  const tree = new LogTree();
  const heads = new NewestHeads(logId);
  if (until !== null) {
    for await (const { events } of log.read(null, until)) {
      let text = '';
      for (const raw of events) {
        const event = readable(raw);
        text += lineOf(exportedEvent(event));
        tree.add(leafOf({ stream: event.stream, revision: event.revision, hash: event.metadata.hash }));
        heads.see(event);
      }
      if (text !== '') yield text;
    }
  }
  const end = { end: FORMAT, events: tree.size, root: tree.root().toString('hex'), signed_head: heads.newest };
  yield lineOf(end);
}

function readable(raw: RawEvent): RecordedEvent {
  try {
    return storedEvent(raw).event;
  } catch (error) {
    if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
    const { type, stream, revision, position } = raw;
    throw new UnreadableEvent({ type, stream, revision, position }, error.message, { cause: error });
  }
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** Remembers the newest head. It checks nothing: the reader of the export does. */
class NewestHeads {
  readonly #logId: string | null;
  readonly #keys = new Map<number, string>();
  newest: NewestHead | null = null;

  constructor(logId: string | null) {
    this.#logId = logId;
  }

  see({ stream, type, data }: RecordedEvent): void {
    if (stream !== LOG_HEAD_STREAM || this.#logId === null) return;
    if (type === LogHeadKeyIntroduced.type) {
      const introduced = LogHeadKeyIntroduced.schema.safeParse(data).data;
      if (introduced) this.#keys.set(introduced.masterVersion, introduced.publicKey);
    }
    if (type !== LogHeadRecorded.type) return;
    const head = LogHeadRecorded.schema.safeParse(data).data;
    const key = head && this.#keys.get(head.masterVersion);
    if (key) this.newest = { note: signedNote(head, this.#logId, key), key: verifierKeyOf(this.#logId, key) };
  }
}
