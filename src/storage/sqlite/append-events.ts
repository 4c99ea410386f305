/** One append inside a transaction: the rules of expected revisions and of repeats. */
import type Database from 'better-sqlite3';
import { checkAppend } from '../checked-append.ts';
import { type Append, type Appended, InvalidAppend, RevisionConflict } from '../event-log.ts';
import { positionText } from './event-rows.ts';
import { Refusal } from './group-committer.ts';

/** An append whose JSON is already text: serialised before its turn in the transaction, where time is short. */
export interface SerialisedAppend {
  readonly append: Append;
  readonly rows: readonly { readonly metadata: string; readonly data: string }[];
}

/** @throws InvalidAppend for an append that no engine would take */
export function serialiseAppend(append: Append): SerialisedAppend {
  const { data } = checkAppend(append);
  const rows = append.events.map(({ metadata }, index) => ({
    metadata: JSON.stringify(metadata),
    data: data[index] ?? '',
  }));
  return { append, rows };
}

/** Writes one append, to be called inside a transaction. Throws a `Refusal` before its first write. */
export type AppendWriter = (append: SerialisedAppend) => Appended;

export function appendWriter(database: Database.Database): AppendWriter {
  const newestRevision = database
    .prepare<[string], number>('SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1')
    .pluck();
  const recordedIds = database
    .prepare<[string, number, number], [string, number]>(
      'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?',
    )
    .raw();
  // The log never deletes, so the row id that SQLite gives, the highest plus one, leaves no gap.
  const insert = database.prepare(
    'INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?)',
  );

  return ({ append: { stream, expected, events }, rows }) => {
    const actual = newestRevision.get(stream) ?? -1;
    if (actual !== expected) {
      const recorded = actual > expected ? recordedIds.all(stream, expected, events.length) : [];
      const isRepeat = recorded.length === events.length && recorded.every(([id], index) => id === events[index]?.id);
      const last = recorded.at(-1);
      if (!isRepeat || !last) throw new Refusal(new RevisionConflict(stream, expected, actual));
      return { revision: expected + events.length, position: positionText(last[1]) };
    }
    let position = 0;
    for (const [index, event] of events.entries()) {
      const row = rows[index];
      if (!row) throw new InvalidAppend(`event ${index} of an append to ${stream} was not serialised`);
      const { lastInsertRowid } = insert.run(event.type, stream, event.revision, event.id, row.metadata, row.data);
      position = Number(lastInsertRowid);
    }
    return { revision: expected + events.length, position: positionText(position) };
  };
}
