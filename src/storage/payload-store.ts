/**
 * The payload store: the content that events name by its hash, and that may one day have to go. The conformance suite
 * in `test/storage/payload-store.conformance.ts` is its specification.
 */
import type { Instant } from '../runtime/instant.ts';

/** Name of a blob: SHA-256, hex, of its 16 random bytes and its compressed content together. */
export type BlobName = string;

/** `docket` is kept until redacted; `target` and `envelope` until a delivery is final; `answer` for 30 days. */
export type PayloadKind = 'docket' | 'target' | 'envelope' | 'answer';

export interface StoredPayload {
  readonly name: BlobName;
  readonly kind: PayloadKind;
  readonly storedAt: Instant;
}

/** Content that is named and ready to be stored. Nothing of it is stored yet. */
export interface SealedPayload extends StoredPayload {
  readonly bytes: Uint8Array;
}

/** What stands under a name. */
export interface ResolvedPayload {
  readonly content: Buffer;
  /** Whether the content was removed and this is what stands in its place. */
  readonly replaced: boolean;
}

/** Content as it is stored: compressed, where that made it smaller. */
export interface EncodedPayload {
  /** Of the blob that holds it: that of the replacement, where there is one. */
  readonly name: BlobName;
  readonly coding: 'br' | 'identity';
  readonly bytes: Buffer;
}

export interface PayloadStore {
  /** Stores content, as durably as an append; gives its name. The same content twice gives two names. */
  put(kind: PayloadKind, content: Uint8Array): Promise<BlobName>;

  /** Makes content ready to be stored, by `store` or along with an append. The same content twice gives two names. */
  seal(kind: PayloadKind, content: Uint8Array): Promise<SealedPayload>;

  /** Stores what was sealed, as durably as an append. Repeating it is harmless. */
  store(payload: SealedPayload): Promise<void>;

  /** The content, or null if no such blob is there. @throws CorruptPayload if the bytes no longer match their name */
  get(name: BlobName): Promise<Buffer | null>;

  /** As `get`, without decompressing it. @throws CorruptPayload if the bytes no longer match their name */
  getEncoded(name: BlobName): Promise<EncodedPayload | null>;

  /** Many at once; a name that is not there is missing from the map. */
  getMany(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, Buffer>>;

  /** As `getMany`, and tells a replacement's content from the original. */
  resolve(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, ResolvedPayload>>;

  /**
   * Removes a blob; with a replacement, `get(name)` gives the replacement's content from then on. Repeating it is
   * harmless; so is a name that is not there.
   */
  remove(name: BlobName, replacement?: BlobName): Promise<void>;

  /** Blobs of a kind stored before an instant, oldest first, removed ones left out. */
  list(kind: PayloadKind, olderThan: Instant): AsyncIterable<StoredPayload>;

  check(): Promise<void>;
  close(): Promise<void>;
}

/** Stored bytes do not match the name that an event knows them by. */
export class CorruptPayload extends Error {
  readonly code = 'corrupt_payload';
  constructor(readonly blob: BlobName) {
    super(`the stored bytes of ${blob} do not match their name`);
    this.name = 'CorruptPayload';
  }
}
