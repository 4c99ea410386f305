// Stream metadata as the server interprets it: the properties that limit what readers see of a stream. Metadata that
// breaks a rule is ignored.
import { MAX_LONG } from './limits.mjs';

const NONE = Object.freeze({});
/** Every metadata stream keeps only its last event. */
export const OF_METASTREAMS = Object.freeze({ maxCount: 1 });

export const isMetastream = (name) => name.startsWith('$$');
export const metastreamOf = (name) => `$$${name}`;
export const originalOf = (metastream) => metastream.slice(2);

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const INTEGER = '\u0001'; // not a property that metadata can have

/** Parses JSON with its integers as bigints, so that 2^63-1 keeps its last digits and 1.0 is not an integer. */
function parse(text) {
  return JSON.parse(
    text.replace(TOKEN, (token) => (/^-?\d+$/.test(token) ? `{"\\u0001":"${token}"}` : token)),
    (_, value) => (typeof value?.[INTEGER] === 'string' ? BigInt(value[INTEGER]) : value),
  );
}

function long(value) {
  if (typeof value !== 'bigint' || value > MAX_LONG || value < -MAX_LONG - 1n)
    throw new Error('not an integer of 64 bits');
  return value;
}

/** `{ maxCount?, maxAgeSeconds?, truncateBefore? }` of a metadata event's record, parsed once. */
export function metadataOfRecord(record) {
  if (!record?.isJson || record.data.length === 0) return NONE;
  record.streamMetadata ??= read(record.data.toString('utf8'));
  return record.streamMetadata;
}

function read(text) {
  try {
    const json = parse(text);
    if (json === null || typeof json !== 'object' || Array.isArray(json)) return NONE;
    const out = {};
    if ('$maxCount' in json) {
      const value = long(json.$maxCount);
      if (value > 0n) out.maxCount = Number(value);
    }
    if ('$maxAge' in json) {
      const value = long(json.$maxAge);
      if (value > 0n) out.maxAgeSeconds = Number(value);
    }
    if ('$cacheControl' in json) long(json.$cacheControl);
    if ('$tmp' in json && typeof json.$tmp !== 'boolean') return NONE;
    if ('$tb' in json) {
      const value = long(json.$tb);
      if (value === MAX_LONG) out.softDeleted = true;
      else if (value >= 0n) out.truncateBefore = Number(value);
    }
    return out;
  } catch {
    return NONE;
  }
}

export const DELETED = Buffer.from(`{"$tb":${MAX_LONG}}`);

/** The same metadata with another `$tb`, or `undefined` if it is not a JSON object. */
export function withTruncateBefore(data, revision) {
  try {
    const json = JSON.parse(data.toString('utf8'));
    if (json === null || typeof json !== 'object' || Array.isArray(json)) return undefined;
    return Buffer.from(JSON.stringify({ ...json, $tb: revision }));
  } catch {
    return undefined;
  }
}
