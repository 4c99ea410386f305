/**
 * Turns errors that gRPC and the client throw outside a call into the status of that call: there, a throw ends the
 * process (docs/design/event-log.md#eventstoredb). `completeMessage` handles answers that are incomplete.
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

/** Error metadata that the client reads without checking that it is present. */
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
/** Metadata that the client does not require. */
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

/** The status itself, or a copy without the error class whose metadata the client could not read. */
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
  // In practice, only a leader change without a known leader gets here.
  const code = exception === 'not-leader' ? status.UNAVAILABLE : status.UNKNOWN;
  return { code, details: `${exception}: ${received.details}`, metadata };
}

/** Replaces a call that gRPC refused to create. It accepts every method call and ends as unavailable. */
class UnplacedCall implements GrpcCall {
  readonly #details: string;

  constructor(details: string) {
    this.#details = details;
  }

  start(_: Metadata, listener?: Partial<InterceptingListener>): void {
    // Deferred: the client attaches its listeners after it has created the call.
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
