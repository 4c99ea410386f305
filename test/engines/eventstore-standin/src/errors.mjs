// How a node expresses its rejections in gRPC: status codes, texts, and the trailers from which the client makes its
// error classes.
import grpc from '@grpc/grpc-js';

const { status, Metadata } = grpc;

export class RpcError extends Error {
  constructor(code, details, trailers = {}) {
    super(details);
    this.code = code;
    this.details = details;
    this.metadata = new Metadata();
    // A header carries ASCII only. A node whose answer needs more fails while it answers, and so does the stand-in.
    if (Object.values(trailers).some((value) => !/^[\x20-\x7e]*$/.test(value))) {
      this.code = status.UNKNOWN;
      this.details = 'Received HTTP status code 500';
      return;
    }
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, value);
  }
}

export const handlerFailed = () => new RpcError(status.UNKNOWN, 'Exception was thrown by handler.');
export const unexpected = (kind, result) => new RpcError(status.UNKNOWN, `Unexpected ${kind}: ${result}`);
export const timedOut = (why) => new RpcError(status.ABORTED, `Operation timed out: ${why}`);
export const consumerTooSlow = () =>
  timedOut('Consumer too slow to handle event while live. Client resubscription required.');
export const consumerTooSlowForLive = () =>
  timedOut('Consumer too slow to handle event while transitioning to live. Client resubscription required.');
export const clusterTimeout = () => timedOut('Commit phase timeout.');
export const accessDenied = () =>
  new RpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
export const streamDeleted = (streamName) =>
  new RpcError(status.FAILED_PRECONDITION, `Event stream '${streamName}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': streamName,
  });
export const wrongExpectedVersion = (streamName, expected, actual) =>
  new RpcError(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${streamName}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': streamName,
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  );
export const maxAppendSizeExceeded = (limit) =>
  new RpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
export const missingProperty = (name) =>
  new RpcError(status.INVALID_ARGUMENT, `Required Metadata Property '${name}' is missing`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
export const notLeader = ({ host, port }) =>
  new RpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
export const noLeaderInfo = () => new RpcError(status.UNKNOWN, 'No leader info available in response');
export const notReady = () => new RpcError(status.UNAVAILABLE, 'Server Is Not Ready');
/** Only the stand-in returns this: a node would support it. */
export const notInStandin = (what) =>
  new RpcError(status.UNIMPLEMENTED, `the EventStoreDB stand-in does not do this: ${what}`);
