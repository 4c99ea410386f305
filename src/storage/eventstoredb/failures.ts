/** Maps the client's errors: some are final, others mean only that the event store could not be reached. */
import {
  AccessDeniedError,
  CancelledError,
  DeadlineExceededError,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  UnavailableError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { type Append, InvalidAppend, RevisionConflict } from '../event-log.ts';
import { StorageFailure } from '../storage-failure.ts';

/** The event store stopped answering. Detected by a time limit of our own, since the client has no reliable one. */
export class NoAnswer extends Error {
  readonly code = 'no_answer';
  constructor(what: string) {
    super(`${what}: no answer in time`);
    this.name = 'NoAnswer';
  }
}

/** A subscription ended although its connection may be intact; the next one may use the same connection. */
export class SubscriptionDropped extends Error {
  readonly code = 'subscription_dropped';
  constructor(how: string) {
    super(how);
    this.name = 'SubscriptionDropped';
  }
}

/** A permission that a user of the event store needs, in the terms of `$acl`. */
export type Right = 'read $all' | 'read streams' | 'append to streams';

const GRANTED_BY: Readonly<Record<Right, string>> = {
  'read $all': '$r in the ACL of $all',
  'read streams': '$r in $userStreamAcl of $settings',
  'append to streams': '$w in $userStreamAcl of $settings',
};

/**
 * The error that a retry cannot change; null if the outcome is unknown or the store was not reached.
 * @param right the permission that the call needed
 * @param nothingWritten whether a write rejected this way certainly left nothing behind
 */
export function finalError(error: unknown, right: Right, nothingWritten = false): Error | null {
  if (error instanceof StorageFailure || error instanceof UnreadableEvent || error instanceof RangeError) return error;
  const options = { cause: error, nothingWritten };
  if (error instanceof AccessDeniedError) {
    const reason =
      error.code === status.UNAUTHENTICATED
        ? 'the event store does not accept the user or password of EVENTSTORE_URL'
        : `the user of EVENTSTORE_URL may not ${right}: grant it with ${GRANTED_BY[right]}`;
    return new StorageFailure('storage_denied', reason, options);
  }
  if (error instanceof StreamDeletedError) {
    return new StorageFailure('storage_corrupt', `stream ${error.streamName} was deleted`, options);
  }
  return null;
}

/**
 * As `finalError`, for an append. The message of the client's conflict error has no details.
 * @param isFirst whether no earlier attempt may have written the append
 */
export function finalAppendError(error: unknown, { stream, expected }: Append, isFirst: boolean): Error | null {
  if (error instanceof WrongExpectedVersionError) {
    const { actualVersion } = error;
    return new RevisionConflict(stream, expected, typeof actualVersion === 'bigint' ? Number(actualVersion) : -1);
  }
  if (error instanceof MaxAppendSizeExceededError) {
    return new InvalidAppend(
      `an append to ${stream} is over the limit of the event store, ${error.maxAppendSize} bytes`,
    );
  }
  return finalError(error, 'append to streams', isFirst);
}

/**
 * Errors that a new connection may fix: this one was refused, cut or went silent, or its node cannot do what the leader
 * can. The client's plain errors count too: it found no node, or the channel was closed during the call.
 */
export const isDisconnection = (error: unknown): boolean =>
  error instanceof UnavailableError ||
  error instanceof CancelledError ||
  error instanceof DeadlineExceededError ||
  error instanceof UnknownError ||
  error instanceof NoAnswer ||
  (error instanceof Error &&
    !(
      error instanceof StorageFailure ||
      error instanceof UnreadableEvent ||
      error instanceof SubscriptionDropped ||
      isCommandError(error)
    ));

export function unreachable(what: string, error: unknown): StorageFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageFailure('storage_unavailable', `the event store at EVENTSTORE_URL: ${what}: ${reason}`, {
    cause: error,
    hint: 'Check that the event store runs and that EVENTSTORE_URL points to it (host, port, tls); then repeat the write unchanged.',
  });
}
