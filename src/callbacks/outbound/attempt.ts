/** One attempt's time: what it began at, which phase it is in, and what ends it early. */
import type { Socket } from 'node:net';
import type { FailureClass } from '../../events/failure-class.ts';
import { AttemptFailure } from './attempt-failure.ts';

export type Phase = 'resolve' | 'connect' | 'secure' | 'exchange';

/** What the deadline says of the phase that it ended. */
const LATE: Readonly<Record<Phase, FailureClass>> = {
  resolve: 'dns_timeout',
  connect: 'connect_timeout',
  secure: 'timeout',
  exchange: 'timeout',
};

/** Most bytes that TLS takes for itself and one response: several chains of certificates have room in it. */
const MOST_WIRE_BYTES = 256 * 1024;
const WATCH_MS = 100;

export class Attempt {
  phase: Phase = 'resolve';
  readonly #startedAt = performance.now();
  readonly #controller = new AbortController();
  readonly #deadline: NodeJS.Timeout;
  #watch: NodeJS.Timeout | undefined;

  constructor(deadlineMs: number) {
    this.#deadline = setTimeout(() => this.#abort(LATE[this.phase], `nothing came in ${deadlineMs} ms`), deadlineMs);
  }

  /** Aborted with an AttemptFailure as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get durationMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /**
   * Ends the attempt where much more comes over the wire than a response is made of: messages of TLS itself (tickets,
   * for example) have no end by themselves, and none of them is seen by whoever reads the response.
   */
  watch(wire: Socket): void {
    const before = wire.bytesRead;
    clearInterval(this.#watch);
    this.#watch = setInterval(() => {
      if (wire.bytesRead - before > MOST_WIRE_BYTES) this.#abort('response_too_large', 'TLS without an end');
    }, WATCH_MS);
  }

  interrupt(): void {
    this.#abort('interrupted', 'the attempt was ended by the service');
  }

  /** The outcome is there: nothing ends it any more. */
  end(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#watch);
  }

  #abort(failureClass: FailureClass, message: string): void {
    this.#controller.abort(new AttemptFailure(failureClass, message));
  }
}
