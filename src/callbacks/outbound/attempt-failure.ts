import type { FailureClass } from '../failure-class.ts';

/** Why an attempt ended before a response. The message never holds any part of the URL. */
export class AttemptFailure extends Error {
  readonly code = 'attempt_failed';
  constructor(
    readonly failureClass: FailureClass,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'AttemptFailure';
  }
}
