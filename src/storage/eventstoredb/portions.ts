/** Groups the events of a subscription into batches. */
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { Position, RecordedEvent } from '../event-log.ts';
import { START_OF_LOG } from './positions.ts';
import { type ClientEvent, recordedEvent } from './recorded-events.ts';
import type { SubscriptionReader } from './subscription-reader.ts';

const MOST_EVENTS = 500;
/** A batch ends with the event that exceeds this size; one event is at most `MAX_APPEND_BYTES`. */
const MOST_CHARACTERS = 2 * 1024 * 1024;
/**
 * While catching up, a batch waits this long for the next event and this long in total: committing a batch costs as
 * much.
 */
const LINGER_MS = 3;
const LONGEST_LINGER_MS = 25;

export interface Portion {
  readonly events: readonly RecordedEvent[];
  /** The position up to which the events and checkpoints reach. */
  readonly position: Position;
  /** Position of the newest delivered event, even if it was already known. */
  readonly newest: Position;
  /** Whether the subscription sent anything. */
  readonly heard: boolean;
  readonly caughtUp: boolean;
  /** Everything up to the requested head was seen. */
  readonly complete: boolean;
  /** More events may be available immediately. */
  readonly full: boolean;
  readonly dropped: Error | null;
}

interface Asked {
  /** Events after this position are excluded; null: none are. */
  readonly head: Position | null;
  readonly linger: boolean;
}

/** Reads the available events, at most one batch, and skips those at or before a position. */
export async function takePortion(reader: SubscriptionReader, after: Position, asked: Asked): Promise<Portion> {
  const filling = new Filling(after, asked.head);
  let portion = filling.takeFrom(reader);
  const until = performance.now() + LONGEST_LINGER_MS;
  while (asked.linger && portion && portion.events.length > 0 && !isEnd(portion) && performance.now() < until) {
    const before = portion.events.length;
    await reader.changed(LINGER_MS);
    portion = filling.takeFrom(reader);
    if (portion.events.length === before) break;
  }
  return portion;
}

const isEnd = ({ caughtUp, complete, full, dropped }: Portion): boolean =>
  caughtUp || complete || full || dropped !== null;

class Filling {
  readonly #head: Position | null;
  readonly #events: RecordedEvent[] = [];
  #position: Position;
  #newest: Position = START_OF_LOG;
  #characters = 0;
  #heard = false;

  constructor(after: Position, head: Position | null) {
    this.#position = after;
    this.#head = head;
  }

  takeFrom(reader: SubscriptionReader): Portion {
    for (;;) {
      const taken = reader.take();
      if (!taken) return this.#portion({});
      if (taken.kind === 'dropped') return this.#portion({ dropped: taken.error });
      this.#heard = true;
      if (taken.kind === 'caughtUp') {
        return this.#portion({ caughtUp: true, complete: this.#head !== null, full: true });
      }
      if (taken.kind === 'checkpoint') {
        this.#position = larger(this.#position, taken.position);
        if (this.#head !== null && this.#position >= this.#head) return this.#portion({ complete: true });
        continue;
      }
      const { recorded, unreadable } = read(taken.event);
      if (unreadable) {
        const { position } = unreadable.place;
        if (position !== undefined && this.#isPastHead(position)) return this.#portion({ complete: true });
        // The events before it are delivered first.
        if (position === undefined || position > this.#position) return this.#portion({ dropped: unreadable });
        continue;
      }
      if (!recorded) continue;
      this.#newest = recorded.position;
      if (this.#isPastHead(recorded.position)) return this.#portion({ complete: true });
      if (recorded.position <= this.#position) continue;
      this.#position = recorded.position;
      this.#events.push(recorded);
      if (recorded.position === this.#head) return this.#portion({ complete: true });
      this.#characters += JSON.stringify(recorded.data).length;
      if (this.#events.length >= MOST_EVENTS || this.#characters >= MOST_CHARACTERS)
        return this.#portion({ full: true });
    }
  }

  /** Whether a position lies past the requested head. */
  #isPastHead(position: Position): boolean {
    return this.#head !== null && position > this.#head;
  }

  #portion(more: Partial<Portion>): Portion {
    return {
      events: this.#events,
      position: this.#position,
      newest: this.#newest,
      heard: this.#heard,
      caughtUp: false,
      complete: false,
      full: false,
      dropped: null,
      ...more,
    };
  }
}

function read(event: ClientEvent): { recorded?: RecordedEvent | null; unreadable?: UnreadableEvent } {
  try {
    return { recorded: recordedEvent(event) };
  } catch (error) {
    if (error instanceof UnreadableEvent) return { unreadable: error };
    throw error;
  }
}

export const larger = (a: Position, b: Position): Position => (a > b ? a : b);
