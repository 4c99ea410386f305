/**
 * Given events as they are recorded, when an auditor recomputes their ids, then each id is proven by the event's
 * command, its stream and its place in an append; only an event of an earlier version can be unprovable.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendIndexOf, eventIdStanding } from '../../src/storage/event-id.ts';
import { NO_STREAM, type PreparedEvent } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import { contextOf, NOON, note } from './samples.ts';

const STREAM = 'docket-x';

/** A stream of appends with these numbers of events, each with its place in its append. */
function streamOf(sizes: readonly number[]): { readonly event: PreparedEvent; readonly index: number }[] {
  let head = NO_STREAM;
  return sizes.flatMap((size) => {
    const events = Array.from({ length: size }, (_, index) => note(`event ${index}`));
    const append = prepareAppend({ stream: STREAM, head, events, context: contextOf(), recordedAt: NOON });
    head = headAfter(append);
    return append.events.map((event, index) => ({ event, index }));
  });
}

const withMetadata = (event: PreparedEvent, change: object): PreparedEvent => ({
  ...event,
  metadata: { ...event.metadata, ...change },
});
const standing = (event: PreparedEvent) => eventIdStanding(event, appendIndexOf(event));
const older = (event: PreparedEvent, names: object = {}) => withMetadata(event, { commandId: undefined, ...names });

describe('the place of an event in its append', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 });

  it('is found for every event, with and without the one before it (property)', () => {
    fc.assert(
      fc.property(sizes, (lengths) => {
        let previous: number | null = null;
        for (const { event, index } of streamOf(lengths)) {
          expect(appendIndexOf(event)).toBe(index);
          previous = appendIndexOf(event, previous);
          expect(previous).toBe(index);
        }
      }),
    );
  });

  it('is none for an event at another revision, in another stream or of another command (property)', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 30 }), (lengths, further) => {
        for (const { event } of streamOf(lengths)) {
          expect(standing({ ...event, revision: event.revision + further })).toBe('differs');
          expect(standing({ ...event, stream: 'docket-y' })).toBe('differs');
          expect(standing(withMetadata(event, { commandId: 'other' }))).toBe('differs');
        }
      }),
    );
  });

  it('does not follow an event of another append', () => {
    const [, second] = streamOf([2]);
    expect(appendIndexOf(second!.event, 0)).toBe(1);
    expect(appendIndexOf(second!.event, 1)).toBeNull();
  });

  it('is found after an event that proves none, so that one wrong id is one breach', () => {
    const [, , third, fourth] = streamOf([4]);
    const wrong = { ...third!.event, id: '00000000-0000-5000-8000-000000000000' };
    expect(appendIndexOf(wrong, 1)).toBeNull();
    expect(appendIndexOf(fourth!.event, appendIndexOf(wrong, 1))).toBe(3);
    expect(appendIndexOf(older(fourth!.event), null), 'unprovable without its command').toBeNull();
  });
});

describe('an event of an earlier version, without its command', () => {
  it.each(['requestId', 'correlationId', 'causationId'])('is proven if its %s was its command', (member) => {
    for (const { event } of streamOf([2, 1])) {
      const others = { requestId: null, correlationId: 'c', causationId: null };
      expect(standing(older(event, { ...others, [member]: event.metadata.commandId }))).toBe('matches');
    }
  });

  it('is unprovable if nothing that is recorded was its command', () => {
    const [first] = streamOf([1]);
    expect(standing(older(first!.event, { correlationId: 'c' }))).toBe('unprovable');
  });
});
