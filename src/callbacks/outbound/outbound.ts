/** The port for sending callbacks: one POST to an address that a caller named. */
import type { FailureClass } from '../../events/failure-class.ts';

export interface PostRequest {
  readonly url: string;
  /** Sent unchanged, in addition to `Host`, `Content-Length` and `Connection`, which the connection sets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /**
   * Called with the address before a connection is opened or reused. If it returns false, nothing is sent and the
   * outcome is `interrupted`. With this option only the first address of the host is tried.
   */
  readonly admit?: (address: string) => Promise<boolean>;
  /** Ends the attempt; its outcome is then `interrupted`. */
  readonly signal?: AbortSignal;
}

export interface PostOutcome {
  /** The status that the receiver sent; null if none arrived. */
  readonly responseCode: number | null;
  /**
   * Null: acknowledged, i.e. a 2xx status arrived, whatever happened to the body after it. `interrupted`: the service
   * ended the attempt, or this machine was out of a resource (a descriptor, a port). It says nothing about the
   * receiver.
   */
  readonly failureClass: FailureClass | null;
  /** What `Retry-After` requests, from now, in whole seconds (at least 0); null without a readable one. */
  readonly retryAfterSeconds: number | null;
  /** From the call to the outcome, in whole milliseconds. */
  readonly durationMs: number;
  /** The start of the response's body (at most 4 KiB) as text; null if there was no response. */
  readonly responseExcerpt: string | null;
  /** Whether the response's body was longer than the excerpt. */
  readonly truncated: boolean;
}

export interface Outbound {
  /** Makes one attempt. Never rejects: every failure is an outcome. */
  post(request: PostRequest): Promise<PostOutcome>;
  /** Ends the running attempts (`interrupted`) and closes every connection. */
  close(): Promise<void>;
}
