/** The connection to MongoDB. */
import { type Db, MongoClient } from 'mongodb';
import { databaseName } from './connection-string.ts';

export interface MongoConnection {
  readonly client: MongoClient;
  readonly database: Db;
}

/** Creates the client; it contacts no server until it connects. */
export function connect(url: string): MongoConnection {
  const client = new MongoClient(url, {
    appName: 'docket-monitor',
    // A confirmed write must survive a change of the primary, and readers must see it.
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
    readConcernLevel: 'local',
    ignoreUndefined: true,
    serverSelectionTimeoutMS: 5000,
    connectTimeoutMS: 5000,
    waitQueueTimeoutMS: 5000,
    socketTimeoutMS: 15_000,
  });
  return { client, database: client.db(databaseName(url)) };
}
