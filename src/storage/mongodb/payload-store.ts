/**
 * The payload store on MongoDB. A blob is journaled on a majority of the members before its name is returned. Removed
 * bytes leave the collection at once; they leave the operations log of a replica set as it rolls over.
 */
import { Binary, type Collection, type Db } from 'mongodb';
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';
import { encodedPayload, openPayload, sealPayload } from '../payload-blob.ts';
import type {
  BlobName,
  EncodedPayload,
  PayloadKind,
  PayloadStore,
  ResolvedPayload,
  SealedPayload,
  StoredPayload,
} from '../payload-store.ts';
import { StorageFailure } from '../storage-failure.ts';
import type { MongoConnection } from './connection.ts';
import { despiteRaces, guarded, isDuplicate } from './failures.ts';

interface PayloadDocument {
  readonly _id: BlobName;
  readonly kind: PayloadKind;
  readonly storedAt: Instant;
  /** The content of the blob; absent if it was replaced. */
  readonly bytes?: Binary;
  readonly replacement?: BlobName;
}

/** Chains of replacements are followed this far. Redacting a redaction is rare, and a cycle is a fault. */
const MOST_REPLACEMENTS = 32;
const LIST_PAGE = 500;
/** Blobs of up to 256 KiB, so that an answer stays within a few megabytes. */
const MOST_NAMES_AT_ONCE = 64;
/** A MongoDB document holds 16 MiB, including its other fields. */
const MOST_BYTES = 16 * 1024 * 1024 - 64 * 1024;

export class MongoPayloadStore implements PayloadStore {
  readonly #database: Db;
  readonly #payloads: Collection<PayloadDocument>;
  readonly #clock: Clock;
  readonly #release: () => Promise<void>;
  #closed = false;

  constructor({ database }: MongoConnection, clock: Clock, release: () => Promise<void>) {
    this.#database = database;
    this.#payloads = database.collection('payloads', { writeConcern: { w: 'majority', journal: true } });
    this.#clock = clock;
    this.#release = release;
  }

  async prepare(): Promise<void> {
    await this.#payloads.createIndex({ kind: 1, storedAt: 1, _id: 1 });
  }

  async put(kind: PayloadKind, content: Uint8Array): Promise<BlobName> {
    const sealed = await this.seal(kind, content);
    await this.store(sealed);
    return sealed.name;
  }

  async seal(kind: PayloadKind, content: Uint8Array): Promise<SealedPayload> {
    this.#assertOpen();
    const { name, bytes } = await sealPayload(content);
    if (bytes.length > MOST_BYTES) {
      throw new RangeError(`content of ${bytes.length} bytes, compressed; the limit is ${MOST_BYTES}`);
    }
    return { name, kind, storedAt: toInstant(this.#clock.now()), bytes };
  }

  async store({ name, kind, storedAt, bytes }: SealedPayload): Promise<void> {
    this.#assertOpen();
    const payload = { _id: name, kind, storedAt, bytes: new Binary(bytes) };
    try {
      await guarded(() => this.#payloads.insertOne(payload));
    } catch (error) {
      // A name is a hash of the bytes, so an existing blob has the same content.
      if (!isDuplicate(error)) throw error;
    }
  }

  async get(name: BlobName): Promise<Buffer | null> {
    return (await this.resolve([name])).get(name)?.content ?? null;
  }

  async getEncoded(name: BlobName): Promise<EncodedPayload | null> {
    let found: EncodedPayload | null = null;
    await this.#find([name], async (_name, holder, bytes) => {
      found = encodedPayload(holder, bytes);
    });
    return found;
  }

  async getMany(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, Buffer>> {
    const resolved = await this.resolve(names);
    return new Map([...resolved].map(([name, { content }]) => [name, content]));
  }

  async resolve(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, ResolvedPayload>> {
    const found = new Map<BlobName, ResolvedPayload>();
    await this.#find(names, async (name, holder, bytes) => {
      found.set(name, { content: await openPayload(holder, bytes), replaced: holder !== name });
    });
    return found;
  }

  /** Returns the bytes under each name, or under the name of the blob that replaced it, as they are found. */
  async #find(
    names: readonly BlobName[],
    give: (name: BlobName, holder: BlobName, bytes: Buffer) => Promise<void>,
  ): Promise<void> {
    this.#assertOpen();
    /** Names that are still unresolved, each with the blob to look up for it. */
    let holders = new Map([...new Set(names)].map((name) => [name, name]));
    for (let hops = 0; hops <= MOST_REPLACEMENTS && holders.size > 0; hops++) {
      const documents = await this.#documents([...new Set(holders.values())]);
      const replaced = new Map<BlobName, BlobName>();
      for (const [name, holder] of holders) {
        const document = documents.get(holder);
        if (document?.bytes) {
          await give(name, holder, Buffer.from(document.bytes.value()));
        } else if (document?.replacement !== undefined) {
          replaced.set(name, document.replacement);
        }
      }
      holders = replaced;
    }
  }

  async remove(name: BlobName, replacement?: BlobName): Promise<void> {
    this.#assertOpen();
    if (replacement === name) throw new RangeError(`${name} cannot replace itself`);
    if (replacement === undefined) {
      await guarded(() => this.#payloads.deleteOne({ _id: name }));
      return;
    }
    const storedAt = toInstant(this.#clock.now());
    await guarded(() =>
      despiteRaces(() =>
        this.#payloads.updateOne(
          { _id: name },
          { $set: { replacement }, $unset: { bytes: true }, $setOnInsert: { kind: 'docket', storedAt } },
          { upsert: true },
        ),
      ),
    );
  }

  async *list(kind: PayloadKind, olderThan: Instant): AsyncIterable<StoredPayload> {
    let last: Pick<StoredPayload, 'storedAt' | 'name'> = { storedAt: '', name: '' };
    for (;;) {
      this.#assertOpen();
      const { storedAt, name } = last;
      const behind = { $or: [{ storedAt: { $gt: storedAt } }, { storedAt, _id: { $gt: name } }] };
      const page = await guarded(() =>
        this.#payloads
          .find({ $and: [{ kind, storedAt: { $lt: olderThan }, bytes: { $exists: true } }, behind] })
          .project<{ _id: BlobName; storedAt: Instant }>({ storedAt: 1 })
          .sort({ storedAt: 1, _id: 1 })
          .limit(LIST_PAGE)
          .toArray(),
      );
      for (const payload of page) yield { name: payload._id, kind, storedAt: payload.storedAt };
      const end = page.at(-1);
      if (!end || page.length < LIST_PAGE) return;
      last = { storedAt: end.storedAt, name: end._id };
    }
  }

  async check(): Promise<void> {
    this.#assertOpen();
    await guarded(() => this.#database.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#release();
  }

  async #documents(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, PayloadDocument>> {
    const documents = new Map<BlobName, PayloadDocument>();
    for (let start = 0; start < names.length; start += MOST_NAMES_AT_ONCE) {
      const portion = names.slice(start, start + MOST_NAMES_AT_ONCE);
      const found = await guarded(() => this.#payloads.find({ _id: { $in: portion } }).toArray());
      for (const document of found) documents.set(document._id, document);
    }
    return documents;
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageFailure('storage_closed', 'the payload store is closed');
  }
}
