/** Reads `MONGODB_URL` and connects. */
import { type Db, MongoClient } from 'mongodb';

const DEFAULT_DATABASE = 'docket';
const SHAPE = /^(mongodb(?:\+srv)?):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^/?]*))?(?:\?.*)?$/;

/** @throws RangeError without a word of what the URL holds */
function parts(url: string) {
  const [, scheme, user, hosts, database] = SHAPE.exec(url.trim()) ?? [];
  if (!scheme || !hosts) throw new RangeError('a connection string of MongoDB is expected: mongodb://HOST:27017/NAME');
  return { scheme, user, hosts, database: database ? decodeURIComponent(database) : DEFAULT_DATABASE };
}

export const isMongoUrl = (url: string): boolean => {
  try {
    parts(url);
    return true;
  } catch {
    return false;
  }
};

/** Where a URL leads, fit to be shown: no user, no password, no options. */
export function maskMongoUrl(url: string): string {
  const { scheme, user, hosts, database } = parts(url);
  return `${scheme}://${user ? '(masked)@' : ''}${hosts}/${database}`;
}

export interface MongoConnection {
  readonly client: MongoClient;
  readonly database: Db;
}

/** Connects lazily: the first operation finds out whether anybody answers. */
export function connect(url: string): MongoConnection {
  const client = new MongoClient(url, {
    appName: 'docket-monitor',
    // What a caller was told must be there after a change of the primary, and whoever reads must see it.
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
    readConcernLevel: 'local',
    ignoreUndefined: true,
    serverSelectionTimeoutMS: 5000,
    connectTimeoutMS: 5000,
    waitQueueTimeoutMS: 5000,
    socketTimeoutMS: 15_000,
  });
  return { client, database: client.db(parts(url).database) };
}
