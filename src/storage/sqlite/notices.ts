import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import { MOST_NOTICES, type Notice, type NoticeKind, type NoticeToWrite } from '../notices.ts';
import type { Database } from './driver.ts';

type NoticeRow = Omit<Notice, 'value'> & { readonly value: string };

/** Writes run inside a transaction of the caller. */
export class SqliteNotices {
  readonly #write;
  readonly #sweep;
  readonly #select;

  constructor(database: Database) {
    this.#write = database.prepare<[NoticeRow & Pick<NoticeToWrite, 'expiresAt'>]>(
      `INSERT INTO notices (kind, id, value, at, expires_at) VALUES (@kind, @id, @value, @at, @expiresAt)
       ON CONFLICT (kind, id) DO UPDATE SET value = @value, at = @at, expires_at = @expiresAt`,
    );
    this.#sweep = database.prepare<[{ kind: NoticeKind; now: Micros }]>(
      `DELETE FROM notices WHERE kind = @kind AND (expires_at <= @now OR id IN (
         SELECT id FROM notices WHERE kind = @kind ORDER BY at DESC, id LIMIT -1 OFFSET ${MOST_NOTICES}))`,
    );
    this.#select = database.prepare<[NoticeKind, Micros], NoticeRow>(
      `SELECT kind, id, value, at FROM notices WHERE kind = ? AND expires_at > ?
       ORDER BY at DESC, id LIMIT ${MOST_NOTICES}`,
    );
  }

  write(notices: readonly NoticeToWrite[]): void {
    for (const { value, ...notice } of notices) this.#write.run({ ...notice, value: JSON.stringify(value) });
    for (const kind of new Set(notices.map((notice) => notice.kind))) {
      const now = Math.max(...notices.filter((notice) => notice.kind === kind).map(({ at }) => at));
      this.#sweep.run({ kind, now });
    }
  }

  select(kind: NoticeKind, now: Micros): readonly Notice[] {
    return this.#select
      .all(kind, now)
      .map(({ value, ...notice }) => ({ ...notice, value: JSON.parse(value) as JsonObject }));
  }
}
