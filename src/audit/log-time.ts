/**
 * What time it was when an event was appended, from the events before it: an insider may write any time into an event,
 * and the clock of a node may be wrong (docs/design/audit.md#time-limits).
 */
import { DeliveryAttemptStarted, DeliveryScheduled } from '../events/delivery.ts';
import type { JsonObject } from '../events/event.ts';
import { LogHeadRecorded } from '../events/log-head.ts';
import { PaymentAuthorized, PaymentFinalized, PaymentSettled, PaymentSubmitted } from '../events/payment.ts';
import { type Instant, type Micros, toMicros } from '../runtime/instant.ts';
import { CountedTime, type CountedTimeState } from './counted-time.ts';
import { AT_WORK_WITHIN, DUE_WITHIN, OWED_WITHIN } from './rules/limits.ts';

export interface Span extends JsonObject {
  readonly from: Instant;
  readonly to: Instant;
}

export interface LogTimeState extends JsonObject {
  readonly newest: Instant | null;
  readonly silences: readonly Span[] & JsonObject[];
  readonly passed: CountedTimeState;
  readonly worked: CountedTimeState;
}

/** A moment of the log, as what has passed until then. */
export interface LogMoment extends JsonObject {
  /** Without times of more than a day without any event. */
  readonly passed: Micros;
  /** Only while a running service recorded something every quarter of an hour. */
  readonly worked: Micros;
}

/** Only a running service records these: commands of an operator, such as an import, also work while it is stopped. */
const WORK: ReadonlySet<string> = new Set([
  PaymentAuthorized.type,
  PaymentSubmitted.type,
  PaymentSettled.type,
  PaymentFinalized.type,
  DeliveryScheduled.type,
  DeliveryAttemptStarted.type,
  LogHeadRecorded.type,
]);

/**
 * Whether what takes moments was done too late: after more than an hour in which the service demonstrably worked, or
 * after more than a day in which the log had events at all.
 */
export const isOwedTooLong = (from: LogMoment, to: LogMoment): boolean =>
  to.worked - from.worked > OWED_WITHIN || to.passed - from.passed > DUE_WITHIN;

export class LogTime {
  #newest: Instant | null;
  #silences: Span[];
  readonly #passed: CountedTime;
  readonly #worked: CountedTime;

  constructor(state?: LogTimeState) {
    this.#newest = state?.newest ?? null;
    this.#silences = [...(state?.silences ?? [])];
    this.#passed = new CountedTime(DUE_WITHIN, state?.passed);
    this.#worked = new CountedTime(AT_WORK_WITHIN, state?.worked);
  }

  /** The newest time so far; null before the first event. */
  get newest(): Instant | null {
    return this.#newest;
  }

  /** Times of more than a day without any event, as long as the service was stopped. */
  get silences(): readonly Span[] {
    return this.#silences;
  }

  /** The moment of an event that comes next. */
  momentAt(at: Instant): LogMoment {
    return { passed: this.#passed.at(at), worked: this.#worked.at(at) };
  }

  /** The next event of the log. */
  note(at: Instant, type: string): void {
    this.#passed.note(at);
    if (WORK.has(type)) this.#worked.note(at);
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
    const [passed, worked] = [this.#passed.toJson(), this.#worked.toJson()];
    return { newest: this.#newest, silences: this.#silences, passed, worked };
  }
}

/** Most events are of the day of the one before, and there are millions. */
const isLong = (from: Instant, to: Instant): boolean =>
  from.slice(0, 10) !== to.slice(0, 10) && toMicros(to) - toMicros(from) > DUE_WITHIN;
