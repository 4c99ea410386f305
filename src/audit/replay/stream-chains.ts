/** Checks revisions and hashes of the events that a reader gets in log order (docs/design/event-log.md#hash-chain). */
import { type EventPlace, UnreadableEvent } from '../../events/unreadable-event.ts';
import type { EventLog, RecordedEvent } from '../../storage/event-log.ts';
import { hashEvent } from '../../storage/prepare-append.ts';

/** Streams whose newest event is remembered. The newest event of any other stream is read again when needed. */
const REMEMBERED = 100_000;

interface Link {
  readonly revision: number;
  /** Null if it cannot be read, so that the next event's hash cannot be checked. */
  readonly hash: string | null;
}

const BEFORE_THE_FIRST: Link = { revision: -1, hash: '' };

export class StreamChains {
  readonly #log: Pick<EventLog, 'read'>;
  readonly #remembered: number;
  readonly #newest = new Map<string, Link>();

  constructor(log: Pick<EventLog, 'read'>, remembered = REMEMBERED) {
    this.#log = log;
    this.#remembered = remembered;
  }

  /** What does not hold at this event; null if its revision and hash follow from the event before it. */
  async check(event: RecordedEvent): Promise<string | null> {
    const { stream, revision, metadata } = event;
    const previous = await this.#before(stream, revision);
    this.#remember(stream, { revision, hash: metadata.hash });
    if (previous === null) return `revision ${revision - 1} is missing before it`;
    if (revision > previous.revision + 1) return `revision ${previous.revision + 1} is missing before it`;
    if (revision <= previous.revision) return `it follows revision ${previous.revision}`;
    if (previous.hash === null || hashOf(previous.hash, event) === metadata.hash) return null;
    return 'its hash does not match its content and the event before it';
  }

  /** Notes an event that cannot be read, so that the next one is not reported as following a gap. */
  skip({ stream, revision }: EventPlace): void {
    if (stream !== undefined && revision !== undefined) this.#remember(stream, { revision, hash: null });
  }

  async #before(stream: string, revision: number): Promise<Link | null> {
    const known = this.#newest.get(stream);
    if (known) return known;
    if (revision === 0) return BEFORE_THE_FIRST;
    try {
      const [read] = await this.#log.read(stream, { from: revision - 1, limit: 1 });
      return read?.revision === revision - 1 ? { revision: read.revision, hash: read.metadata.hash } : null;
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      return { revision: revision - 1, hash: null };
    }
  }

  #remember(stream: string, link: Link): void {
    // Removed first, so that the map's order is that of the last use.
    this.#newest.delete(stream);
    this.#newest.set(stream, link);
    if (this.#newest.size <= this.#remembered) return;
    for (const oldest of this.#newest.keys()) {
      this.#newest.delete(oldest);
      return;
    }
  }
}

/** Null if the event holds values that have no canonical form. */
function hashOf(previous: string, event: RecordedEvent): string | null {
  try {
    return hashEvent(previous, event);
  } catch {
    return null;
  }
}
