/** The storage that tests of the whole service run on: embedded, or the engines in `npm run test:integration`. */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { type Clock, systemClock } from '../../src/runtime/instant.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { openMongo } from '../../src/storage/mongodb/open.ts';
import { withPayloadsFirst } from '../../src/storage/payloads-first.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { damageInMongo, damageInSqlite } from './damage.ts';
import { namespaced } from './namespaced-log.ts';

/** Where the engines of this run are; empty if none is configured. */
export const ENGINES = {
  eventStore: process.env.EVENTSTORE_URL ?? '',
  mongo: process.env.MONGODB_URL ?? '',
  /** Control port of the event store's stand-in, which can inject faults; a real node cannot. */
  eventStoreControl: process.env.EVENTSTORE_CONTROL_URL ?? '',
};

/** Set only by `vitest.integration.config.ts`: an environment with engines in it must not change `npm test`. */
const ON_ENGINES = process.env.TEST_STORAGE === 'engines';

/**
 * True on FerretDB, which scans a whole collection for most changes of one document: tests with thousands of documents
 * run only on MongoDB. `scripts/engines` explains why FerretDB is in these tests at all, and behind what.
 */
export const SMALL_ONLY = ON_ENGINES && ENGINES.mongo !== '' && (await isFerretDb());

async function isFerretDb(): Promise<boolean> {
  const client = new MongoClient(ENGINES.mongo);
  try {
    return 'ferretdbVersion' in (await client.db('admin').command({ buildInfo: 1 }));
  } finally {
    await client.close();
  }
}

export interface TestStorage extends Storage {
  /** Damages a blob where it is stored; a second call repairs it. */
  damage(name: string): Promise<void>;
}

/** A separate storage for one test or suite, which shares nothing with any other. */
export async function openTestStorage(directory: string, clock: Clock = systemClock): Promise<TestStorage> {
  if (!ON_ENGINES) {
    return { ...openSqlite({ directory, clock }), damage: (name) => damageInSqlite(directory, name) };
  }
  const log = await namespaced(await openEventStore(ENGINES.eventStore), `test-${randomUUID()}.`);
  const database = ownDatabase();
  const { payloads, readStore, copies, close } = await openMongo(database.url, clock);
  return {
    log: withPayloadsFirst(log, payloads),
    payloads,
    readStore,
    copies,
    damage: (name) => damageInMongo(database.url, name),
    async close() {
      await Promise.all([log.close(), close()]);
      await database.drop();
    },
  };
}

/** A database that no other test uses. */
export function ownDatabase(): { readonly url: string; drop(): Promise<void> } {
  const name = `test-${randomUUID()}`;
  const url = ENGINES.mongo.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
  return {
    url,
    async drop() {
      const client = new MongoClient(url);
      await client.db(name).dropDatabase();
      await client.close();
    },
  };
}
