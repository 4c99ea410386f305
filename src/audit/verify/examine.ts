/**
 * Examines each event by itself and against the one before it in its stream: readable, hash, type, stream, schema, id.
 * It needs no state but a cache, so it may run on a thread of its own.
 */
import { decodeEvent, newestSchemaOf, UnknownEventType } from '../../events/codec.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { appendIndexOf, eventId, eventIdStanding } from '../../storage/event-id.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import type { RawBatch, RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import type { EventPlace, JudgedEvent } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import { canonicalText } from './canonical-plain.ts';
import { Generations } from './generations.ts';
import { chainHash, storedEvent, storedHash } from './stored-json.ts';
import { streamFits } from './stream-fits.ts';

/** What is wrong with one event. The first fault only: the others follow from it. */
export interface Fault {
  /** The event's place in its batch. */
  readonly index: number;
  readonly rule: RuleName;
  readonly expected: string;
  readonly found: string;
}

export interface ExaminedBatch {
  readonly upTo: Position;
  readonly count: number;
  /** By place in the batch. */
  readonly faults: readonly Fault[];
  /** How many events of earlier versions cannot prove their id. */
  readonly unprovableIds: number;
}

/** Examined events, together with the events. */
export interface ExaminedEvents extends ExaminedBatch {
  readonly places: readonly EventPlace[];
  /** As they are stored; null where none can be read. */
  readonly hashes: readonly (string | null)[];
  /** Null where there is a fault. */
  readonly judged: readonly (JudgedEvent | null)[];
}

export interface Examiner {
  /** Everything after one position up to another, in log order. */
  examined(after: Position | null, upTo: Position): AsyncIterable<ExaminedEvents>;
  close(): Promise<void>;
}

/** The newest examined event of a stream. */
interface Link {
  readonly revision: number;
  /** Null if it cannot be read. */
  readonly hash: string | null;
  /** What the hash should have been, if it was another. */
  readonly recomputed: string | null;
  /** The event's place in its append; undefined if it is unknown here. */
  readonly place: number | null | undefined;
  readonly command: string | undefined;
}

const LINKS = 1_000;

/** Finds an event that was read before and is no longer in the cache. */
export type FindEvent = (stream: string, revision: number) => Promise<RawEvent | null> | RawEvent | null;

/**
 * @param names the canonical texts of its stream, revision, id and type, separated by commas
 * @param hash as it is stored; null if it cannot be read
 */
export type KeepExamined = (raw: RawEvent, names: string, hash: string | null, judged: JudgedEvent | null) => void;

export class EventExaminer {
  readonly #find: FindEvent;
  readonly #links = new Generations<Link>(LINKS);

  constructor(find: FindEvent) {
    this.#find = find;
  }

  /** @param keep is given each event, as it is judged or null for one with a fault */
  async batch({ events, upTo }: RawBatch, keep: KeepExamined): Promise<ExaminedBatch> {
    const faults: Fault[] = [];
    let unprovableIds = 0;
    let index = 0;
    for (const raw of events) {
      const before = raw.revision > 0 ? (this.#known(raw) ?? (await this.#lookUp(raw))) : FIRST;
      const names = `${canonicalText(raw.stream)},${raw.revision},${canonicalText(raw.id)},${canonicalText(raw.type)}`;
      const examined = examine(raw, names, before);
      const { link, fault, event } = examined;
      this.#links.set(raw.stream, link);
      if (fault) faults.push({ index, ...fault });
      if (examined.unprovableId) unprovableIds++;
      keep(raw, names, link.hash, event);
      index++;
    }
    return { upTo, count: events.length, faults, unprovableIds };
  }

  #known({ stream, revision }: RawEvent): Link | undefined {
    const link = this.#links.get(stream);
    return link?.revision === revision - 1 ? link : undefined;
  }

  async #lookUp({ stream, revision }: RawEvent): Promise<Link | null> {
    const before = await this.#find(stream, revision - 1);
    if (!before) return null;
    const hash = storedHash(before.metadata);
    return { revision: revision - 1, hash, recomputed: null, place: undefined, command: undefined };
  }
}

const FIRST: Link = { revision: -1, hash: '', recomputed: null, place: null, command: undefined };

type FoundFault = Omit<Fault, 'index'>;

interface ExaminedEvent {
  readonly link: Link;
  readonly fault: FoundFault | null;
  readonly event: JudgedEvent | null;
  readonly unprovableId: boolean;
}

/** @param before the event before it in its stream; null if it is missing, which is found elsewhere */
function examine(raw: RawEvent, names: string, before: Link | null): ExaminedEvent {
  const { stream, revision, id, type } = raw;
  let recomputed: string | null = null;
  const wrong = (fault: FoundFault, hash: string | null): ExaminedEvent => ({
    // Its place in its append proves nothing about the next one.
    link: { revision, hash, recomputed, place: undefined, command: undefined },
    fault,
    event: null,
    unprovableId: false,
  });
  let hash: string | null = null;
  try {
    const { event, dataText, metadataText } = storedEvent(raw);
    const { metadata } = event;
    ({ hash } = metadata);
    if (before !== null && before.hash !== null) {
      recomputed = chainHash(before.hash, names, dataText, metadataText);
      // If only the stored hash of the event before was changed, this one continues what it had been.
      const continues = (of: string): boolean => chainHash(of, names, dataText, metadataText) === hash;
      if (recomputed !== hash && (before.recomputed === null || !continues(before.recomputed))) {
        const follows = before.revision < 0 ? 'the beginning of the stream' : `revision ${before.revision}`;
        return wrong({ rule: 'hash_matches', expected: `${recomputed} after ${follows}`, found: hash }, hash);
      }
      recomputed = null;
    }
    const newest = newestSchemaOf(type);
    // It is forged, or a later version wrote it, whose rules are not known here.
    if (metadata.schemaVersion > newest) {
      const [expected, found] = [`schema version ${newest} of ${type} at most`, `version ${metadata.schemaVersion}`];
      return wrong({ rule: 'schema_fits', expected, found }, hash);
    }
    const decoded = decodeEvent(event);
    if (!streamFits(stream, type)) {
      return wrong({ rule: 'event_in_its_stream', expected: `a stream of the family of ${type}`, found: stream }, hash);
    }
    const place = placeOf(event, before);
    const standing = eventIdStanding(event, place);
    if (standing === 'differs') {
      return wrong({ rule: 'event_id_recomputable', expected: 'the id that its command gives it', found: id }, hash);
    }
    const link = { revision, hash, recomputed, place, command: metadata.commandId };
    const data = decoded.data as JudgedEvent['data'];
    const judged = { position: raw.position, stream, revision, id, type, metadata, data };
    return { link, fault: null, event: judged, unprovableId: standing === 'unprovable' };
  } catch (error) {
    return wrong(faultOf(error, type), hash ?? storedHash(raw.metadata));
  }
}

/** The event's place in its append: most likely the next one, if the same command wrote the event before it. */
function placeOf(event: RecordedEvent, before: Link | null): number | null {
  const { stream, revision, id, metadata } = event;
  if (typeof before?.place === 'number' && before.command !== undefined && before.command === metadata.commandId) {
    const next = before.place + 1;
    if (eventId(before.command, stream, revision - 1 - next, next) === id) return next;
  }
  return appendIndexOf(event, before === null ? undefined : before.place);
}

function faultOf(error: unknown, type: string): FoundFault {
  if (error instanceof UnknownEventType) {
    return { rule: 'type_known', expected: 'a type of event that this version knows', found: type };
  }
  if (error instanceof UnreadableEvent) {
    return { rule: 'schema_fits', expected: `data as ${type} has it`, found: error.message.replace(/^.*?: /, '') };
  }
  // Anything else: nested too deep to be read, or a content that an upcaster cannot take.
  const found = error instanceof Error ? error.message : String(error);
  return { rule: 'event_readable', expected: 'an event as this service writes it', found };
}

/** Examines on this thread. */
export function examinerHere(log: Pick<RawEventLog, 'read'>, find: FindEvent): Examiner {
  const examiner = new EventExaminer(find);
  return {
    async *examined(after, upTo) {
      for await (const batch of log.read(after, upTo)) {
        const hashes: (string | null)[] = [];
        const judged: (JudgedEvent | null)[] = [];
        const examined = await examiner.batch(batch, (_raw, _names, hash, event) => {
          hashes.push(hash);
          judged.push(event);
        });
        yield { ...examined, places: batch.events, hashes, judged };
      }
    },
    close: async () => undefined,
  };
}
