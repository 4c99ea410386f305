/** One append inside a transaction: the rules of expected revisions and of repeats. */

import { checkAppend } from '../checked-append.ts';
import { type Append, type Appended, RevisionConflict } from '../event-log.ts';
import type { SealedPayload } from '../payload-store.ts';
import { StorageFailure } from '../storage-failure.ts';
import { AppendRejected } from './commit-together.ts';
import type { Database } from './driver.ts';
import { isPosition, positionText } from './event-rows.ts';

/** An append whose JSON is already text. It is serialized before its turn in the transaction, where time is short. */
export interface SerialisedAppend {
  readonly stream: string;
  readonly expected: number;
  readonly rows: readonly SerialisedEvent[];
  readonly payloads: readonly SealedPayload[];
}

interface SerialisedEvent {
  readonly id: string;
  readonly type: string;
  readonly revision: number;
  readonly metadata: string;
  readonly data: string;
}

/** @throws InvalidAppend for an append that every engine would reject */
export function serialiseAppend(append: Append): SerialisedAppend {
  const { data } = checkAppend(append);
  const { stream, expected, events, payloads = [] } = append;
  const rows = events.map(({ id, type, revision, metadata }, index) => ({
    id,
    type,
    revision,
    metadata: JSON.stringify(metadata),
    data: data[index] ?? '',
  }));
  return { stream, expected, rows, payloads };
}

/** Writes one append; call it inside a transaction. Throws `AppendRejected` before its first write. */
export type AppendWriter = (append: SerialisedAppend) => Appended;

export function appendWriter(database: Database, putPayload: (payload: SealedPayload) => void): AppendWriter {
  const newestRevision = database
    .prepare<[string], number>('SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1')
    .pluck();
  const recordedIds = database
    .prepare<[string, number, number], [string, number]>(
      'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT 0 + ?',
    )
    .raw();
  // The log never deletes, so SQLite's row id, the highest plus one, leaves no gaps.
  const insert = database.prepare(
    'INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?)',
  );

  return ({ stream, expected, rows, payloads }) => {
    const actual = newestRevision.get(stream) ?? -1;
    if (actual !== expected) {
      const recorded = actual > expected ? recordedIds.all(stream, expected, rows.length) : [];
      const isRepeat = recorded.length === rows.length && recorded.every(([id], index) => id === rows[index]?.id);
      const last = recorded.at(-1);
      if (!isRepeat || !last) throw new AppendRejected(new RevisionConflict(stream, expected, actual));
      return { revision: expected + rows.length, position: positionText(last[1]) };
    }
    for (const payload of payloads) putPayload(payload);
    let position = 0;
    for (const { id, type, revision, metadata, data } of rows) {
      position = Number(insert.run(type, stream, revision, id, metadata, data).lastInsertRowid);
    }
    // No reader would find the events after one that somebody put at the last position, or before the first.
    if (!isPosition(position)) {
      throw new StorageFailure('storage_unavailable', `the log would go on at position ${position}`, {
        nothingWritten: true,
        hint: 'Somebody has changed log.sqlite: docket audit verify names the events. Restore a backup.',
      });
    }
    return { revision: expected + rows.length, position: positionText(position) };
  };
}
