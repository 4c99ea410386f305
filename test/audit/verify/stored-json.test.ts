/**
 * Reading stored events: given texts as this service writes them and texts as it never would, then the shorter ways of
 * reading say the same as the general ones.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalOf, canonicalText } from '../../../src/audit/verify/canonical-plain.ts';
import { eventText, parseEvents } from '../../../src/audit/verify/event-text.ts';
import { chainHash, storedEvent } from '../../../src/audit/verify/stored-json.ts';
import { canonicalJson } from '../../../src/events/canonical-json.ts';
import type { Json, JsonObject } from '../../../src/events/event.ts';
import { hashedMetadata, hashTexts } from '../../../src/storage/prepare-append.ts';
import type { RawEvent } from '../../../src/storage/raw-events.ts';

const METADATA = {
  recordedAt: '2026-01-02T03:04:05.000006Z',
  requestId: 'a request',
  correlationId: 'c',
  causationId: null,
  actor: 'http',
  schemaVersion: 1,
  commandId: 'a command',
  hash: 'ab'.repeat(32),
};
const TRACEPARENT = `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01`;
const RAW: RawEvent = {
  position: '00000000000000000007',
  stream: 'operator-x',
  revision: 3,
  id: '0b0ad886-ecb1-4d7a-907b-71197f9446ae',
  type: 'Anything',
  metadata: JSON.stringify(METADATA),
  data: '{"b":1,"a":"text"}',
};

it('makes the canonical text of any data, whatever the order of its members', () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  const ascii = fc.string({ unit: fc.constantFrom('a', 'b', 'Z', ' ', '7', '"', '\\', 'é', '\n', ']', '[') });
  const data = fc.dictionary(ascii, fc.oneof(json, ascii, fc.integer(), fc.double({ noNaN: true })));
  fc.assert(
    fc.property(data, (object) => {
      const text = JSON.stringify(object);
      const read = JSON.parse(text) as JsonObject;
      expect(canonicalOf(read, text)).toBe(canonicalJson(read));
    }),
  );
});

it.each(['{"a":1e999}', '{"a":-0}', '{"a":1e21,"10":2,"9":0.1}', '{"":{}}', '{"a":[{"c":[],"b":null}]}', '{}'])(
  'makes the canonical text of %s',
  (text) => {
    const read = JSON.parse(text) as JsonObject;
    expect(canonicalOf(read, text)).toBe(canonicalJson(read));
  },
);

it('refuses plain data that is too deep', () => {
  const text = `{"a":${'['.repeat(300)}${']'.repeat(300)}}`;
  expect(() => canonicalOf(JSON.parse(text), text)).toThrow(RangeError);
});

it.each([
  ['as it is written', METADATA],
  ['of an earlier version, without the command', (({ commandId: _, ...earlier }) => earlier)(METADATA)],
  ['in another order', Object.fromEntries(Object.entries(METADATA).reverse())],
  ['with text that is escaped', { ...METADATA, actor: 'a "name"\n' }],
  ['with the text null', { ...METADATA, requestId: 'null' }],
  ['with the span that wrote it', (({ hash, ...rest }) => ({ ...rest, traceparent: TRACEPARENT, hash }))(METADATA)],
  ['with its span elsewhere', { traceparent: TRACEPARENT, ...METADATA }],
  ['with a cause', { ...METADATA, causationId: 'an event', requestId: null }],
])('reads metadata %s', (_, metadata) => {
  const { event, metadataText } = storedEvent({ ...RAW, metadata: JSON.stringify(metadata) });
  expect(event.metadata).toEqual(metadata);
  expect(metadataText).toBe(hashedMetadata(event.metadata));
});

it.each([
  ['a version that is no number', metadataWith('"schemaVersion":1', '"schemaVersion":01')],
  ['a version beyond exact numbers', metadataWith('"schemaVersion":1', '"schemaVersion":9007199254740993')],
  ['a version 0', metadataWith('"schemaVersion":1', '"schemaVersion":0')],
  ['a member twice', metadataWith('"actor":"http"', '"actor":"cli","actor":"http"')],
  ['another member', metadataWith('"actor":"http"', '"actor":"http","also":1')],
  ['a span that is not exported', metadataWith('"hash"', `"traceparent":"${TRACEPARENT.replace(/1$/, '0')}","hash"`)],
  ['a span of another form', metadataWith('"hash"', '"traceparent":"4b4b","hash"')],
  ['a span twice', metadataWith('"hash"', `"traceparent":"${TRACEPARENT}","traceparent":"${TRACEPARENT}","hash"`)],
  ['a hash in capitals', metadataWith('abab', 'ABAB')],
  ['text after it', `${JSON.stringify(METADATA)}]`],
])('refuses metadata with %s', (_, metadata) => {
  expect(() => storedEvent({ ...RAW, metadata })).toThrow();
});

it('refuses data with a member twice, even if a short number makes room for it', () => {
  const data = '{"slot":1,"slot":1e12}';
  expect(data).toHaveLength('{"slot":1000000000000}'.length);
  expect(() => storedEvent({ ...RAW, data })).toThrow('its data has a name twice');
  expect(storedEvent({ ...RAW, data: '{"slot":1e12}' }).dataText).toBe('{"slot":1000000000000}');
});

function metadataWith(text: string, other: string): string {
  return JSON.stringify(METADATA).replace(text, other);
}

it('chains an event as this service chains it, whatever its names are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(), (stream, type, revision) => {
      const place = { ...RAW, stream, type, revision };
      const names = `${canonicalText(stream)},${revision},${canonicalText(RAW.id)},${canonicalText(type)}`;
      expect(chainHash('ab', names, '{}', '{"a":1}')).toBe(hashTexts('ab', place, '{}', '{"a":1}'));
    }),
  );
});

it('passes to another thread everything that is judged', () => {
  const { event } = storedEvent({ ...RAW, type: 'LogHeadAnchored' });
  const { recordedAt, schemaVersion, commandId } = METADATA;
  const names = '"operator-x",3,"0b0ad886-ecb1-4d7a-907b-71197f9446ae","LogHeadAnchored"';
  const broken = { ...RAW, stream: 'a "stream"', revision: -1, type: '', metadata: '', data: '{' };
  const brokenNames = '"a \\"stream\\"",-1,"0b0ad886-ecb1-4d7a-907b-71197f9446ae",""';
  const { hash } = METADATA;
  const texts = [eventText(RAW, names, hash, event), eventText(broken, brokenNames, null, null)];
  const { places, hashes, judged } = parseEvents(`[${texts}]`);
  expect(hashes).toEqual([hash, null]);
  const { metadata: _, ...told } = event;
  expect(judged).toEqual([{ ...told, metadata: { recordedAt, schemaVersion, commandId } }, null]);
  expect(places).toMatchObject([
    { position: RAW.position, stream: 'operator-x', revision: 3, id: RAW.id, type: 'LogHeadAnchored' },
    { position: RAW.position, stream: 'a "stream"', revision: -1, id: RAW.id, type: '' },
  ]);
  expect(parseEvents('[]')).toEqual({ places: [], hashes: [], judged: [] });
});
