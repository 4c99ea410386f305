/** Reads the texts of a stored event. A text must say one thing only to every reader. */
import { hash } from 'node:crypto';
import type { Json, JsonObject } from '../../events/event.ts';
import type { EventMetadata, RecordedEvent } from '../../storage/event-log.ts';
import { hashedMetadata } from '../../storage/prepare-append.ts';
import type { RawEvent } from '../../storage/raw-events.ts';
import { isRecordedTraceparent } from '../../tracing/traceparent.ts';
import { canonicalOf } from './canonical-plain.ts';

/** A text that is not what this service writes. `message` never quotes it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

interface StoredEvent {
  readonly event: RecordedEvent;
  /** The canonical texts of its data and of its hashed metadata. */
  readonly dataText: string;
  readonly metadataText: string;
}

/** @throws Unreadable, or RangeError for data that is too deep: nobody may read such an event as another one */
export function storedEvent(raw: RawEvent): StoredEvent {
  const { position, stream, revision, id, type } = raw;
  if (!Number.isSafeInteger(revision) || revision < 0) throw new Unreadable('its revision is not a whole number');
  const { metadata, metadataText } = writtenMetadata(raw.metadata) ?? readMetadata(raw.metadata);
  const data = storedObject(raw.data, 'data');
  const dataText = canonicalOf(data, raw.data);
  assertSaidOnce(raw.data, dataText.length, 'data');
  return { event: { position, stream, revision, id, type, data, metadata }, dataText, metadataText };
}

/**
 * As `hashTexts`, by which this service chains events, of canonical texts.
 * @param names of the event's stream, revision, id and type, separated by commas
 */
export const chainHash = (previous: string, names: string, data: string, metadata: string): string =>
  hash('sha256', `["${previous}",${names},${data},${metadata}]`);

interface StoredMetadata {
  readonly metadata: EventMetadata;
  readonly metadataText: string;
}

function readMetadata(text: string): StoredMetadata {
  const metadata = metadataOf(storedObject(text, 'metadata'));
  const metadataText = hashedMetadata(metadata);
  assertSaidOnce(text, metadataText.length + HASH_MEMBER, 'metadata');
  return { metadata, metadataText };
}

const PLAIN = '"[ !#-[\\]-~]*"';
const WRITTEN = new RegExp(
  `^\\{"recordedAt":("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z"),"requestId":(null|${PLAIN}),"correlationId":(${PLAIN}),` +
    `"causationId":(null|${PLAIN}),"actor":(${PLAIN}),"schemaVersion":([1-9]\\d{0,14}),"commandId":(${PLAIN})(?:,"traceparent":("00-[0-9a-f]{32}-[0-9a-f]{16}-01"))?,"hash":"([0-9a-f]{64})"\\}$`,
);
const unquoted = (text: string): string => text.slice(1, -1);
const unquotedOrNull = (text: string): string | null => (text === 'null' ? null : unquoted(text));

/**
 * Metadata exactly as this service writes it in SQLite, which needs no parsing: that is three times as fast. Null for any
 * other, which may be as valid.
 */
function writtenMetadata(text: string): StoredMetadata | null {
  const found = WRITTEN.exec(text) as Written | null;
  if (found === null) return null;
  const [, recordedAt, requestId, correlationId, causationId, actor, schemaVersion, commandId, traceparent, stored] =
    found;
  const metadata = {
    recordedAt: unquoted(recordedAt),
    requestId: unquotedOrNull(requestId),
    correlationId: unquoted(correlationId),
    causationId: unquotedOrNull(causationId),
    actor: unquoted(actor),
    schemaVersion: Number(schemaVersion),
    commandId: unquoted(commandId),
    ...(traceparent === undefined ? undefined : { traceparent: unquoted(traceparent) }),
    hash: stored,
  };
  const trace = traceparent === undefined ? '' : `,"traceparent":${traceparent}`;
  return {
    metadata,
    metadataText: `{"actor":${actor},"causationId":${causationId},"commandId":${commandId},"correlationId":${correlationId},"recordedAt":${recordedAt},"requestId":${requestId},"schemaVersion":${schemaVersion}${trace}}`,
  };
}

type Written = readonly [string, string, string, string, string, string, string, string, string | undefined, string];

/** @throws Unreadable unless the text is one JSON object */
function storedObject(text: string, what: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new Unreadable(`its ${what} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unreadable(`its ${what} is not a JSON object`);
  }
  return value as JsonObject;
}

/** Characters of the member `"hash":"…",` of metadata. */
const HASH_MEMBER = 74;

/**
 * A name that occurs twice means the last value here, and the first to other readers, SQLite among them.
 * @param canonicalLength of the canonical text, which has as many characters as the text that this service writes
 * @throws Unreadable if a name occurs twice in an object
 */
function assertSaidOnce(text: string, canonicalLength: number, what: string): void {
  const mayRepeat = text.length !== canonicalLength || EXPONENT.test(text);
  if (mayRepeat && repeatsName(text)) throw new Unreadable(`its ${what} has a name twice`);
}

/** A number that is shorter than its canonical form: it could make room for a repeated member. */
const EXPONENT = /[:,[]\s*-?\d[\d.]*[eE]/;

/** Whether an object in a valid JSON text has a name more than once. */
function repeatsName(text: string): boolean {
  const open: (Set<string> | null)[] = [];
  const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1);
      const name = JSON.parse(last) as string;
      if (names?.has(name)) return true;
      names?.add(name);
    }
    last = token;
  }
  return false;
}

const HASH = /^[0-9a-f]{64}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';

/** Every member of metadata. Any other would not be covered by the hash. */
const MEMBERS: Readonly<Record<keyof EventMetadata, (value: Json | undefined) => boolean>> = {
  recordedAt: (value) => isText(value) && INSTANT.test(value),
  requestId: isTextOrNull,
  correlationId: isText,
  causationId: isTextOrNull,
  actor: isText,
  schemaVersion: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  commandId: (value) => value === undefined || isText(value),
  traceparent: (value) => value === undefined || (isText(value) && isRecordedTraceparent(value)),
  hash: (value) => isText(value) && HASH.test(value),
};
const CHECKS = Object.entries(MEMBERS);

/** @throws Unreadable unless metadata has the members that the hash covers, and no other */
export function metadataOf(metadata: JsonObject): EventMetadata {
  for (const [name, holds] of CHECKS) {
    if (!holds(metadata[name])) throw new Unreadable(`its metadata has no valid ${name}`);
  }
  for (const name of Object.keys(metadata)) {
    if (!Object.hasOwn(MEMBERS, name)) throw new Unreadable('its metadata has a member that its hash does not cover');
  }
  return metadata as JsonObject & EventMetadata;
}

/** Whether an event names its command, even if the rest of its metadata is wrong. */
export function namesCommand(metadata: string): boolean {
  try {
    return 'commandId' in storedObject(metadata, 'metadata');
  } catch {
    return false;
  }
}

/** The hash that is stored with an event, even if the rest of its metadata is wrong; null if it cannot be read. */
export function storedHash(metadata: string): string | null {
  try {
    const { hash } = JSON.parse(metadata) as { hash?: unknown };
    return isText(hash) && HASH.test(hash) ? hash : null;
  } catch {
    return null;
  }
}
