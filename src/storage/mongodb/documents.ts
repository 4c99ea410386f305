/** The documents of projections: one MongoDB collection for each generation of each collection. */
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { EventMark, Position } from '../event-log.ts';
import { markText, readMark } from '../event-mark.ts';
import {
  assertRetirable,
  type CollectionSpec,
  type Commit,
  type Count,
  type DocumentState,
  type DocumentWrite,
  FIRST_POINTER,
  type Find,
  type GenerationPointer,
  type GenerationProgress,
  type Stored,
  type Tallied,
  type Tally,
} from '../read-store.ts';
import { despiteRaces, isDuplicate } from './failures.ts';
import { fieldPath, findFilter, findSort, matching, type StoredDocument, searchableFields } from './find-filter.ts';

interface Registration {
  readonly _id: string;
  readonly collection: string;
  readonly generation: number;
  readonly projection: string;
}

const MOST_IDS_AT_ONCE = 1000;

export class Documents {
  readonly #database: Db;
  readonly #registrations: Collection<Registration>;
  readonly #generations: Collection<{ _id: string; generation: number; next?: number | null }>;
  readonly #checkpoints: Collection<{
    _id: string;
    position: Position;
    newest?: string;
    movedAt?: Instant;
    folded?: number;
  }>;
  readonly #madeFrom: Collection<{ _id: string; logId: string }>;
  readonly #prepared = new Set<string>();
  readonly #ownerOf = new Map<string, string>();
  readonly #lastGeneration = new Map<string, number>();

  constructor(database: Db) {
    this.#database = database;
    this.#registrations = database.collection('collections');
    this.#generations = database.collection('generations');
    this.#checkpoints = database.collection('checkpoints');
    this.#madeFrom = database.collection('made_from', { writeConcern: { w: 'majority', journal: true } });
  }

  /** Creates the indexes of this store's own collections. */
  async prepareOwn(): Promise<void> {
    await this.#registrations.createIndex({ collection: 1 });
  }

  async prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): Promise<void> {
    for (const { name, indexes } of collections) {
      const documents = this.#documents(name, generation);
      const registered = await despiteRaces(() =>
        this.#registrations.findOneAndUpdate(
          { _id: registrationId(name, generation) },
          { $setOnInsert: { collection: name, generation, projection } },
          { upsert: true, returnDocument: 'after' },
        ),
      );
      const owner = registered?.projection;
      if (owner !== projection) {
        throw new Error(`collection ${name} belongs to projection ${owner}, not to ${projection}`);
      }
      for (const fields of indexes) {
        // The id comes last, so that documents with equal fields have a stable order for paging.
        const keys = [...fields.map((field) => [fieldPath(field), 1] as const), ['_id', 1] as const];
        await documents.createIndex(new Map(keys));
      }
      this.#prepared.add(registrationId(name, generation));
    }
  }

  async load<Document>(
    collection: string,
    ids: readonly string[],
    generation: number | undefined,
  ): Promise<Map<string, Stored<Document>>> {
    const rows = await this.#read(collection, generation, (from) => byIds(from, ids));
    const documents = new Map<string, Stored<Document>>();
    for (const row of rows) {
      const stored = storedDocument<Document>(row);
      if (stored) documents.set(stored.id, stored);
    }
    return documents;
  }

  /** Documents and tombstones. */
  async loadStates(
    collection: string,
    ids: readonly string[],
    generation: number,
  ): Promise<Map<string, DocumentState>> {
    const rows = await byIds(this.#documents(collection, generation), ids);
    return new Map(
      rows.map(({ _id, position, json }) => [
        _id,
        { position, document: json === null ? null : (JSON.parse(json) as JsonObject) },
      ]),
    );
  }

  /** Writes in order, then the checkpoint. A write to a document at or past its position changes nothing. */
  async commit({ projection, generation, writes, position, newest, at, folded = 0 }: Commit): Promise<void> {
    for (const { collection } of writes) await this.#assertPrepared(collection, generation);
    for (const [collection, run] of runsOf(writes)) {
      // A commit can be repeated: writes that are already stored are left unchanged.
      await despiteRaces(() => writeInOrder(this.#documents(collection, generation), run));
    }
    await despiteRaces(() =>
      this.#checkpoints.updateOne(
        { _id: checkpointId(projection, generation) },
        // Marks sort as their positions do.
        {
          $max: { position, ...(newest && { newest: markText(newest) }), ...(at && { movedAt: at }) },
          $inc: { folded },
        },
        UPSERT,
      ),
    );
  }

  async checkpoint(projection: string, generation: number): Promise<Position | null> {
    const stored = await this.#checkpoints.findOne({ _id: checkpointId(projection, generation) });
    return stored?.position ?? null;
  }

  async progress(projection: string, generation: number): Promise<GenerationProgress | null> {
    const stored = await this.#checkpoints.findOne({ _id: checkpointId(projection, generation) });
    return stored && { position: stored.position, movedAt: stored.movedAt ?? null, folded: stored.folded ?? 0 };
  }

  async newestEvent(projection: string, generation: number): Promise<EventMark | null> {
    const stored = await this.#checkpoints.findOne({ _id: checkpointId(projection, generation) });
    return stored?.newest === undefined ? null : readMark(stored.newest);
  }

  /** @throws RangeError for a generation that readers see */
  async retireGeneration(projection: string, generation: number): Promise<void> {
    assertRetirable(await this.pointer(projection), projection, generation);
    for (const { _id, collection } of await this.#registrations.find({ projection, generation }).toArray()) {
      await this.#documents(collection, generation).drop();
      this.#prepared.delete(_id);
      // Deleted last: until then, a repeat finds it.
      await this.#registrations.deleteOne({ _id });
    }
    await this.#checkpoints.deleteOne({ _id: checkpointId(projection, generation) });
  }

  async logId(): Promise<string | null> {
    return (await this.#madeFrom.findOne({ _id: THE_LOG }))?.logId ?? null;
  }

  async belongTo(logId: string): Promise<string> {
    const stored = await despiteRaces(() =>
      this.#madeFrom.findOneAndUpdate(
        { _id: THE_LOG },
        { $setOnInsert: { logId } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    return stored?.logId ?? logId;
  }

  async find<Document>(query: Find, generation: number | undefined): Promise<Stored<Document>[]> {
    const [filter, sort] = [findFilter(query), findSort(query)];
    if (query.limit <= 0) return [];
    const rows = await this.#read(query.collection, generation, (from) =>
      from.find(filter).sort(sort).limit(query.limit).toArray(),
    );
    return rows.map((row) => storedDocument<Document>(row)).filter((stored) => stored !== null);
  }

  async count(query: Count, generation: number | undefined): Promise<number> {
    const { collection, limit } = query;
    const filter = matching(query);
    return this.#read(collection, generation, (from) =>
      from.countDocuments(filter, limit === undefined ? {} : { limit }),
    );
  }

  async tally(query: Tally, generation: number | undefined): Promise<Tallied[]> {
    const field = fieldPath(query.by);
    const texts = { $and: [matching(query), { [field]: { $gte: '' } }] };
    const tallied = await this.#read(query.collection, generation, (from) =>
      from
        .aggregate<{ readonly _id: string; readonly count: number }>([
          { $match: texts },
          { $group: { _id: `$${field}`, count: { $sum: 1 } } },
          { $sort: { count: -1, _id: 1 } },
          { $limit: query.limit },
        ])
        .toArray(),
    );
    return tallied.map(({ _id: value, count }) => ({ value, count }));
  }

  async activeGeneration(projection: string): Promise<number> {
    return (await this.pointer(projection)).active;
  }

  async pointer(projection: string): Promise<GenerationPointer> {
    const stored = await this.#generations.findOne({ _id: projection });
    return stored === null ? FIRST_POINTER : { active: stored.generation, next: stored.next ?? null };
  }

  /** One atomic operation: an update of the pointer as it was read, or the insertion of the first one. */
  async movePointer(projection: string, from: GenerationPointer, to: GenerationPointer): Promise<boolean> {
    const moved = await this.#generations.updateOne(
      { _id: projection, generation: from.active, next: from.next },
      { $set: { generation: to.active, next: to.next } },
    );
    if (moved.matchedCount > 0) return true;
    if (from.active !== FIRST_POINTER.active || from.next !== null) return false;
    try {
      await this.#generations.insertOne({ _id: projection, generation: to.active, next: to.next });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async generations(projection: string): Promise<readonly number[]> {
    const registered = await this.#registrations.distinct('generation', { projection });
    return registered.toSorted((one, other) => one - other);
  }

  /**
   * Reads from the generation that readers see. The pointer is read in parallel with the documents of the generation
   * that it showed last: it moves so rarely that a second read costs almost nothing.
   */
  async #read<Result>(
    collection: string,
    generation: number | undefined,
    read: (from: Collection<StoredDocument>) => Promise<Result>,
  ): Promise<Result> {
    if (generation !== undefined) return read(this.#documents(collection, generation));
    const expected = this.#lastGeneration.get(collection) ?? 1;
    const [active, result] = await Promise.all([
      this.#generationOf(collection),
      read(this.#documents(collection, expected)),
    ]);
    if (active === expected) return result;
    this.#lastGeneration.set(collection, active);
    return read(this.#documents(collection, active));
  }

  async #generationOf(collection: string): Promise<number> {
    let owner = this.#ownerOf.get(collection);
    if (owner === undefined) {
      owner = (await this.#registrations.findOne({ collection }))?.projection;
      if (owner === undefined) return 1;
      this.#ownerOf.set(collection, owner);
    }
    return this.activeGeneration(owner);
  }

  async #assertPrepared(collection: string, generation: number): Promise<void> {
    const id = registrationId(collection, generation);
    if (this.#prepared.has(id)) return;
    if (!(await this.#registrations.findOne({ _id: id }))) {
      throw new Error(`generation ${generation} of collection ${collection} was never prepared`);
    }
    this.#prepared.add(id);
  }

  #documents(collection: string, generation: number): Collection<StoredDocument> {
    if (!/^[a-z][a-z0-9_-]*$/.test(collection)) throw new RangeError(`not a name for a collection: ${collection}`);
    if (!Number.isSafeInteger(generation) || generation < 1) throw new RangeError(`not a generation: ${generation}`);
    return this.#database.collection(`documents.${collection}.${generation}`);
  }
}

const THE_LOG = 'log';
const UPSERT = { upsert: true } as const;

const registrationId = (collection: string, generation: number): string => `${collection}@${generation}`;
const checkpointId = (projection: string, generation: number): string => `${projection}@${generation}`;

/** Documents in the order of the requested ids. */
async function byIds(from: Collection<StoredDocument>, ids: readonly string[]): Promise<StoredDocument[]> {
  const found = new Map<string, StoredDocument>();
  for (let start = 0; start < ids.length; start += MOST_IDS_AT_ONCE) {
    const portion = ids.slice(start, start + MOST_IDS_AT_ONCE);
    for (const row of await from.find({ _id: { $in: portion } }).toArray()) found.set(row._id, row);
  }
  return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
}

/**
 * Inserts missing documents and replaces older ones. If another process creates a document in between, the insert fails
 * and everything is read again. If another process replaces one, the condition of the replacement detects it.
 */
async function writeInOrder(into: Collection<StoredDocument>, writes: readonly DocumentWrite[]): Promise<void> {
  const ids = [...new Set(writes.map(({ id }) => id))];
  const there = new Set<string>();
  for (let start = 0; start < ids.length; start += MOST_IDS_AT_ONCE) {
    const portion = into.find({ _id: { $in: ids.slice(start, start + MOST_IDS_AT_ONCE) } });
    for (const { _id } of await portion.project<{ _id: string }>({ _id: 1 }).toArray()) there.add(_id);
  }
  const operations = writes.map(({ id, document, position }): AnyBulkWriteOperation<StoredDocument> => {
    const content = {
      position,
      live: document !== null,
      json: document && JSON.stringify(document),
      fields: document ? searchableFields(document) : {},
    };
    if (there.has(id))
      return { replaceOne: { filter: { _id: id, position: { $lt: position } }, replacement: content } };
    there.add(id);
    return { insertOne: { document: { _id: id, ...content } } };
  });
  if (operations.length > 0) await into.bulkWrite(operations, { ordered: true });
}

/** Splits writes into runs on one collection; one command keeps the order within a run. */
function runsOf(writes: readonly DocumentWrite[]): [string, DocumentWrite[]][] {
  const runs: [string, DocumentWrite[]][] = [];
  for (const write of writes) {
    const last = runs.at(-1);
    if (last?.[0] === write.collection) last[1].push(write);
    else runs.push([write.collection, [write]]);
  }
  return runs;
}

function storedDocument<Document>({ _id, position, json }: StoredDocument): Stored<Document> | null {
  return json === null ? null : { id: _id, position, document: JSON.parse(json) as Document };
}
