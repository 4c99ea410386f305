import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { parse, v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/events/canonical-json.ts';
import type { Json } from '../../src/events/event.ts';
import { InvalidAppend, MAX_APPEND_BYTES, NO_STREAM } from '../../src/storage/event-log.ts';
import { hashEvent, headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import { contextOf, NOON, note, notes } from './samples.ts';

describe('preparing an append', () => {
  const prepare = (commandId: string, head = NO_STREAM) =>
    prepareAppend({
      stream: 'docket-x',
      head,
      events: [note('a'), note('b')],
      context: contextOf(commandId),
      recordedAt: NOON,
    });

  it('gives the same ids to the same command at the same head, and others to any other', () => {
    const ids = (...parameters: Parameters<typeof prepare>) => prepare(...parameters).events.map(({ id }) => id);
    expect(ids('one')).toEqual(ids('one'));
    const further = { revision: 4, hash: 'f'.repeat(64) };
    expect(new Set([...ids('one'), ...ids('two'), ...ids('one', further)]).size).toBe(6);
  });

  it('never changes how ids and hashes are made: existing logs rely on both', () => {
    const { events } = prepareAppend({
      stream: 'docket-x',
      head: NO_STREAM,
      events: [note('naïve "text"')],
      context: contextOf('4c9b1a4e-0f0d-4b53-9a55-7f6a3c1f0a01'),
      recordedAt: NOON,
    });
    const [event] = events;
    expect(event?.id).toBe('a2482b66-c06a-5f50-a258-6ad92a4d989e');
    expect(event?.metadata.hash).toBe('767cac0ff26c789b109dbbe2acc04994b491f87bfeab250dd277a86bb578ad25');
    // As earlier versions wrote it, without its command.
    const { commandId: _, ...older } = event!.metadata;
    expect(hashEvent('', { ...event!, metadata: older })).toBe(
      'c59ae18baf23e3e34a49fc8379629d0a099704086ef15010e933626c500d5037',
    );
  });

  it('covers the span that appends by the hash, and leaves no trace of it where there is none', () => {
    const traceparent = `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01`;
    const { events } = prepareAppend({
      stream: 'docket-x',
      head: NO_STREAM,
      events: [note('naïve "text"')],
      context: contextOf('4c9b1a4e-0f0d-4b53-9a55-7f6a3c1f0a01'),
      recordedAt: NOON,
      traceparent,
    });
    const { hash, ...hashed } = events[0]!.metadata;
    expect(hashed).toMatchObject({ traceparent });
    const { stream, revision, id, type, data } = events[0]!;
    const link = canonicalJson(['', stream, revision, id, type, data, hashed as unknown as Json]);
    expect(createHash('sha256').update(link).digest('hex')).toBe(hash);
    expect(Object.keys(prepare('one').events[0]!.metadata)).not.toContain('traceparent');
  });

  it('names events by UUIDs of version 5, for any names of the command and the stream', () => {
    const namespace = parse('5a3a1c62-6ef7-4f8e-9c37-0d2d2f2b7c11');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ minLength: 1 }), (commandId, stream) => {
        const { events } = notes(stream, ['a', 'b'], { commandId });
        expect(events.map(({ id }) => id)).toEqual(
          [0, 1].map((i) => v5(`${commandId}\n${stream}\n-1\n${i}`, namespace)),
        );
      }),
    );
  });

  it('links every event to the previous one', () => {
    const first = prepare('one');
    const second = prepare('two', headAfter(first));
    let previous = '';
    for (const event of [...first.events, ...second.events]) {
      expect(event.metadata.hash).toBe(hashEvent(previous, event));
      previous = event.metadata.hash;
    }
    const [event] = first.events;
    expect(hashEvent('', { ...event!, type: 'Other' })).not.toBe(event?.metadata.hash);
    for (const change of [{ actor: 'other' }, { commandId: 'other' }, { commandId: undefined }]) {
      const { commandId = '', ...metadata } = { ...event!.metadata, ...change };
      const changed = { ...event!, metadata: commandId === '' ? metadata : { ...metadata, commandId } };
      expect(hashEvent('', changed)).not.toBe(event?.metadata.hash);
    }
  });

  it('rejects an append of no events, or of too many bytes', () => {
    expect(() => notes('docket-x', [])).toThrow(InvalidAppend);
    expect(() => notes('docket-x', ['x'.repeat(MAX_APPEND_BYTES)])).toThrow(InvalidAppend);
    expect(() => notes('docket-x', ['é'.repeat(MAX_APPEND_BYTES / 2)])).toThrow(InvalidAppend);
  });
});

describe('canonical JSON (RFC 8785)', () => {
  it('sorts members by code unit and writes no white space', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
    const keys = Object.keys(JSON.parse(canonicalJson(value)) as object);
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
    expect(keys).toHaveLength(7);
    expect(canonicalJson([[], {}, '', [null, true, 1e21, 0.1]])).toBe('[[],{},"",[null,true,1e+21,0.1]]');
  });

  it('is the same for equal values and parses back to the value (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (generated) => {
        const value = JSON.parse(JSON.stringify(generated)) as Json;
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  const reversed = (value: Json): Json => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(reversed);
    const entries = Object.entries(value as Record<string, Json>).reverse();
    return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)]));
  };
});
