/** Reads of the embedded storage for copies of it. */
import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import type { StorageCopies, StoredBlob, StoredCell } from '../copies.ts';
import type { BlobName } from '../payload-store.ts';
import type { SqliteFile } from './sqlite-file.ts';

const CELL_PAGE = 500;

/** @param readFile null if only the log was opened */
export function sqliteCopies(file: SqliteFile, readFile: SqliteFile | null): StorageCopies {
  const { database } = file;
  const selectBlob = database.prepare<[BlobName], StoredBlob>(
    'SELECT name, kind, stored_at AS storedAt, bytes, replacement FROM payloads WHERE name = ?',
  );
  const selectStanding = database.prepare<[BlobName], { readonly replacement: BlobName | null }>(
    'SELECT replacement FROM payloads WHERE name = ?',
  );
  const selectAny = database.prepare('SELECT 1 FROM payloads LIMIT 1');
  const selectCells = database.prepare<[string, string, string], { readonly id: string; readonly value: string }>(
    `SELECT id, value FROM cells WHERE id > ? AND substr(id, 1, length(?)) = ? ORDER BY id LIMIT ${CELL_PAGE}`,
  );
  const selectOwners = readFile?.database
    .prepare<[Micros], string>('SELECT owner FROM leases WHERE expires_at > ?')
    .pluck();

  return {
    async blobs(names) {
      const rows = await file.whenFree(() => names.map((name) => selectBlob.get(name)));
      return new Map(rows.flatMap((row) => (row ? [[row.name, row] as const] : [])));
    },
    async standings(names) {
      const rows = await file.whenFree(() => names.map((name) => [name, selectStanding.get(name)] as const));
      return new Map(rows.flatMap(([name, row]) => (row ? [[name, row.replacement] as const] : [])));
    },
    async hasBlobs() {
      return file.whenFree(() => selectAny.get() !== undefined);
    },
    async *cells(prefix): AsyncIterable<StoredCell> {
      let last = '';
      for (;;) {
        const page = await file.whenFree(() => selectCells.all(last, prefix, prefix));
        for (const { id, value } of page) yield { id, value: JSON.parse(value) as JsonObject };
        const end = page.at(-1);
        if (!end || page.length < CELL_PAGE) return;
        last = end.id;
      }
    },
    async leaseOwners(now) {
      return (await readFile?.whenFree(() => selectOwners?.all(now))) ?? [];
    },
  };
}
