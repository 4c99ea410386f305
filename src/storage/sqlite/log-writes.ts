/** Every kind of write to the file of the log, as plain data, so that another thread can execute it. */

import type { Instant } from '../../runtime/instant.ts';
import type { BlobName, SealedPayload } from '../payload-store.ts';
import { appendWriter, type SerialisedAppend } from './append-events.ts';
import type { Database } from './driver.ts';

export type LogWrite =
  | { readonly write: 'append'; readonly append: SerialisedAppend }
  | { readonly write: 'put payload'; readonly payload: SealedPayload }
  | { readonly write: 'delete payload'; readonly name: BlobName }
  | {
      readonly write: 'replace payload';
      readonly name: BlobName;
      readonly replacement: BlobName;
      readonly storedAt: Instant;
    }
  | { readonly write: 'set cell'; readonly id: string; readonly version: number; readonly value: string }
  /** Rewrites the file's first page unchanged, to find out whether it can be written. */
  | { readonly write: 'nothing new' };

/**
 * Prepares the statements and returns a function that executes one write inside a transaction of the caller. An append
 * returns an `Appended`, a cell whether it was still at that version, a deletion whether there was anything to delete,
 * all others nothing.
 */
export function logWriter(database: Database): (write: LogWrite) => unknown {
  const insertPayload = database.prepare(
    'INSERT INTO payloads (name, kind, stored_at, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const putPayload = ({ name, kind, storedAt, bytes }: SealedPayload): void => {
    insertPayload.run(name, kind, storedAt, bytes);
  };
  const append = appendWriter(database, putPayload);
  const deletePayload = database.prepare('DELETE FROM payloads WHERE name = ?');
  const replacePayload = database.prepare(
    `INSERT INTO payloads (name, kind, stored_at, replacement) VALUES (@name, 'docket', @storedAt, @replacement)
     ON CONFLICT (name) DO UPDATE SET replacement = excluded.replacement, bytes = NULL`,
  );
  const insertCell = database.prepare('INSERT INTO cells (id, version, value) VALUES (?, 1, ?) ON CONFLICT DO NOTHING');
  const updateCell = database.prepare(
    'UPDATE cells SET version = version + 1, value = @value WHERE id = @id AND version = @version',
  );

  return (write) => {
    switch (write.write) {
      case 'append':
        return append(write.append);
      case 'put payload':
        putPayload(write.payload);
        return undefined;
      case 'delete payload':
        return deletePayload.run(write.name).changes === 1;
      case 'replace payload': {
        const { name, replacement, storedAt } = write;
        replacePayload.run({ name, replacement, storedAt });
        return undefined;
      }
      case 'set cell': {
        const { id, version, value } = write;
        return (version === 0 ? insertCell.run(id, value) : updateCell.run({ id, version, value })).changes === 1;
      }
      case 'nothing new':
        // SQLite writes the page that holds the version, even if the value is unchanged.
        database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`);
        return undefined;
    }
  };
}
