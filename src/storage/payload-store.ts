/**
 * The payload store: content that events name by its hash, and that may have to be removed one day. The conformance
 * suite in `test/storage/payload-store.conformance.ts` is its specification.
 */
import type { Instant } from '../runtime/instant.ts';

/** Name of a blob: SHA-256, hex, of its 16 random bytes and its compressed content together. */
export type BlobName = string;

/** `docket` is kept until redacted; `target` and `envelope` until a delivery is final; `answer` for 30 days; `pushed` until it is applied; `look` until a look at a case ends. */
export type PayloadKind = 'docket' | 'target' | 'envelope' | 'answer' | 'pushed' | 'look';

export interface StoredPayload {
  readonly name: BlobName;
  readonly kind: PayloadKind;
  readonly storedAt: Instant;
}

/** Content that has a name and is ready to be stored, but not stored yet. */
export interface SealedPayload extends StoredPayload {
  readonly bytes: Uint8Array;
}

/** The content found under a name. */
export interface ResolvedPayload {
  readonly content: Buffer;
  /** Whether the original content was removed and this is its replacement. */
  readonly replaced: boolean;
}

/** Content as it is stored: compressed if that made it smaller. */
export interface EncodedPayload {
  /** The name of the blob that holds the content: the replacement's, if there is one. */
  readonly name: BlobName;
  readonly coding: 'br' | 'identity';
  readonly bytes: Buffer;
}

export interface PayloadStore {
  /** Stores content as durably as an append, and returns its name. The same content twice gives two names. */
  put(kind: PayloadKind, content: Uint8Array): Promise<BlobName>;

  /** Prepares content to be stored by `store` or along with an append. The same content twice gives two names. */
  seal(kind: PayloadKind, content: Uint8Array): Promise<SealedPayload>;

  /** Stores sealed content as durably as an append. Repeating it is harmless. */
  store(payload: SealedPayload): Promise<void>;

  /** The content, or null if there is no such blob. @throws CorruptPayload if the bytes no longer match their name */
  get(name: BlobName): Promise<Buffer | null>;

  /** As `get`, without decompressing it. @throws CorruptPayload if the bytes no longer match their name */
  getEncoded(name: BlobName): Promise<EncodedPayload | null>;

  /** Many at once; names without a blob are missing from the map. */
  getMany(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, Buffer>>;

  /** As `getMany`, and marks the content of a replacement. */
  resolve(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, ResolvedPayload>>;

  /**
   * Removes a blob. With a replacement, `get(name)` then returns the replacement's content. Repeating it is harmless,
   * and so is an unknown name.
   */
  remove(name: BlobName, replacement?: BlobName): Promise<void>;

  /** Blobs of a kind stored before an instant, oldest first, without removed ones. */
  list(kind: PayloadKind, olderThan: Instant): AsyncIterable<StoredPayload>;

  check(): Promise<void>;
  close(): Promise<void>;
}

/** Stored bytes do not match the name by which an event refers to them. */
export class CorruptPayload extends Error {
  readonly code = 'corrupt_payload';
  constructor(readonly blob: BlobName) {
    super(`the stored bytes of ${blob} do not match their name`);
    this.name = 'CorruptPayload';
  }
}
