import type { FailureClass } from '../../events/failure-class.ts';

/** Why an attempt ended before a response. The message never contains any part of the URL. */
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

/** The connection was gone before a byte of the request was written: the same attempt may be made on another one. */
export class NothingSent extends AttemptFailure {
  constructor() {
    super('reset', 'the connection is closed');
    this.name = 'NothingSent';
  }
}
