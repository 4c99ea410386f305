/**
 * Processes one delivery: claims what is due, makes the attempt and records it. The log alone decides which process
 * makes an attempt, by the exact expected revision of the claim.
 */

import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import type { MasterKeys } from '../../callbacks/master-keys.ts';
import type { Outbound } from '../../callbacks/outbound/outbound.ts';
import { signatureHeaders } from '../../callbacks/signature.ts';
import { isRejection } from '../../commands/decider.ts';
import {
  type AttemptUnderWay,
  type Delivery,
  type DeliveryCommand,
  type DeliveryRejection,
  delivery,
  type ReceivedOutcome,
} from '../../commands/delivery/delivery.ts';
import { MAX_JITTER } from '../../commands/delivery/schedule.ts';
import { isOver, waitAgain, waitOf } from '../../commands/delivery/wait.ts';
import { folded, handledOf, type Loaded, type Outcome, record } from '../../commands/handle.ts';
import {
  type DeliveryEvent,
  DeliveryRedeliveryRequested,
  DeliveryScheduled,
  deliveryStream,
} from '../../events/delivery.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { pause } from '../../runtime/pause.ts';
import {
  type CommandContext,
  type EventLog,
  type Position,
  type RecordedEvent,
  RevisionConflict,
} from '../../storage/event-log.ts';
import { isDeadOwner } from '../../storage/lease-owner.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import { annotate, failed, inSpan, serverOf } from '../../tracing/span.ts';
import { continuing, NO_TRACES, type Tracer } from '../../tracing/tracer.ts';
import { type Contents, contentsOf } from './contents.ts';
import { type SigningKeys, signingKeysFor } from './keys.ts';

export interface AttemptPorts {
  readonly log: EventLog;
  readonly payloads: Pick<PayloadStore, 'resolve'>;
  readonly clock: Clock;
  readonly outbound: Pick<Outbound, 'post'>;
  readonly masterKeys: MasterKeys;
  newKeyId(): string;
  /** From 0 to 1. */
  random(): number;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** Names the service and its docs. */
  readonly userAgent: string;
  readonly logger: Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
  /** If left out, nothing is traced. */
  readonly tracer?: Tracer;
  /** Whether callbacks to an origin are paused: no attempt is begun then. */
  readonly isPaused?: (origin: string) => boolean;
  /** Called with each attempt that has an outcome. */
  readonly observe?: (attempt: ObservedAttempt) => void;
}

export interface ObservedAttempt {
  /** Null: acknowledged. */
  readonly failureClass: FailureClass | null;
  readonly durationMs: number;
  /** How late the attempt started, compared with its due time. */
  readonly lateMs: number;
}

const ACTOR = 'callback-delivery';
/**
 * Pauses before a record with an unknown outcome is repeated, milliseconds. After them the attempt counts as
 * interrupted.
 */
const RECORD_REPEATS_MS = [50, 250, 1_000, 2_000, 5_000, 10_000] as const;
/** Another process is working on the same delivery: when to check it again. */
const LOOK_AGAIN: Micros = 5 * MICROS_PER_SECOND;

export interface Attended {
  /** When the delivery needs attention next; null if never. */
  readonly next: Micros | null;
  /**
   * The log position up to which this is known; anything that shows an earlier position is outdated. Null if uncertain.
   */
  readonly position: Position | null;
}

/**
 * Does whatever is due for a delivery.
 * @param signal aborts a running attempt, which then counts as interrupted
 * @throws StorageFailure
 */
export async function attendDelivery(ports: AttemptPorts, deliveryId: string, signal: AbortSignal): Promise<Attended> {
  try {
    return await new Attendance(ports, deliveryId, signal).run();
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    return { next: ports.clock.now() + LOOK_AGAIN, position: null };
  }
}

class Attendance {
  readonly #ports: AttemptPorts;
  readonly #deliveryId: string;
  readonly #stream: string;
  readonly #signal: AbortSignal;
  /** Unique per process: two processes that claim the same attempt must conflict and not look like a repeat. */
  readonly #commandId = randomUUID();
  #lastEventId: string | null = null;
  /** Of the event that scheduled the delivery or requested it again. */
  #traceparent: string | undefined;
  #position: Position | null = null;

  constructor(ports: AttemptPorts, deliveryId: string, signal: AbortSignal) {
    this.#ports = ports;
    this.#deliveryId = deliveryId;
    this.#stream = deliveryStream(deliveryId);
    this.#signal = signal;
  }

  async run(): Promise<Attended> {
    const next = await this.#attend();
    return { next, position: this.#position };
  }

  async #attend(): Promise<Micros | null> {
    let known = await this.#waitByPresentClock(await this.#load());
    if (known.state.status === 'none') return null;
    if (known.state.underway) {
      const { underway } = known.state;
      const before = known;
      known = await this.#inTrace('interrupted attempt', () => this.#interrupt(before, underway));
      if (known.state.status === 'none' || known.state.underway) return this.#next(known.state);
    }
    const { clock } = this.#ports;
    const wait = waitOf(known.state);
    const isPaused = this.#ports.isPaused?.(known.state.facts.origin) ?? false;
    if (!wait || !isOver(wait, clock.now()) || isPaused || this.#signal.aborted) return this.#next(known.state);
    const due = { ...known, state: known.state };
    return this.#inTrace('delivery attempt', () => this.#make(due, wait.until));
  }

  /** @param dueAt when the attempt was due */
  async #make(known: Loaded<ScheduledDelivery>, dueAt: Micros): Promise<Micros | null> {
    const { clock } = this.#ports;
    const [keys, contents] = await Promise.all([
      // Before the claim, because no attempt can be made without its secret.
      signingKeysFor(this.#ports, known.state, this.#context(known.state.facts.requestId)),
      contentsOf(this.#ports.payloads, known.state),
    ]);
    const claimed = await this.#claim(known, keys);
    if (!claimed) return clock.now() + LOOK_AGAIN;
    const { underway, loaded, claimedAt } = claimed;
    annotate('docket.delivery.attempt', underway.attempt);
    const lateMs = Math.max(0, (clock.now() - dueAt) / MICROS_PER_MS);
    const outcome = 'unsent' in contents ? contents.unsent : await this.#postInSpan(contents, keys);
    const { failureClass, durationMs, responseCode } = outcome;
    this.#ports.observe?.({ failureClass, durationMs, lateMs });
    const { requestId, origin } = known.state.facts;
    const line = { requestId, deliveryId: this.#deliveryId, host: hostOf(origin), responseCode, failureClass };
    this.#ports.logger.info({ ...line, ms: Math.round(durationMs) }, 'delivery attempt');
    return this.#finish(loaded, underway, outcome, claimedAt);
  }

  /** When the delivery needs attention next. An overdue time is replaced by the present clock's. */
  #next(state: Delivery): Micros | null {
    const wait = waitOf(state);
    const now = this.#ports.clock.now();
    return wait && isOver(wait, now) ? Math.min(wait.until, now) : (wait?.until ?? null);
  }

  async #load(): Promise<Loaded<Delivery>> {
    const recorded = await this.#ports.log.read(this.#stream);
    this.#noteLast(recorded);
    // A command that requests it again may run without traces; the delivery then stays in the trace that it has.
    this.#traceparent = recorded.findLast(
      ({ type, metadata }) => BEGINS.has(type) && metadata.traceparent !== undefined,
    )?.metadata.traceparent;
    return folded(delivery, recorded);
  }

  /** An attempt hours later belongs to the trace of the request that owes the callback. */
  #inTrace<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const { tracer = NO_TRACES } = this.#ports;
    const attributes = { 'docket.delivery_id': this.#deliveryId };
    return continuing(tracer, name, this.#traceparent, work, { kind: 'consumer', attributes });
  }

  #noteLast(recorded: readonly RecordedEvent[]): void {
    const last = recorded.at(-1);
    this.#lastEventId = last?.id ?? null;
    this.#position = last?.position ?? null;
  }

  /** A wait timed by a clock that has since been set back would last longer by that difference. */
  async #waitByPresentClock(known: Loaded<Delivery>): Promise<Loaded<Delivery>> {
    const { clock, logger } = this.#ports;
    const now = clock.now();
    if (known.state.status === 'none' || !waitAgain(known.state, now)) return known;
    const recorded = await this.#record(known, { type: 'Reschedule', now });
    if (isRejection(recorded)) return known;
    logger.debug({ deliveryId: this.#deliveryId }, 'the wait of a delivery starts again: the clock was set back');
    return recorded;
  }

  /** Records an attempt that no process is making any more as interrupted. */
  async #interrupt(known: Loaded<Delivery>, { owner, attempt }: AttemptUnderWay): Promise<Loaded<Delivery>> {
    const { clock, logger } = this.#ports;
    // This process makes one attempt per delivery at a time, so an attempt that it owns but is not making was lost.
    const ownerIsGone = owner === this.#ports.owner || isDeadOwner(owner);
    const recorded = await this.#record(known, {
      type: 'Interrupt',
      now: clock.now(),
      ownerIsGone,
      jitter: this.#jitter(),
    });
    if (isRejection(recorded)) return known;
    logger.info({ deliveryId: this.#deliveryId, attempt }, 'an attempt was interrupted');
    return recorded;
  }

  async #claim(known: Loaded<Delivery>, [{ keyId }]: SigningKeys): Promise<Claimed | null> {
    const { clock, owner } = this.#ports;
    const claimedAt = performance.now();
    const command = { type: 'StartAttempt', now: clock.now(), keyId, owner } as const;
    const recorded = await this.#record(known, command);
    if (isRejection(recorded) || recorded.state.status === 'none' || !recorded.state.underway) return null;
    return { underway: recorded.state.underway, loaded: recorded, claimedAt };
  }

  /** Without path and query, and without the context in a header: receivers get what the interface says, no more. */
  #postInSpan(contents: Sendable, keys: SigningKeys): Promise<ReceivedOutcome> {
    return inSpan(
      'POST',
      async () => {
        const outcome = await this.#post(contents, keys);
        const { responseCode, failureClass } = outcome;
        if (responseCode !== null) annotate('http.response.status_code', responseCode);
        if (failureClass !== null) failed(failureClass);
        return outcome;
      },
      () => ({
        kind: 'client',
        attributes: { 'http.request.method': 'POST', ...serverOf(hostOf(contents.url) ?? '') },
      }),
    );
  }

  async #post({ url, body }: Sendable, keys: SigningKeys): Promise<ReceivedOutcome> {
    const { clock, outbound, userAgent } = this.#ports;
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      ...signatureHeaders({
        body,
        deliveryId: this.#deliveryId,
        idempotencyKey: this.#deliveryId,
        atSeconds: Math.floor(clock.now() / MICROS_PER_SECOND),
        keys,
      }),
    };
    return outbound.post({ url, headers, body, signal: this.#signal });
  }

  async #finish(
    known: Loaded<Delivery>,
    claimed: AttemptUnderWay,
    outcome: ReceivedOutcome,
    claimedAt: number,
  ): Promise<Micros | null> {
    const { clock, logger } = this.#ports;
    const { responseCode, failureClass, durationMs } = outcome;
    const facts = { deliveryId: this.#deliveryId, attempt: claimed.attempt, responseCode, failureClass, durationMs };
    // If the clock is set forward while the receiver responds, the next attempt is not delayed: the duration is
    // measured by the monotonic clock.
    const elapsed = Math.ceil((performance.now() - claimedAt) * MICROS_PER_MS);
    const now = Math.min(clock.now(), toMicros(claimed.startedAt) + elapsed);
    const command = { type: 'FinishAttempt', claimed, outcome, now, jitter: this.#jitter() } as const;
    let recorded = await this.#recordDespiteOthers(known, command);
    if (isRejection(recorded)) {
      // The lease expired first, and another process has recorded an interruption.
      logger.warn(facts, 'the outcome of an attempt came too late to be recorded');
      recorded = { ...known, ...(await this.#load()) };
    }
    if (failureClass === null) logger.debug(facts, 'a callback was delivered');
    else if (failureClass === 'content_damaged')
      logger.warn(facts, 'a callback cannot be sent: its content is damaged');
    else logger.info(facts, 'an attempt to deliver a callback failed');
    return this.#next((await this.#waitByPresentClock(recorded)).state);
  }

  /**
   * An operator may have requested a redelivery in the meantime, so the outcome is decided again on the current stream.
   */
  async #recordDespiteOthers(
    known: Loaded<Delivery>,
    command: DeliveryCommand,
  ): Promise<Loaded<Delivery> | { readonly rejected: DeliveryRejection }> {
    for (let loaded = known; ; ) {
      const outcome = await this.#outcomeOf(loaded, command);
      if (!('unwritten' in outcome) || outcome.unwritten === 'failed') return handledOf(outcome);
      // The event that was written first becomes the cause of the next decision.
      this.#noteLast(outcome.found.recorded);
      loaded = outcome.found;
    }
  }

  /** @throws RevisionConflict if another writer was first */
  async #record(
    known: Loaded<Delivery>,
    command: DeliveryCommand,
  ): Promise<Loaded<Delivery> | { readonly rejected: DeliveryRejection }> {
    return handledOf(await this.#outcomeOf(known, command));
  }

  async #outcomeOf(
    known: Loaded<Delivery>,
    command: DeliveryCommand,
  ): Promise<Outcome<Delivery, DeliveryEvent, DeliveryRejection>> {
    const { log, clock } = this.#ports;
    const requestId = known.state.status === 'none' ? null : known.state.facts.requestId;
    const outcome = await record(
      { log, clock, sleep: (milliseconds) => pause(milliseconds, this.#signal) },
      {
        decider: delivery,
        stream: this.#stream,
        command,
        context: this.#context(requestId),
        known,
        repeatsMs: RECORD_REPEATS_MS,
      },
    );
    if ('recorded' in outcome) this.#position = outcome.recorded.position ?? this.#position;
    return outcome;
  }

  #context(requestId: string | null): CommandContext {
    return {
      commandId: this.#commandId,
      requestId,
      correlationId: requestId ?? this.#deliveryId,
      causationId: this.#lastEventId,
      actor: ACTOR,
    };
  }

  #jitter(): number {
    return this.#ports.random() * MAX_JITTER;
  }
}

type Sendable = Exclude<Contents, { readonly unsent: unknown }>;
type ScheduledDelivery = Exclude<Delivery, { readonly status: 'none' }>;

/** What makes a delivery due anew. */
const BEGINS: ReadonlySet<string> = new Set([DeliveryScheduled.type, DeliveryRedeliveryRequested.type]);

interface Claimed {
  readonly underway: AttemptUnderWay;
  readonly loaded: Loaded<Delivery>;
  /** By the monotonic clock, milliseconds. */
  readonly claimedAt: number;
}

/** Without path and query, which may contain a secret of the receiver. */
const hostOf = (origin: string): string | null => parseUrl(origin)?.host ?? null;
