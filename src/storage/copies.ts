/** What a copy of a storage needs and nothing else does: blobs as they are stored, and all cells of a kind. */
import type { JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { BlobName, PayloadKind } from './payload-store.ts';

/** A blob as it is stored: unchecked, and without following its replacement. */
export interface StoredBlob {
  readonly name: BlobName;
  readonly kind: PayloadKind;
  readonly storedAt: Instant;
  /** Null if it was replaced. */
  readonly bytes: Buffer | null;
  readonly replacement: BlobName | null;
}

export interface StoredCell {
  readonly id: string;
  readonly value: JsonObject;
}

export interface StorageCopies {
  /** Names without a blob are missing from the map. Ask for few at once: all of them are in memory together. */
  blobs(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, StoredBlob>>;

  /** For each name in the store, its replacement, or null if its own bytes are there. Reads no content. */
  standings(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, BlobName | null>>;

  /** Whether the store holds any blob. */
  hasBlobs(): Promise<boolean>;

  /** Cells whose id starts with a prefix, in the order of their ids. */
  cells(prefix: string): AsyncIterable<StoredCell>;

  /**
   * Owners of leases that have not expired, on the embedded engine, where an owner shows whether its process lives;
   * empty on others.
   */
  leaseOwners(now: number): Promise<readonly string[]>;
}
