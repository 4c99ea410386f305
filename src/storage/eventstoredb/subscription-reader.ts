/**
 * Reads a client subscription at the reader's own pace and in the true order. The client announces checkpoints and the
 * end of the catch-up by callbacks, ahead of events that it still buffers. Here, each announcement waits until the
 * events before it were read.
 */
import type { AllStreamResolvedEvent, AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client';
import type { EventFilter, Position } from '../event-log.ts';
import { SubscriptionDropped } from './failures.ts';
import { serverFilter } from './filters.ts';
import { positionText, readFrom } from './positions.ts';

export type Taken =
  | { readonly kind: 'event'; readonly event: NonNullable<AllStreamResolvedEvent['event']> }
  /** The filter has seen everything up to here. */
  | { readonly kind: 'checkpoint'; readonly position: Position }
  | { readonly kind: 'caughtUp' }
  /** The subscription was dropped, with or without an error. */
  | { readonly kind: 'dropped'; readonly error: Error };

interface Announcement {
  /** How many events come before the announcement. */
  readonly after: number;
  readonly what: Taken;
}

/** Events that are buffered here for their reader; the rest waits at the server. */
const MOST_BUFFERED = 128;

export class SubscriptionReader {
  readonly #subscription: AllStreamSubscription;
  readonly #announcements: Announcement[] = [];
  #taken = 0;
  #dropped: Error | null = null;
  #wake: (() => void) | null = null;
  #changed = false;

  constructor(client: EventStoreDBClient, from: Position, filter: EventFilter) {
    this.#subscription = client.subscribeToAll(
      {
        fromPosition: readFrom(from),
        requiresLeader: true,
        filter: serverFilter(filter, (_, position) =>
          this.#announce({ kind: 'checkpoint', position: positionText(position) }),
        ),
      },
      { highWaterMark: MOST_BUFFERED },
    );
    this.#subscription
      .on('caughtUp', () => this.#announce({ kind: 'caughtUp' }))
      .on('error', (error) => this.#drop(error))
      .on('end', () => this.#drop(new SubscriptionDropped('the subscription ended without an error')))
      .on('close', () => this.#drop(new SubscriptionDropped('the subscription was closed')))
      .on('readable', () => this.#notify());
  }

  /** The next item; null if none has arrived yet. */
  take(): Taken | null {
    const [next] = this.#announcements;
    if (next && next.after <= this.#taken) {
      this.#announcements.shift();
      return next.what;
    }
    for (;;) {
      const resolved: AllStreamResolvedEvent | null = this.#subscription.read();
      if (!resolved) break;
      this.#taken++;
      if (resolved.event) return { kind: 'event', event: resolved.event };
    }
    return this.#dropped && { kind: 'dropped', error: this.#dropped };
  }

  /** Resolves when `take` may have something, or after this many milliseconds. */
  async changed(milliseconds: number): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    this.#changed = false;
  }

  /** Wakes the callers that wait in `changed`. */
  wake(): void {
    this.#notify();
  }

  /** Ends the call. A subscription that is merely left stays open, and a connection carries only a hundred calls. */
  close(): void {
    this.#dropped ??= new SubscriptionDropped('the subscription was closed');
    void this.#subscription.unsubscribe().catch(() => undefined);
    // Received data must still be read; until then a call that the server has ended does not end here.
    this.#subscription.removeAllListeners('readable').resume();
  }

  #announce(what: Taken): void {
    this.#announcements.push({ after: this.#taken + this.#subscription.readableLength, what });
    this.#notify();
  }

  #drop(error: Error): void {
    this.#dropped ??= error;
    this.#notify();
  }

  #notify(): void {
    this.#changed = true;
    this.#wake?.();
  }
}
