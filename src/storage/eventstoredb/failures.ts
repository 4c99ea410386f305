/** What the client's errors mean: which are final, and which say only that the event store could not be asked. */
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

/** The event store has gone silent: found out by a time limit of our own, since the client has none that holds. */
export class NoAnswer extends Error {
  readonly code = 'no_answer';
  constructor(what: string) {
    super(`${what}: no answer in time`);
    this.name = 'NoAnswer';
  }
}

/** A subscription ended although its connection may be sound: the next one may use the same. */
export class SubscriptionDropped extends Error {
  readonly code = 'subscription_dropped';
  constructor(how: string) {
    super(how);
    this.name = 'SubscriptionDropped';
  }
}

/** What a user of the event store must be allowed to do, by what `$acl` calls it. */
export type Right = 'read $all' | 'read streams' | 'append to streams';

const GRANTED_BY: Readonly<Record<Right, string>> = {
  'read $all': '$r in the ACL of $all',
  'read streams': '$r in $userStreamAcl of $settings',
  'append to streams': '$w in $userStreamAcl of $settings',
};

/**
 * The error that no repetition would change; null where the outcome is unknown or the store was not reached.
 * @param right what was asked for
 * @param nothingWritten whether a write that is refused so has certainly left nothing behind
 */
export function finalError(error: unknown, right: Right, nothingWritten = false): Error | null {
  if (error instanceof StorageFailure || error instanceof UnreadableEvent || error instanceof RangeError) return error;
  const options = { cause: error, nothingWritten };
  if (error instanceof AccessDeniedError) {
    const reason =
      error.code === status.UNAUTHENTICATED
        ? 'the event store does not accept the user or password of EVENTSTORE_URL'
        : `the user of EVENTSTORE_URL may not ${right}: the event store grants it by ${GRANTED_BY[right]}`;
    return new StorageFailure('storage_denied', reason, options);
  }
  if (error instanceof StreamDeletedError) {
    return new StorageFailure('storage_corrupt', `somebody has deleted stream ${error.streamName}`, options);
  }
  return null;
}

/**
 * As `finalError`, for an append. The client's conflict says nothing in its message.
 * @param isFirst whether no earlier attempt may have written it
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
 * A new connection may help: this one was refused, cut, or has gone silent; or the node at its end cannot do what the
 * leader can. The client's plain errors count too: it found no node, or the channel was closed under it.
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
    hint: 'Check that the event store runs and that EVENTSTORE_URL leads to it (host, port, tls); then repeat the write unchanged.',
  });
}
