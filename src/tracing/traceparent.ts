/** The W3C trace context of a span as text: `00-TRACE-SPAN-01`. What a caller sends and what an event holds is read here. */

export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Of a span that is exported, as events record it. */
const RECORDED = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;
/** Longer ones belong to versions to come, whose further fields are unknown here. */
const LONGEST = 256;
const SENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Whether a text is what this service records in an event. */
export const isRecordedTraceparent = (text: string): boolean => RECORDED.test(text);

/** The context in an event; null unless this service wrote it. */
export const readRecorded = (text: string): TraceContext | null => contextOf(RECORDED.exec(text), true);

/** The context that a caller sent; null for a header that is missing, repeated, malformed or too long. */
export function readSent(header: string | readonly string[] | undefined): TraceContext | null {
  if (typeof header !== 'string' || header.length > LONGEST) return null;
  const found = SENT.exec(header);
  if (found === null) return null;
  const [, version, traceId, spanId, flags = '', more] = found;
  if (version === '00' && more !== undefined) return null;
  return contextOf([header, traceId, spanId], (Number.parseInt(flags, 16) & 1) === 1);
}

function contextOf(found: readonly (string | undefined)[] | null, isSampled: boolean): TraceContext | null {
  const [, traceId = NO_TRACE, spanId = NO_SPAN] = found ?? [];
  return traceId === NO_TRACE || spanId === NO_SPAN ? null : { traceId, spanId, isSampled };
}
