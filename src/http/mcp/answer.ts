/** What the endpoint writes for one body of messages. */
export interface Answer {
  readonly status: number;
  /** JSON; null for none. */
  readonly body: string | null;
  /** Follows the body, and is followed by what closes it: results lie ready as bytes, and are not copied. */
  readonly result?: Buffer;
  /** What closes a body with a result; left out, that of one message. */
  readonly ending?: string;
  readonly allow?: string;
}
