/** The tables. A released migration is never changed: a new one is appended instead. */
import type { Landmarks } from './fresh-look.ts';

/**
 * Events, payloads and cells share one file, so that one fsync makes all of them durable. The narrow columns of
 * `events` come first: a filter by types or streams then never reads the pages that hold long data.
 */
export const LOG_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    metadata TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);

  CREATE TABLE payloads (
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    stored_at TEXT NOT NULL,
    -- The blob that took the place of this one, whose bytes are then gone.
    replacement TEXT,
    bytes BLOB
  ) STRICT;
  CREATE INDEX payloads_by_age ON payloads (kind, stored_at, name) WHERE bytes IS NOT NULL;

  CREATE TABLE cells (id TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL) STRICT;
  `,
];

/** The first and the newest event; events are never removed. */
export const LOG_LANDMARKS: Landmarks = {
  newest: `
    SELECT position || ' ' || id FROM events
    WHERE position IN ((SELECT min(position) FROM events), (SELECT max(position) FROM events))`,
  holds: `
    SELECT 1 FROM (SELECT ? AS landmark) JOIN events ON position = CAST(landmark AS INTEGER)
    WHERE position || ' ' || id = landmark`,
};

/** Documents are in separate tables, created when a projection prepares them (`document-tables.ts`). */
export const READ_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE collections (
    collection TEXT NOT NULL,
    generation INTEGER NOT NULL,
    projection TEXT NOT NULL,
    PRIMARY KEY (collection, generation)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE checkpoints (
    projection TEXT NOT NULL,
    generation INTEGER NOT NULL,
    position TEXT NOT NULL,
    PRIMARY KEY (projection, generation)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE active_generations (
    projection TEXT PRIMARY KEY,
    generation INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    token INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE counters (id TEXT PRIMARY KEY, count INTEGER NOT NULL, resets_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX counters_by_reset ON counters (resets_at);
  `,
  `
  -- The last event folded, as a mark (event-mark.ts); null for a checkpoint of an earlier version.
  ALTER TABLE checkpoints ADD COLUMN newest TEXT;
  CREATE TABLE made_from (id INTEGER PRIMARY KEY CHECK (id = 1), log_id TEXT NOT NULL) STRICT;
  `,
  `
  -- The generation that is about to be active.
  ALTER TABLE active_generations ADD COLUMN next INTEGER;
  -- When the checkpoint last moved; null for a checkpoint of an earlier version.
  ALTER TABLE checkpoints ADD COLUMN moved_at TEXT;
  ALTER TABLE checkpoints ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE notices (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  `,
];
