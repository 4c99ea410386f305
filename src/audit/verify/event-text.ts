/**
 * Examined events as one text, for the thread that judges them: it reads one text faster than it would receive objects,
 * or read their rows again.
 */
import { upcastData } from '../../events/codec.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import type { RawEvent } from '../../storage/raw-events.ts';
import type { EventPlace, JudgedEvent } from '../judging.ts';
import { canonicalText } from './canonical-plain.ts';

/** Members of the list for each event. */
const MEMBERS = 10;

const BROKEN = '0,"",null,null';

/**
 * The text of an event, to be separated from others by a comma.
 * @param names the canonical texts of its stream, revision, id and type
 * @param hash as it is stored; null if it cannot be read
 * @param judged null for an event with a fault, of which only the place is said
 */
export function eventText(
  { position, data }: RawEvent,
  names: string,
  hash: string | null,
  judged: JudgedEvent | null,
): string {
  const stored = hash === null ? 'null' : `"${hash}"`;
  if (judged === null) return `"${position}",${names},${stored},${BROKEN}`;
  const { schemaVersion, recordedAt, commandId } = judged.metadata;
  const command = commandId === undefined ? 'null' : canonicalText(commandId);
  return `"${position}",${names},${stored},${schemaVersion},"${recordedAt}",${command},${data}`;
}

export interface ParsedEvents {
  readonly places: readonly EventPlace[];
  readonly hashes: readonly (string | null)[];
  /** In their newest schemas, which they are known to fit; null for events with a fault. */
  readonly judged: readonly (JudgedEvent | null)[];
}

/** @param texts a list of the texts of events */
export function parseEvents(texts: string): ParsedEvents {
  const members = JSON.parse(texts) as readonly Json[];
  const places: EventPlace[] = [];
  const hashes: (string | null)[] = [];
  const judged: (JudgedEvent | null)[] = [];
  for (let at = 0; at < members.length; at += MEMBERS) {
    const event = {
      position: members[at] as string,
      stream: members[at + 1] as string,
      revision: members[at + 2] as number,
      id: members[at + 3] as string,
      type: members[at + 4] as string,
      metadata: {
        schemaVersion: members[at + 6] as number,
        recordedAt: members[at + 7] as string,
        commandId: (members[at + 8] as string | null) ?? undefined,
      },
      data: members[at + 9] as JsonObject,
    };
    places.push(event);
    hashes.push(members[at + 5] as string | null);
    if (members[at + 9] !== null) event.data = upcastData(event);
    judged.push(members[at + 9] === null ? null : event);
  }
  return { places, hashes, judged };
}
