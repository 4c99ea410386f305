/**
 * The read store on SQLite, in a file of its own that is not synced at each commit: a killed process loses nothing, a
 * machine that crashes the last moments (docs/design/event-log.md#sqlite). Cells are in the file of the event log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import type { EventMark, Position } from '../event-log.ts';
import { isDeadOwner } from '../lease-owner.ts';
import type { Notice, NoticeKind, NoticeToWrite } from '../notices.ts';
import type {
  Cell,
  CollectionSpec,
  Commit,
  Count,
  Counted,
  DocumentState,
  Find,
  GenerationPointer,
  GenerationProgress,
  Increment,
  Lease,
  LeaseStanding,
  ReadStore,
  Stored,
  Tallied,
  Tally,
} from '../read-store.ts';
import { UnrenewedLeases } from '../unrenewed-leases.ts';
import type { SqliteCells } from './cells.ts';
import { commitTogether } from './commit-together.ts';
import { Counters } from './counters.ts';
import { DocumentTables } from './document-tables.ts';
import { GroupCommitter } from './group-committer.ts';
import { SqliteNotices } from './notices.ts';
import type { SqliteFile } from './sqlite-file.ts';

/** Other writers get their turn between two portions of a removal. */
const REMOVED_AT_ONCE = 200;
const REMOVAL_PAUSE_MS = 5;

export class SqliteReadStore implements ReadStore {
  readonly #file: SqliteFile;
  /** Concurrent counter and fold writes are committed together, since each commit costs main-thread time. */
  readonly #committer: GroupCommitter<() => unknown>;
  readonly #documents: DocumentTables;
  readonly #counters: Counters;
  readonly #notices: SqliteNotices;
  readonly #cells: SqliteCells;
  readonly #takeLease;
  readonly #giveLease;
  readonly #selectHolder;
  readonly #selectLeases;
  readonly #unrenewed = new UnrenewedLeases();
  #closed = false;

  constructor(file: SqliteFile, cells: SqliteCells) {
    this.#file = file;
    this.#cells = cells;
    this.#committer = new GroupCommitter({ commit: (works) => commitTogether(file, works) });
    const { database } = file;
    this.#documents = new DocumentTables(database);
    this.#counters = new Counters(database);
    this.#notices = new SqliteNotices(database);
    // Acquiring an expired or released lease always gives a new token, even to its former owner; renewing keeps the old
    // one.
    this.#takeLease = database
      .prepare<[{ name: string; owner: string; now: Micros; expires: Micros }], number>(
        `INSERT INTO leases (name, owner, token, expires_at) VALUES (@name, @owner, 1, @expires)
         ON CONFLICT (name) DO UPDATE SET
           token = token + (expires_at <= @now OR owner <> @owner), owner = @owner, expires_at = @expires
         WHERE expires_at <= @now OR owner = @owner
         RETURNING token`,
      )
      .pluck();
    this.#selectHolder = database.prepare<[string], { owner: string; token: number; expiresAt: Micros }>(
      'SELECT owner, token, expires_at AS expiresAt FROM leases WHERE name = ?',
    );
    this.#selectLeases = database.prepare<[Micros], LeaseStanding>(
      'SELECT name, owner, token, expires_at AS expiresAt FROM leases WHERE expires_at > ? ORDER BY name',
    );
    // The row stays, because its token must keep growing.
    this.#giveLease = database.prepare(
      'UPDATE leases SET expires_at = 0 WHERE name = @name AND owner = @owner AND token = @token',
    );
  }

  async prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): Promise<void> {
    await this.#file.transaction(() => this.#documents.prepare(projection, generation, collections));
  }

  async load<Document = JsonObject>(
    collection: string,
    ids: readonly string[],
    generation?: number,
  ): Promise<ReadonlyMap<string, Stored<Document>>> {
    return this.#file.whenFree(() => this.#documents.load<Document>(collection, ids, generation));
  }

  async loadStates(
    collection: string,
    ids: readonly string[],
    generation: number,
  ): Promise<ReadonlyMap<string, DocumentState>> {
    return this.#file.whenFree(() => this.#documents.loadStates(collection, ids, generation));
  }

  async commit(commit: Commit): Promise<void> {
    await this.#committer.submit<void>(() => this.#documents.commit(commit));
  }

  async checkpoint(projection: string, generation: number): Promise<Position | null> {
    return this.#file.whenFree(() => this.#documents.checkpoint(projection, generation));
  }

  async find<Document = JsonObject>(query: Find, generation?: number): Promise<readonly Stored<Document>[]> {
    return this.#file.whenFree(() => this.#documents.find<Document>(query, generation));
  }

  async count(query: Count, generation?: number): Promise<number> {
    return this.#file.whenFree(() => this.#documents.count(query, generation));
  }

  async tally(query: Tally, generation?: number): Promise<readonly Tallied[]> {
    return this.#file.whenFree(() => this.#documents.tally(query, generation));
  }

  async activeGeneration(projection: string): Promise<number> {
    return this.#file.whenFree(() => this.#documents.activeGeneration(projection));
  }

  async generationPointer(projection: string): Promise<GenerationPointer> {
    return this.#file.whenFree(() => this.#documents.pointer(projection));
  }

  async movePointer(projection: string, from: GenerationPointer, to: GenerationPointer): Promise<boolean> {
    return this.#file.transaction(() => this.#documents.movePointer(projection, from, to));
  }

  async generations(projection: string): Promise<readonly number[]> {
    return this.#file.whenFree(() => this.#documents.generations(projection));
  }

  async progress(projection: string, generation: number): Promise<GenerationProgress | null> {
    return this.#file.whenFree(() => this.#documents.progress(projection, generation));
  }

  async newestEvent(projection: string, generation: number): Promise<EventMark | null> {
    return this.#file.whenFree(() => this.#documents.newestEvent(projection, generation));
  }

  async retireGeneration(projection: string, generation: number): Promise<void> {
    const remove = (): boolean => this.#documents.removeSome(projection, generation, REMOVED_AT_ONCE);
    while (await this.#file.transaction(remove)) await sleep(REMOVAL_PAUSE_MS);
    await this.#file.transaction(() => this.#documents.retireGeneration(projection, generation));
  }

  async logId(): Promise<string | null> {
    return this.#file.whenFree(() => this.#documents.logId());
  }

  async belongTo(logId: string): Promise<string> {
    return this.#file.transaction(() => this.#documents.belongTo(logId));
  }

  async cell(id: string): Promise<Cell> {
    return this.#cells.get(id);
  }

  async compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean> {
    return this.#cells.compareAndSet(id, version, value);
  }

  async acquireLease(name: string, owner: string, now: Micros, durationMicros: Micros): Promise<Lease | null> {
    const expires = now + durationMicros;
    const takeOrRenew = (): number | undefined => {
      const taken = this.#takeLease.get({ name, owner, now, expires });
      if (taken !== undefined) return taken;
      // Every owner is a process of this machine or of one that shares its disk; a dead one's lease need not expire.
      const holder = this.#selectHolder.get(name);
      if (!holder) return undefined;
      const isGone = isDeadOwner(holder.owner) || this.#unrenewed.isUnrenewed(name, holder, now, durationMicros);
      if (!isGone) return undefined;
      this.#giveLease.run({ name, ...holder });
      return this.#takeLease.get({ name, owner, now, expires });
    };
    const held = await this.#file.whenFree(() => this.#selectHolder.get(name));
    // Renewals come together and share a commit. A new lease does not wait for others: its work starts with it.
    const isRenewal = held?.owner === owner && held.expiresAt > now;
    const token = await (isRenewal
      ? this.#committer.submit<number | undefined>(takeOrRenew)
      : this.#file.transaction(takeOrRenew));
    return token === undefined ? null : { name, owner, token };
  }

  async releaseLease({ name, owner, token }: Lease): Promise<void> {
    await this.#file.transaction(() => this.#giveLease.run({ name, owner, token }));
  }

  async leases(now: Micros): Promise<readonly LeaseStanding[]> {
    return this.#file.whenFree(() => this.#selectLeases.all(now));
  }

  async writeNotices(notices: readonly NoticeToWrite[]): Promise<void> {
    await this.#committer.submit<void>(() => this.#notices.write(notices));
  }

  async notices(kind: NoticeKind, now: Micros): Promise<readonly Notice[]> {
    return this.#file.whenFree(() => this.#notices.select(kind, now));
  }

  async increment(id: string, amount: number, limit: number, now: Micros, windowMicros: Micros): Promise<Counted> {
    // A read need not wait for a commit. If its window must be shortened, it writes, and waits its turn.
    const seen = amount === 0 ? await this.#file.whenFree(() => this.#counters.look(id, now, windowMicros)) : null;
    return seen ?? this.#committer.submit<Counted>(() => this.#counters.add(id, amount, limit, now, windowMicros));
  }

  async incrementInTurn(increments: readonly Increment[]): Promise<readonly Counted[]> {
    return this.#committer.submit<readonly Counted[]>(() => {
      const counted: Counted[] = [];
      for (const { id, amount, limit, now, windowMicros, restartsAtZero } of increments) {
        const one = this.#counters.add(id, amount, limit, now, windowMicros, restartsAtZero);
        counted.push(one);
        if (!one.allowed) break;
      }
      return counted;
    });
  }

  async check(): Promise<void> {
    this.#file.assertInPlace();
    await this.checkpoint('', 1);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#cells.close(), this.#committer.flush()]);
    this.#file.close();
  }
}
