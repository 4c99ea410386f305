/**
 * Examines each event by itself and against the one before it in its stream: readable, hash, type, stream, schema, id.
 * It needs no state but a cache, so it may run on a thread of its own.
 */
import { decodeEvent, UnknownEventType } from '../../events/codec.ts';
import { leafOf } from '../../events/log-tree.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { appendIndexOf, eventIdStanding } from '../../storage/event-id.ts';
import { hashEvent } from '../../storage/prepare-append.ts';
import type { RawBatch, RawEvent } from '../../storage/raw-events.ts';
import type { JudgedEvent } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import { Generations } from './generations.ts';
import { metadataOf, storedHash, storedObject, Unreadable } from './stored-json.ts';
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
  readonly events: number;
  /** The leaves of the events, 32 bytes each; zeros if no hash can be read. */
  readonly leaves: Uint8Array;
  /** By place in the batch. */
  readonly faults: readonly Fault[];
  /** How many events of earlier versions cannot prove their id. */
  readonly unprovableIds: number;
  /** The events, null where there is a fault; omitted by an examiner on another thread. */
  readonly judged?: readonly (JudgedEvent | null)[];
}

export interface Examiner {
  /** Batches are examined in log order. */
  examine(batch: RawBatch): Promise<ExaminedBatch>;
  close(): Promise<void>;
}

export const LEAF_BYTES = 32;

/** The newest examined event of a stream. */
interface Link {
  readonly revision: number;
  /** Null if it cannot be read. */
  readonly hash: string | null;
  /** What the hash should have been, if it was another. */
  readonly recomputed: string | null;
  /** The event's place in its append; undefined if it is unknown here. */
  readonly place: number | null | undefined;
}

const LINKS = 50_000;

/** Finds an event that was read before and is no longer in the cache. */
export type FindEvent = (stream: string, revision: number) => Promise<RawEvent | null> | RawEvent | null;

export class EventExaminer {
  readonly #find: FindEvent;
  readonly #links = new Generations<Link>(LINKS);

  constructor(find: FindEvent) {
    this.#find = find;
  }

  /** @param keep whether the events are wanted too */
  async batch({ events }: RawBatch, keep: boolean): Promise<ExaminedBatch> {
    const leaves = new Uint8Array(events.length * LEAF_BYTES);
    const faults: Fault[] = [];
    const judged: (JudgedEvent | null)[] = [];
    let unprovableIds = 0;
    for (const [index, raw] of events.entries()) {
      const before = raw.revision > 0 ? (this.#known(raw) ?? (await this.#lookUp(raw))) : FIRST;
      const examined = examine(raw, before);
      this.#links.set(raw.stream, examined.link);
      if (examined.fault) faults.push({ index, ...examined.fault });
      if (examined.unprovableId) unprovableIds++;
      if (keep) judged.push(examined.fault ? null : examined.event);
      const { hash } = examined.link;
      if (hash !== null) leaves.set(leafOf({ stream: raw.stream, revision: raw.revision, hash }), index * LEAF_BYTES);
    }
    return { events: events.length, leaves, faults, unprovableIds, ...(keep && { judged }) };
  }

  #known({ stream, revision }: RawEvent): Link | undefined {
    const link = this.#links.get(stream);
    return link?.revision === revision - 1 ? link : undefined;
  }

  async #lookUp({ stream, revision }: RawEvent): Promise<Link | null> {
    const before = await this.#find(stream, revision - 1);
    if (!before) return null;
    return { revision: revision - 1, hash: storedHash(before.metadata), recomputed: null, place: undefined };
  }
}

const FIRST: Link = { revision: -1, hash: '', recomputed: null, place: null };

type FoundFault = Omit<Fault, 'index'>;

interface ExaminedEvent {
  readonly link: Link;
  readonly fault: FoundFault | null;
  readonly event: JudgedEvent | null;
  readonly unprovableId: boolean;
}

/** @param before the event before it in its stream; null if it is missing, which is found elsewhere */
function examine(raw: RawEvent, before: Link | null): ExaminedEvent {
  const { position, stream, revision, id, type } = raw;
  let recomputed: string | null = null;
  let place: number | null = null;
  const wrong = (fault: FoundFault, hash: string | null): ExaminedEvent => ({
    // Its place in its append proves nothing about the next one.
    link: { revision, hash, recomputed, place: undefined },
    fault,
    event: null,
    unprovableId: false,
  });
  let hash: string | null = null;
  try {
    if (!Number.isSafeInteger(revision) || revision < 0) throw new Unreadable('its revision is not a whole number');
    const metadata = metadataOf(storedObject(raw.metadata, 'metadata'));
    const data = storedObject(raw.data, 'data');
    ({ hash } = metadata);
    const event = { position, stream, revision, id, type, data, metadata };
    if (before !== null && before.hash !== null) {
      recomputed = hashEvent(before.hash, event);
      // If only the stored hash of the event before was changed, this one continues what it had been.
      if (recomputed !== hash && (before.recomputed === null || hashEvent(before.recomputed, event) !== hash)) {
        const follows = before.revision < 0 ? 'the beginning of the stream' : `revision ${before.revision}`;
        return wrong({ rule: 'hash_matches', expected: `${recomputed} after ${follows}`, found: hash }, hash);
      }
      recomputed = null;
    }
    const decoded = decodeEvent(event);
    if (!streamFits(stream, type)) {
      return wrong({ rule: 'event_in_its_stream', expected: `a stream of the family of ${type}`, found: stream }, hash);
    }
    place = appendIndexOf(event, before === null ? undefined : before.place);
    const standing = eventIdStanding(event, place);
    if (standing === 'differs') {
      return wrong({ rule: 'event_id_recomputable', expected: 'the id that its command gives it', found: id }, hash);
    }
    const link = { revision, hash, recomputed, place };
    const judged = { ...event, data: decoded.data as JudgedEvent['data'] };
    return { link, fault: null, event: judged, unprovableId: standing === 'unprovable' };
  } catch (error) {
    return wrong(faultOf(error, type), hash ?? storedHash(raw.metadata));
  }
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
export const examinerHere = (find: FindEvent): Examiner => {
  const examiner = new EventExaminer(find);
  return { examine: (batch) => examiner.batch(batch, true), close: async () => undefined };
};
