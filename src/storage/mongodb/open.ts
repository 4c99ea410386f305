/** Opens the read store and the payload store in one MongoDB database. */
import { type Clock, systemClock } from '../../runtime/instant.ts';
import type { StorageCopies } from '../copies.ts';
import type { PayloadStore } from '../payload-store.ts';
import type { ReadStore } from '../read-store.ts';
import { connect } from './connection.ts';
import { mongoCopies } from './copies.ts';
import { guarded } from './failures.ts';
import { MongoPayloadStore } from './payload-store.ts';
import { MongoReadStore } from './read-store.ts';

export interface MongoStorage {
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly copies: StorageCopies;
  close(): Promise<void>;
}

/**
 * Connects and creates the missing indexes.
 * @throws StorageFailure if there is no answer, or the credentials are rejected
 */
export async function openMongo(url: string, clock: Clock = systemClock): Promise<MongoStorage> {
  const connection = connect(url);
  let open = 2;
  // Each store may be closed separately; the last one closes the connection.
  const release = async (): Promise<void> => {
    if (--open === 0) await connection.client.close();
  };
  const payloads = new MongoPayloadStore(connection, clock, release);
  const readStore = new MongoReadStore(connection, release);
  const close = async (): Promise<void> => {
    await Promise.all([payloads.close(), readStore.close()]);
  };
  try {
    await guarded(async () => {
      // Alone: if several operations fail to connect, all but the first report only that the connection is closed.
      await connection.client.connect();
      await Promise.all([payloads.prepare(), readStore.prepareOwn()]);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { payloads, readStore, copies: mongoCopies(connection.database), close };
}
