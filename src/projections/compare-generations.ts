/**
 * Compares two generations of a read model at one position, document by document, while both go on following the log:
 * pages of both are walked in the order of ids, and a document that differs is read again until both sides show it at one
 * position, or neither has changed since both had passed the head. Memory holds a page of each side and the sample.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../events/canonical-json.ts';
import type { JsonObject } from '../events/event.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { ReadStore, Stored } from '../storage/read-store.ts';
import { type FieldDifference, fieldDifferences } from './field-differences.ts';
import type { Projection } from './projection.ts';

export interface Comparison {
  /** Both generations had folded everything up to here before the first document was read; null for an empty log. */
  readonly position: Position | null;
  readonly collections: readonly CollectionComparison[];
  readonly documents: number;
  readonly differences: number;
  /** Documents that changed too often to be seen at one position on both sides: neither equal nor different. */
  readonly undecided: number;
  /** The first differences. */
  readonly sample: readonly DocumentDifference[];
}

export interface CollectionComparison {
  readonly collection: string;
  readonly from: number;
  readonly to: number;
  readonly differences: number;
}

export interface DocumentDifference {
  readonly collection: string;
  readonly id: string;
  /** SHA-256 of the canonical JSON of each side; null where there is no document. */
  readonly fromHash: string | null;
  readonly toHash: string | null;
  readonly fields: readonly FieldDifference[];
}

export interface ComparisonPorts {
  readonly log: Pick<EventLog, 'head'>;
  readonly readStore: Pick<ReadStore, 'find' | 'load'>;
  readonly projection: Projection;
  /** The generation that readers see, and the other one. */
  readonly from: number;
  readonly to: number;
  /** Waits until both have folded everything up to a position. @throws if one of them cannot */
  readonly untilBoth: (position: Position) => Promise<void>;
  /** How many differences to describe. */
  readonly sample: number;
  readonly signal?: AbortSignal | undefined;
  readonly compared?: (documents: number) => void;
}

const PAGE = 200;
/** Looks that first wait for the head; then both sides are read as often as possible, to meet at one position. */
const PATIENT_LOOKS = 3;
const BETWEEN_LOOKS_MS = 2;
const UNDECIDED_AFTER_MS = 20_000;
/** Positions remembered for each document and side. */
const MOST_POSITIONS = 500;

interface Pair {
  readonly id: string;
  readonly from: Side;
  readonly to: Side;
}

/** Null if there is no document. */
type Side = Pick<Stored, 'position' | 'document'> | null;

/** What each side showed at which position, over all looks. */
class Suspect {
  readonly #seen = { from: new Map<Position, JsonObject>(), to: new Map<Position, JsonObject>() };

  /** @returns the pair at a position that both sides have shown; null if there is none yet */
  see({ id, from, to }: Pair): Pair | null {
    this.#keep('from', from);
    this.#keep('to', to);
    for (const [one, other] of [
      ['from', to],
      ['to', from],
    ] as const) {
      const shown = other && this.#seen[one].get(other.position);
      if (!other || !shown) continue;
      const side = { position: other.position, document: shown };
      return one === 'from' ? { id, from: side, to: other } : { id, from: other, to: side };
    }
    return null;
  }

  #keep(name: 'from' | 'to', side: Side): void {
    const seen = this.#seen[name];
    if (side) seen.set(side.position, side.document);
    const [oldest] = seen.keys();
    if (seen.size > MOST_POSITIONS && oldest !== undefined) seen.delete(oldest);
  }
}

export async function compareGenerations(ports: ComparisonPorts): Promise<Comparison> {
  const position = await ports.log.head();
  if (position !== null) await ports.untilBoth(position);
  const collections: CollectionComparison[] = [];
  const sample: DocumentDifference[] = [];
  let documents = 0;
  let undecided = 0;
  for (const { name: collection } of ports.projection.collections) {
    const counts = { from: 0, to: 0, differences: 0 };
    let suspects: Pair[] = [];
    const settle = async (): Promise<void> => {
      const settled = await settledOf(ports, collection, suspects);
      undecided += settled.undecided;
      for (const pair of settled.different) {
        counts.differences++;
        if (sample.length < ports.sample) sample.push(describe(collection, pair));
      }
      suspects = [];
    };
    for await (const pair of pairs(ports, collection)) {
      if (pair.from !== null) counts.from++;
      if (pair.to !== null) counts.to++;
      if (!isSame(pair.from, pair.to)) suspects.push(pair);
      if (suspects.length >= PAGE) await settle();
      documents++;
      if (documents % PAGE === 0) {
        ports.signal?.throwIfAborted();
        ports.compared?.(documents);
      }
    }
    await settle();
    collections.push({ collection, ...counts });
  }
  ports.compared?.(documents);
  const differences = collections.reduce((sum, { differences }) => sum + differences, 0);
  return { position, collections, documents, differences, undecided, sample };
}

/** The documents of both sides by id; the engines order ids by their bytes. */
async function* pairs({ readStore, from, to }: ComparisonPorts, collection: string): AsyncIterable<Pair> {
  const one = documentsOf(readStore, collection, from);
  const other = documentsOf(readStore, collection, to);
  let [left, right] = [await one.next(), await other.next()];
  while (!left.done || !right.done) {
    const order = left.done ? 1 : right.done ? -1 : Buffer.compare(left.value.bytes, right.value.bytes);
    const id = order <= 0 && !left.done ? left.value.id : right.done ? '' : right.value.id;
    yield {
      id,
      from: order <= 0 && !left.done ? left.value : null,
      to: order >= 0 && !right.done ? right.value : null,
    };
    if (order <= 0) left = await one.next();
    if (order >= 0) right = await other.next();
  }
}

type Walked = Stored & { readonly bytes: Buffer };

async function* documentsOf(
  readStore: ComparisonPorts['readStore'],
  collection: string,
  generation: number,
): AsyncGenerator<Walked, undefined> {
  let after: { id: string } | undefined;
  for (;;) {
    const page = await readStore.find({ collection, limit: PAGE, ...(after && { after }) }, generation);
    for (const stored of page) yield { ...stored, bytes: Buffer.from(stored.id) };
    const last = page.at(-1);
    if (!last || page.length < PAGE) return undefined;
    after = { id: last.id };
  }
}

/** Which of these differ for good. */
async function settledOf(
  { readStore, log, from, to, untilBoth, signal }: ComparisonPorts,
  collection: string,
  suspects: readonly Pair[],
): Promise<{ readonly different: readonly Pair[]; readonly undecided: number }> {
  const different: Pair[] = [];
  const seen = new Map(suspects.map(({ id }) => [id, new Suspect()]));
  let open = suspects;
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (let look = 1; open.length > 0; look++) {
    signal?.throwIfAborted();
    if (look <= PATIENT_LOOKS) {
      const head = await log.head();
      if (head !== null) await untilBoth(head);
    } else {
      giveUpAt = Math.min(giveUpAt, performance.now() + UNDECIDED_AFTER_MS);
      if (performance.now() > giveUpAt) return { different, undecided: open.length };
      await pause(BETWEEN_LOOKS_MS, signal);
    }
    const ids = open.map(({ id }) => id);
    const [left, right] = await Promise.all([
      readStore.load(collection, ids, from),
      readStore.load(collection, ids, to),
    ]);
    const still: Pair[] = [];
    for (const before of open) {
      const { id } = before;
      const pair: Pair = { id, from: left.get(id) ?? null, to: right.get(id) ?? null };
      if (isSame(pair.from, pair.to)) continue;
      const met = seen.get(id)?.see(pair);
      if (met) {
        if (!isSame(met.from, met.to)) different.push(met);
      } else if (look <= PATIENT_LOOKS && isUnchanged(before, pair)) different.push(pair);
      else still.push(pair);
    }
    open = still;
  }
  return { different, undecided: 0 };
}

/** Since a look before both sides had passed the head: then no event is on its way to either. */
const isUnchanged = (before: Pair, pair: Pair): boolean =>
  before.from?.position === pair.from?.position && before.to?.position === pair.to?.position;

const isSame = (one: Side, other: Side): boolean => isEqual(one?.document ?? null, other?.document ?? null);

const isEqual = (one: JsonObject | null, other: JsonObject | null): boolean =>
  one === other ||
  (one !== null &&
    other !== null &&
    // Two folds of one document usually write its members in the same order.
    (JSON.stringify(one) === JSON.stringify(other) || canonicalJson(one) === canonicalJson(other)));

const hashOf = (document: JsonObject | null): string | null =>
  document && createHash('sha256').update(canonicalJson(document)).digest('hex');

const describe = (collection: string, { id, from, to }: Pair): DocumentDifference => ({
  collection,
  id,
  fromHash: hashOf(from?.document ?? null),
  toHash: hashOf(to?.document ?? null),
  fields: fieldDifferences(from?.document ?? null, to?.document ?? null),
});
