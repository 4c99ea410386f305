import type { FailureClass } from '../../events/failure-class.ts';

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

/** The connection was gone before a byte of the request was written: on another one the same attempt may be made. */
export class NothingSent extends AttemptFailure {
  constructor() {
    super('reset', 'the connection is gone');
    this.name = 'NothingSent';
  }
}
