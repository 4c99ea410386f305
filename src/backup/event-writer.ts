/** Appends recorded events as they are: the same ids, hashes, revisions and order. */
import { dataText } from '../storage/checked-append.ts';
import { type EventLog, MAX_APPEND_BYTES, type RecordedEvent } from '../storage/event-log.ts';

/** Keeps one append, and its time in a transaction, short. */
const MOST_EVENTS = 500;
/** The embedded engine commits waiting appends together, in the order in which they were made. */
const AT_ONCE = 200;

export class EventWriter {
  readonly #log: Pick<EventLog, 'append'>;
  readonly #atOnce: number;
  #group: RecordedEvent[] = [];
  #bytes = 0;
  #running: Promise<unknown>[] = [];

  /** @param ordered whether the engine keeps the order of appends that are made without waiting */
  constructor(log: Pick<EventLog, 'append'>, ordered: boolean) {
    this.#log = log;
    this.#atOnce = ordered ? AT_ONCE : 1;
  }

  /** Consecutive events of one stream become one append. */
  async add(event: RecordedEvent): Promise<void> {
    const bytes = Buffer.byteLength(dataText(event.data));
    const last = this.#group.at(-1);
    const follows = last?.stream === event.stream && last.revision + 1 === event.revision;
    if (!follows || this.#bytes + bytes > MAX_APPEND_BYTES || this.#group.length >= MOST_EVENTS) await this.#send();
    this.#group.push(event);
    this.#bytes += bytes;
  }

  async flush(): Promise<void> {
    await this.#send();
    await this.#settle();
  }

  async #send(): Promise<void> {
    const [first] = this.#group;
    if (!first) return;
    const events = this.#group.map(({ position: _, ...event }) => event);
    this.#group = [];
    this.#bytes = 0;
    this.#running.push(this.#log.append({ stream: first.stream, expected: first.revision - 1, events }));
    if (this.#running.length >= this.#atOnce) await this.#settle();
  }

  async #settle(): Promise<void> {
    const running = this.#running;
    this.#running = [];
    // All of them have ended before the first failure is passed on.
    const failed = (await Promise.allSettled(running)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
