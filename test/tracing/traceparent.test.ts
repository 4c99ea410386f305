/** Given what a caller sends or an event holds, then only a valid context of W3C Trace Context is read. */
import { describe, expect, it } from 'vitest';
import { readRecorded, readSent } from '../../src/tracing/traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('the header of a caller', () => {
  it.each([
    ['a sampled span', `00-${TRACE}-${SPAN}-01`, true],
    ['a span that is not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['flags of later versions', `00-${TRACE}-${SPAN}-03`, true],
    ['a later version with more fields', `cc-${TRACE}-${SPAN}-01-what-comes`, true],
  ])('is read: %s', (_, header, isSampled) => {
    expect(readSent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['two headers', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ['two headers in one', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['more fields in version 00', `00-${TRACE}-${SPAN}-01-more`],
    ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a line feed', `00-${TRACE}-${SPAN}-01\n`],
    ['a text without end', `cc-${TRACE}-${SPAN}-01-${'a'.repeat(100_000)}`],
  ])('is ignored: %s', (_, header) => {
    expect(readSent(header)).toBeNull();
  });
});

describe('the context in an event', () => {
  it('is read as this service writes it, and in no other form', () => {
    expect(readRecorded(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    for (const other of [`00-${TRACE}-${SPAN}-00`, `01-${TRACE}-${SPAN}-01`, `00-${'0'.repeat(32)}-${SPAN}-01`, 'x']) {
      expect(readRecorded(other)).toBeNull();
    }
  });
});
