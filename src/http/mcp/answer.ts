/** The response to one body of messages. */
export interface Answer {
  readonly status: number;
  /** JSON; null if the response has no body. */
  readonly body: string | null;
  /** Written after the body. Results are stored as bytes and not copied. */
  readonly result?: Buffer;
  /** Closes a body with a result; the ending for a single message if omitted. */
  readonly ending?: string;
  readonly allow?: string;
}
