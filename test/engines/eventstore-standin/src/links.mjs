// Link events (`$>`): their data is `revision@stream`.
import { encodeResolved } from './wire.mjs';

/** The wire bytes of an event, with its target if it is a link. */
export function resolveLink(database, record) {
  if (record.type !== '$>') return record.wire;
  const match = /^\s*([+-]?\d+)\s*@([\s\S]+)$/.exec(record.data.toString('utf8'));
  if (!match) return record.wire;
  const revision = Number(match[1]);
  return encodeResolved(record, revision < 0 ? undefined : database.readable(match[2], revision));
}
