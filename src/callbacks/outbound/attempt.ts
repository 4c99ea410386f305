/** Tracks one attempt: when it started, which phase it is in, and what ends it early. */
import type { Socket } from 'node:net';
import type { FailureClass } from '../../events/failure-class.ts';
import { AttemptFailure } from './attempt-failure.ts';

export type Phase = 'resolve' | 'connect' | 'secure' | 'exchange';

/** The failure class of a deadline, by the phase that it ended. */
const LATE: Readonly<Record<Phase, FailureClass>> = {
  resolve: 'dns_timeout',
  connect: 'connect_timeout',
  secure: 'timeout',
  exchange: 'timeout',
};

/** Maximum bytes that TLS and one response may take together: enough for several chains of certificates. */
const MOST_WIRE_BYTES = 256 * 1024;
const WATCH_MS = 100;

export class Attempt {
  phase: Phase = 'resolve';
  readonly #startedAt = performance.now();
  readonly #controller = new AbortController();
  readonly #deadline: NodeJS.Timeout;
  #watch: NodeJS.Timeout | undefined;

  constructor(deadlineMs: number) {
    this.#deadline = setTimeout(() => this.#abort(LATE[this.phase], `no answer within ${deadlineMs} ms`), deadlineMs);
  }

  /** Aborted with an AttemptFailure as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get durationMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /**
   * Ends the attempt if much more data arrives than a response needs. Messages of TLS itself (e.g. tickets) are
   * unlimited, and the reader of the response does not see them.
   */
  watch(wire: Socket): void {
    const before = wire.bytesRead;
    clearInterval(this.#watch);
    this.#watch = setInterval(() => {
      if (wire.bytesRead - before > MOST_WIRE_BYTES) this.#abort('response_too_large', 'endless TLS messages');
    }, WATCH_MS);
  }

  interrupt(): void {
    this.#abort('interrupted', 'the service ended the attempt');
  }

  /** The outcome is known: nothing ends it any more. */
  end(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#watch);
  }

  #abort(failureClass: FailureClass, message: string): void {
    this.#controller.abort(new AttemptFailure(failureClass, message));
  }
}
