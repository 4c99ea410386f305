/** Reads stored content on a connection of its own that cannot write, as an auditor does. */
import { encodedPayload, openPayload } from '../payload-blob.ts';
import type { BlobName, EncodedPayload, PayloadStore, ResolvedPayload } from '../payload-store.ts';
import type { Database } from './driver.ts';
import { heldUnder, type PayloadRow, SELECT_PAYLOAD } from './payload-store.ts';
import { openLogToRead, translated } from './raw-events.ts';

export class SqliteRawPayloads implements Pick<PayloadStore, 'getEncoded' | 'resolve'> {
  readonly #database: Database;
  readonly #select;

  /** @throws StorageFailure if the file cannot be opened or has no table of payloads */
  constructor(path: string) {
    this.#database = openLogToRead(path);
    try {
      this.#select = this.#database.prepare<[BlobName], PayloadRow>(SELECT_PAYLOAD);
    } catch (error) {
      this.#database.close();
      throw translated(error);
    }
  }

  async getEncoded(name: BlobName): Promise<EncodedPayload | null> {
    const found = await this.#find(name);
    return found && encodedPayload(found.holder, found.bytes);
  }

  async resolve(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, ResolvedPayload>> {
    const resolved = new Map<BlobName, ResolvedPayload>();
    for (const name of names) {
      const held = await this.#find(name);
      if (!held) continue;
      resolved.set(name, { content: await openPayload(held.holder, held.bytes), replaced: held.holder !== name });
    }
    return resolved;
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #find(name: BlobName) {
    return heldUnder(name, async (holder) => {
      try {
        return this.#select.get(holder);
      } catch (error) {
        throw translated(error);
      }
    });
  }
}
