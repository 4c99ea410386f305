/** Reads of MongoDB for copies of the payload store and the cells. */
import type { Binary, Db } from 'mongodb';
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { StorageCopies, StoredBlob } from '../copies.ts';
import type { BlobName, PayloadKind } from '../payload-store.ts';
import { guarded } from './failures.ts';

interface PayloadDocument {
  readonly _id: BlobName;
  readonly kind: PayloadKind;
  readonly storedAt: Instant;
  readonly bytes?: Binary;
  readonly replacement?: BlobName;
}

/** As many as the payload store asks for at once. */
const MOST_BLOBS_AT_ONCE = 64;
const MOST_NAMES_AT_ONCE = 1000;
const CELL_PAGE = 500;

export function mongoCopies(database: Db): StorageCopies {
  const payloads = database.collection<PayloadDocument>('payloads');
  const stored = database.collection<{ readonly _id: string; readonly json: string }>('cells');
  return {
    async blobs(names) {
      const found = new Map<BlobName, StoredBlob>();
      for (const portion of portions(names, MOST_BLOBS_AT_ONCE)) {
        const documents = await guarded(() => payloads.find({ _id: { $in: portion } }).toArray());
        for (const { _id: name, kind, storedAt, bytes, replacement = null } of documents) {
          found.set(name, { name, kind, storedAt, bytes: bytes ? Buffer.from(bytes.value()) : null, replacement });
        }
      }
      return found;
    },
    async standings(names) {
      const found = new Map<BlobName, BlobName | null>();
      for (const portion of portions(names, MOST_NAMES_AT_ONCE)) {
        const documents = await guarded(() =>
          payloads
            .find({ _id: { $in: portion } })
            .project<Pick<PayloadDocument, '_id' | 'replacement'>>({ replacement: 1 })
            .toArray(),
        );
        for (const { _id: name, replacement = null } of documents) found.set(name, replacement);
      }
      return found;
    },
    async hasBlobs() {
      return (await guarded(() => payloads.find({}).project({ _id: 1 }).limit(1).toArray())).length > 0;
    },
    async *cells(prefix) {
      // Ids are ASCII, and no character of theirs sorts after this one.
      const end = `${prefix}\u{ffff}`;
      let last = prefix;
      let first = true;
      for (;;) {
        const range = { _id: { [first ? '$gte' : '$gt']: last, $lt: end } };
        const page = await guarded(() => stored.find(range).sort({ _id: 1 }).limit(CELL_PAGE).toArray());
        for (const { _id: id, json } of page) yield { id, value: JSON.parse(json) as JsonObject };
        const newest = page.at(-1);
        if (!newest || page.length < CELL_PAGE) return;
        last = newest._id;
        first = false;
      }
    },
    leaseOwners: async () => [],
  };
}

const portions = <Item>(items: readonly Item[], size: number): readonly Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
