/** The id of an event: made from the command whose append wrote it, and recomputed by an auditor. */
import { hash } from 'node:crypto';
import { MAX_APPEND_BYTES, type PreparedEvent } from './event-log.ts';

const NAMESPACE = Buffer.from('5a3a1c626ef74f8e9c370d2d2f2b7c11', 'hex');

/**
 * UUIDv5 (RFC 9562) of the command, the stream, the revision that the append expected, and the event's place in the
 * append. Written here as a single hash: the library for all kinds of UUID takes four times as long.
 */
export function eventId(commandId: string, stream: string, expected: number, index: number): string {
  const name = `${commandId}\n${stream}\n${expected}\n${index}`;
  const hex = hash('sha1', inNamespace(name), 'hex');
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The bytes of short names are written to one place: this runs for every event. */
const SHORT = Buffer.concat([NAMESPACE, Buffer.alloc(1024)]);
const LONGEST_CHARACTER = 3;

function inNamespace(name: string): Buffer {
  if (name.length * LONGEST_CHARACTER > SHORT.length - NAMESPACE.length) {
    return Buffer.concat([NAMESPACE, Buffer.from(name)]);
  }
  return SHORT.subarray(0, NAMESPACE.length + SHORT.write(name, NAMESPACE.length));
}

/** The digit that says which kind of UUID it is, by the two bits that are free in it. */
const VARIANTS = '89ab';

/** No append has more events: the kinds that come by thousands have more than 64 bytes of data each. */
const MOST_EVENTS = MAX_APPEND_BYTES / 64;

type Identified = Pick<PreparedEvent, 'id' | 'stream' | 'revision' | 'metadata'>;

/**
 * Finds the place of an event in its append, which is not recorded: the event's id proves it. Null if no place gives
 * this id.
 * @param previous the place of the event before it in the stream; null if that event proves none; omitted if it was not
 *   read. If it is known, only the next place and the first of another append are possible; otherwise each is tried.
 */
export function appendIndexOf({ id, stream, revision, metadata }: Identified, previous?: number | null): number | null {
  const commands = commandsOf(metadata);
  const isAt = (index: number) =>
    index <= revision && commands.some((command) => eventId(command, stream, revision - 1 - index, index) === id);
  if (isAt(0)) return 0;
  if (typeof previous === 'number') return isAt(previous + 1) ? previous + 1 : null;
  // Two unprovable events of an earlier version are common, and trying each place for each would take long.
  if (previous === null && metadata.commandId === undefined) return null;
  const last = Math.min(revision, MOST_EVENTS);
  for (let index = 1; index <= last; index++) if (isAt(index)) return index;
  return null;
}

/** Events of earlier versions do not name their command, but for most of them it is one of these. */
function commandsOf({ commandId, requestId, causationId, correlationId }: Identified['metadata']): readonly string[] {
  if (commandId !== undefined) return [commandId];
  return [...new Set([requestId, causationId, correlationId])].filter((id) => id !== null);
}

/**
 * Whether an event's id follows from what is recorded about it. Only an event of an earlier version, without its
 * command, can be `unprovable`.
 * @param index what `appendIndexOf` has found
 */
export function eventIdStanding({ metadata }: Identified, index: number | null): 'matches' | 'differs' | 'unprovable' {
  if (index !== null) return 'matches';
  return metadata.commandId === undefined ? 'unprovable' : 'differs';
}
