/** Checks, while a log is read in order, that every stream is complete and every event is the one that was recorded. */
import type { RecordedEvent } from '../storage/event-log.ts';
import { hashEvent } from '../storage/prepare-append.ts';
import type { Scratch, StreamHeads } from './scratch.ts';

type ReadEvent = Omit<RecordedEvent, 'position'>;

export class ChainCheck {
  readonly #heads: StreamHeads;
  readonly #before: (stream: string, revision: number) => Promise<ReadEvent | null>;

  /** @param before finds the event before the first one of a stream, for a check that starts in the middle of a log */
  constructor(
    scratch: Scratch,
    before: (stream: string, revision: number) => Promise<ReadEvent | null> = async () => null,
  ) {
    this.#heads = scratch.streamHeads();
    this.#before = before;
  }

  /** Null if the event is the next of its stream and its hash follows from the one before it; otherwise the problem. */
  async problemOf(event: ReadEvent): Promise<string | null> {
    const { stream, revision, metadata } = event;
    const known = this.#heads.get(stream) ?? (revision > 0 ? await this.#lookUp(stream, revision - 1) : null);
    const expected = known === null ? 0 : known.revision + 1;
    this.#heads.set(stream, { revision, hash: metadata.hash });
    if (revision !== expected) {
      return `stream ${stream}: revision ${revision} follows ${expected - 1 < 0 ? 'nothing' : `revision ${expected - 1}`}`;
    }
    if (hashOrNull(known?.hash ?? '', event) === metadata.hash) return null;
    return `stream ${stream}, revision ${revision}: its hash does not follow from its content and the event before it`;
  }

  async #lookUp(stream: string, revision: number) {
    const found = await this.#before(stream, revision);
    return found && { revision, hash: found.metadata.hash };
  }
}

/** Null for data that is nested too deeply to be hashed; this service writes none. */
function hashOrNull(previous: string, event: ReadEvent): string | null {
  try {
    return hashEvent(previous, event);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
