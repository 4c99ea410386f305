/** A minimal durable event log on SQLite: the lower bound that the event log is compared with. */
import { Database } from '../../dist/storage/sqlite/driver.js';

/** @returns `append(stream, revision, events)`, one transaction that is on disk when it returns, and `close()` */
export function bareLog(path) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(`
    CREATE TABLE events (
      position INTEGER PRIMARY KEY, type TEXT NOT NULL, stream TEXT NOT NULL, revision INTEGER NOT NULL,
      id TEXT NOT NULL, metadata TEXT NOT NULL, data TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
  `);
  const insert = database.prepare(
    'INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const append = database.transaction((events) => {
    for (const { type, stream, revision, id, metadata, data } of events) {
      insert.run(type, stream, revision, id, JSON.stringify(metadata), JSON.stringify(data));
    }
  });
  return { database, append: append.immediate, close: () => database.close() };
}
