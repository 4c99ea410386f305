/**
 * What time it was when an event was appended, from the events before it: an insider may write any time into an event,
 * and the clock of a node may be wrong (docs/design/audit.md#time-limits).
 */
import type { JsonObject } from '../events/event.ts';
import { type Instant, toMicros } from '../runtime/instant.ts';
import { DUE_WITHIN } from './rules/limits.ts';

export interface Span extends JsonObject {
  readonly from: Instant;
  readonly to: Instant;
}

export interface LogTimeState extends JsonObject {
  readonly newest: Instant | null;
  readonly silences: readonly Span[] & JsonObject[];
}

export class LogTime {
  #newest: Instant | null;
  #silences: Span[];

  constructor({ newest, silences }: LogTimeState = { newest: null, silences: [] }) {
    this.#newest = newest;
    this.#silences = [...silences];
  }

  /** The newest time so far; null before the first event. */
  get newest(): Instant | null {
    return this.#newest;
  }

  /** Times of more than a day without any event, as long as the service was stopped. */
  get silences(): readonly Span[] {
    return this.#silences;
  }

  /** The next event of the log. */
  note(at: Instant): void {
    const last = this.#silences.at(-1);
    if (this.#newest === null) this.#newest = at;
    else if (last && at < last.to && at > last.from && !isLong(last.to, this.#newest)) this.#shorten(last, at);
    else if (at > this.#newest) {
      if (isLong(this.#newest, at)) this.#silences.push({ from: this.#newest, to: at });
      this.#newest = at;
    }
  }

  /** The clock that ended the silence was ahead. */
  #shorten({ from }: Span, to: Instant): void {
    this.#silences.pop();
    if (isLong(from, to)) this.#silences.push({ from, to });
    this.#newest = to;
  }

  toJson(): LogTimeState {
    return { newest: this.#newest, silences: this.#silences };
  }
}

/** Most events are of the day of the one before, and there are millions. */
const isLong = (from: Instant, to: Instant): boolean =>
  from.slice(0, 10) !== to.slice(0, 10) && toMicros(to) - toMicros(from) > DUE_WITHIN;
