/** The payload store on SQLite, in the file of the event log: a blob is as durable as the event that names it. */

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
import type { Database } from './driver.ts';
import type { LogCommitter } from './log-committer.ts';
import type { SqliteFile } from './sqlite-file.ts';

export interface PayloadRow {
  readonly replacement: BlobName | null;
  readonly bytes: Buffer | null;
}

export const SELECT_PAYLOAD = 'SELECT replacement, bytes FROM payloads WHERE name = ?';

/** Chains of replacements are followed this far. Redacting a redaction is rare, and a cycle is a fault. */
const MOST_REPLACEMENTS = 32;
const LIST_PAGE = 500;
/** Removed bytes stay in the write-ahead log until it is emptied; removals at about the same time share that work. */
const EMPTY_WAL_AFTER_MS = 1000;

export class SqlitePayloadStore implements PayloadStore {
  readonly #file: SqliteFile;
  readonly #committer: LogCommitter;
  readonly #clock: Clock;
  readonly #select;
  readonly #page;
  #emptyWal: NodeJS.Timeout | null = null;
  /** Until this process empties it, the write-ahead log may hold bytes that a process removed before it died. */
  #emptiedBefore = false;
  #closed = false;

  constructor(file: SqliteFile, committer: LogCommitter, clock: Clock) {
    this.#file = file;
    this.#committer = committer;
    this.#clock = clock;
    const { database } = file;
    this.#select = database.prepare<[BlobName], PayloadRow>(SELECT_PAYLOAD);
    this.#page = database.prepare<[PayloadKind, Instant, Instant, BlobName], StoredPayload>(
      `SELECT name, kind, stored_at AS storedAt FROM payloads
       WHERE bytes IS NOT NULL AND kind = ? AND stored_at < ? AND (stored_at, name) > (?, ?)
       ORDER BY stored_at, name LIMIT ${LIST_PAGE}`,
    );
    committer.hold();
  }

  async put(kind: PayloadKind, content: Uint8Array): Promise<BlobName> {
    const sealed = await this.seal(kind, content);
    await this.store(sealed);
    return sealed.name;
  }

  async seal(kind: PayloadKind, content: Uint8Array): Promise<SealedPayload> {
    this.#assertOpen();
    return { ...(await sealPayload(content)), kind, storedAt: toInstant(this.#clock.now()) };
  }

  async store(payload: SealedPayload): Promise<void> {
    this.#assertOpen();
    await this.#committer.submit({ write: 'put payload', payload });
  }

  async get(name: BlobName): Promise<Buffer | null> {
    return (await this.#resolve(name))?.content ?? null;
  }

  async getEncoded(name: BlobName): Promise<EncodedPayload | null> {
    const found = await this.#find(name);
    return found && encodedPayload(found.holder, found.bytes);
  }

  async getMany(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, Buffer>> {
    const resolved = await this.resolve(names);
    return new Map([...resolved].map(([name, { content }]) => [name, content]));
  }

  async resolve(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, ResolvedPayload>> {
    const found = new Map<BlobName, ResolvedPayload>();
    for (const name of names) {
      const resolved = await this.#resolve(name);
      if (resolved) found.set(name, resolved);
    }
    return found;
  }

  async remove(name: BlobName, replacement?: BlobName): Promise<void> {
    this.#assertOpen();
    if (replacement === name) throw new RangeError(`${name} cannot replace itself`);
    const storedAt = toInstant(this.#clock.now());
    const found = await this.#committer.submit<boolean | undefined>(
      replacement === undefined
        ? { write: 'delete payload', name }
        : { write: 'replace payload', name, replacement, storedAt },
    );
    // The loser of a claim removes a payload that was never stored, so no bytes are left behind.
    if (found === false && this.#emptiedBefore) return;
    this.#emptyWal ??= setTimeout(() => this.#emptyWriteAheadLog(), EMPTY_WAL_AFTER_MS).unref();
  }

  async *list(kind: PayloadKind, olderThan: Instant): AsyncIterable<StoredPayload> {
    let last: Pick<StoredPayload, 'storedAt' | 'name'> = { storedAt: '', name: '' };
    for (;;) {
      const { storedAt, name } = last;
      this.#assertOpen();
      const page = await this.#file.whenFree(() => this.#page.all(kind, olderThan, storedAt, name));
      yield* page;
      const end = page.at(-1);
      if (!end || page.length < LIST_PAGE) return;
      last = end;
    }
  }

  async check(): Promise<void> {
    this.#file.assertInPlace();
    await this.#row('');
  }

  /** @returns whether the write-ahead log is empty now */
  async emptyWriteAheadLog(): Promise<boolean> {
    this.#assertOpen();
    let isEmpty = false;
    await this.#committer.between(() => {
      isEmpty = emptyWriteAheadLog(this.#file.database);
    });
    return isEmpty;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committer.flush();
    if (this.#emptyWal) {
      clearTimeout(this.#emptyWal);
      await this.#emptyWriteAheadLog();
    }
    await this.#committer.release();
  }

  async #resolve(name: BlobName): Promise<ResolvedPayload | null> {
    const found = await this.#find(name);
    return found && { content: await openPayload(found.holder, found.bytes), replaced: found.holder !== name };
  }

  #find(name: BlobName): Promise<HeldBlob | null> {
    return heldUnder(name, (holder) => this.#row(holder));
  }

  async #row(name: BlobName): Promise<PayloadRow | undefined> {
    this.#assertOpen();
    return this.#file.whenFree(() => this.#select.get(name));
  }

  /** The log cannot be emptied while a write is in progress. */
  #emptyWriteAheadLog(): Promise<void> {
    this.#emptyWal = null;
    return this.#committer.between(() => {
      if (emptyWriteAheadLog(this.#file.database)) this.#emptiedBefore = true;
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageFailure('storage_closed', 'the payload store is closed');
  }
}

interface HeldBlob {
  readonly holder: BlobName;
  readonly bytes: Buffer;
}

/** The bytes under a name, or under the name of the blob that replaced it. */
export async function heldUnder(
  name: BlobName,
  rowOf: (name: BlobName) => Promise<PayloadRow | undefined>,
): Promise<HeldBlob | null> {
  let holder = name;
  for (let hops = 0; hops <= MOST_REPLACEMENTS; hops++) {
    const row = await rowOf(holder);
    if (row?.bytes) return { holder, bytes: row.bytes };
    if (!row?.replacement) return null;
    holder = row.replacement;
  }
  return null;
}

/**
 * Best effort: a reader in another process may prevent it; the next checkpoint then overwrites the log.
 * @returns whether it is empty
 */
export function emptyWriteAheadLog(database: Database): boolean {
  try {
    return database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } catch {
    // Trying again with the next removal loses nothing.
    return false;
  }
}
