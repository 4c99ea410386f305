/**
 * Keeps what gRPC and the client's own code throw inside the call that it belongs to.
 *
 * The client calls gRPC inside asynchronous executors and event handlers, where a throw is an unhandled rejection or
 * an uncaught exception and ends the process. Two things throw there: gRPC, when the channel was closed after the
 * client was asked for it ("Channel has been shut down"), and the client's reading of an error whose metadata is not
 * what it expects. Both are turned into a status of the call. A third is the client's reading of an
 * incomplete answer: see `completeMessage`.
 */
import {
  InterceptingCall,
  type InterceptingListener,
  type Interceptor,
  Metadata,
  type StatusObject,
  status,
} from '@grpc/grpc-js';

import { completeMessage } from './complete-messages.ts';

type GrpcCall = ReturnType<Parameters<Interceptor>[1]>;

/** What the client reads from the metadata of an error without looking whether it is there. */
const READ_UNCHECKED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'not-leader': { 'leader-endpoint-host': /./, 'leader-endpoint-port': /^\d+$/ },
  'stream-deleted': { 'stream-name': /^/ },
  'wrong-expected-version': { 'stream-name': /^/, 'expected-version': /^-?\d+$/, 'actual-version': /^(-?\d+)?$/ },
  'maximum-append-size-exceeded': { 'maximum-append-size': /^\d+$/ },
  'missing-required-metadata-property': { 'required-metadata-properties': /^/ },
  'scavenge-not-found': { 'scavenge-id': /^/ },
  'user-not-found': { 'login-name': /^/ },
  'user-conflict': { 'login-name': /^/ },
};
/** The client does without them. */
const OPTIONAL = new Set(['actual-version']);

/** For `CallOptions.interceptors`: applies to every call of the client. */
export const guardedCall: Interceptor = (options, nextCall) => {
  let call: GrpcCall;
  try {
    call = nextCall(options);
  } catch (error) {
    return new InterceptingCall(new UnplacedCall(error instanceof Error ? error.message : String(error)));
  }
  return new InterceptingCall(call, {
    start: (metadata, _, next) =>
      next(metadata, {
        onReceiveMessage: (message, pass) => {
          completeMessage(message);
          pass(message);
        },
        onReceiveStatus: (received, pass) => pass(readableStatus(received)),
      }),
  });
};

/** The status itself, or one without the class of error that the client could not read from it. */
export function readableStatus(received: StatusObject): StatusObject {
  const exception = received.metadata.get('exception')[0]?.toString();
  const needed = exception === undefined ? undefined : READ_UNCHECKED[exception];
  if (!needed) return received;
  const isReadable = Object.entries(needed).every(([key, shape]) => {
    const value = received.metadata.get(key)[0]?.toString();
    return value === undefined ? OPTIONAL.has(key) : shape.test(value);
  });
  if (isReadable) return received;
  const metadata = received.metadata.clone();
  metadata.remove('exception');
  // Of these only a change of the leader is met in practice, while no leader is known.
  const code = exception === 'not-leader' ? status.UNAVAILABLE : status.UNKNOWN;
  return { code, details: `${exception}: ${received.details}`, metadata };
}

/** A call that gRPC refused to make. It accepts everything, and ends as unavailable. */
class UnplacedCall implements GrpcCall {
  readonly #details: string;

  constructor(details: string) {
    this.#details = details;
  }

  start(_: Metadata, listener?: Partial<InterceptingListener>): void {
    // Later: the client attaches its listeners once the call is made.
    setImmediate(() => {
      listener?.onReceiveStatus?.({ code: status.UNAVAILABLE, details: this.#details, metadata: new Metadata() });
    });
  }

  sendMessageWithContext(context: { callback?: (error?: Error | null) => void }): void {
    const { callback } = context;
    if (callback) setImmediate(callback);
  }

  sendMessage(): void {}
  startRead(): void {}
  halfClose(): void {}
  cancelWithStatus(): void {}
  getPeer = (): string => 'none';
  getAuthContext = (): null => null;
}
