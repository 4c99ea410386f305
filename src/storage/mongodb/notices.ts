import type { Collection, Db } from 'mongodb';
import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import { MOST_NOTICES, type Notice, type NoticeKind, type NoticeToWrite } from '../notices.ts';
import { isDuplicate } from './failures.ts';

interface StoredNotice {
  /** `KIND/ID`. */
  readonly _id: string;
  readonly kind: NoticeKind;
  readonly id: string;
  readonly at: Micros;
  readonly expiresAt: Micros;
  /** As text, so that it comes back exactly as it was written. */
  readonly json: string;
}

const NEWEST_FIRST = { at: -1, id: 1 } as const;

export class MongoNotices {
  readonly #notices: Collection<StoredNotice>;

  constructor(database: Db) {
    this.#notices = database.collection('notices');
  }

  async write(notices: readonly NoticeToWrite[]): Promise<void> {
    if (notices.length === 0) return;
    await this.#replace(
      notices.map(({ kind, id, value, at, expiresAt }) => {
        return { _id: `${kind}/${id}`, kind, id, at, expiresAt, json: JSON.stringify(value) };
      }),
    );
    for (const kind of new Set(notices.map((notice) => notice.kind))) {
      await this.#sweep(kind, Math.max(...notices.filter((notice) => notice.kind === kind).map(({ at }) => at)));
    }
  }

  async select(kind: NoticeKind, now: Micros): Promise<readonly Notice[]> {
    const found = this.#notices.find({ kind, expiresAt: { $gt: now } });
    const stored = await found.sort(NEWEST_FIRST).limit(MOST_NOTICES).toArray();
    return stored.map(({ id, at, json }) => ({ kind, id, at, value: JSON.parse(json) as JsonObject }));
  }

  async #replace(notices: readonly StoredNotice[]): Promise<void> {
    const writes = notices.map(({ _id, ...stored }) => ({
      updateOne: { filter: { _id }, update: { $set: stored }, upsert: true },
    }));
    for (;;) {
      try {
        await this.#notices.bulkWrite(writes, { ordered: false });
        return;
      } catch (error) {
        // Another process created it at the same moment: now it can be replaced.
        if (!isDuplicate(error)) throw error;
      }
    }
  }

  async #sweep(kind: NoticeKind, now: Micros): Promise<void> {
    await this.#notices.deleteMany({ kind, expiresAt: { $lte: now } });
    const excess = this.#notices.find({ kind }, { projection: { _id: 1 } });
    const old = await excess.sort(NEWEST_FIRST).skip(MOST_NOTICES).limit(MOST_NOTICES).toArray();
    if (old.length > 0) await this.#notices.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
  }
}
