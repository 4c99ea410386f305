/** The port through which callbacks leave: one POST to an address that a caller named. */
import type { FailureClass } from '../../events/failure-class.ts';

export interface PostRequest {
  readonly url: string;
  /** Sent as they are, beside `Host`, `Content-Length` and `Connection`, which are the connection's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /**
   * Asked for the address before it is connected to, or before a connection to it is used again. Where it says no, nothing
   * is sent and the outcome is `interrupted`. With it one address of the host is tried, the first, and no other.
   */
  readonly admit?: (address: string) => Promise<boolean>;
  /** Ends the attempt; its outcome is then `interrupted`. */
  readonly signal?: AbortSignal;
}

export interface PostOutcome {
  /** The status that the receiver sent; null where none came. */
  readonly responseCode: number | null;
  /**
   * Null: acknowledged, that is a 2xx status came, whatever became of the body after it. `interrupted`: the service ended
   * the attempt, or this machine lacked what one needs (a descriptor, a port): it says nothing of the receiver.
   */
  readonly failureClass: FailureClass | null;
  /** What `Retry-After` asks for, from now, in whole seconds (at least 0); null without a readable one. */
  readonly retryAfterSeconds: number | null;
  /** From the call to the outcome, in whole milliseconds. */
  readonly durationMs: number;
  /** The beginning of the response's body (4 KiB at most) as text; null where no response came. */
  readonly responseExcerpt: string | null;
  /** Whether the response's body was longer than the excerpt. */
  readonly truncated: boolean;
}

export interface Outbound {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  post(request: PostRequest): Promise<PostOutcome>;
  /** Ends the attempts under way (`interrupted`) and closes every connection. */
  close(): Promise<void>;
}
