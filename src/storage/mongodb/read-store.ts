/**
 * The read store on MongoDB. Every write is one atomic operation on one document with a unique `_id`. So a replica set,
 * a standalone server and any server with the same protocol all work.
 */
import type { Db } from 'mongodb';
import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import type { EventMark, Position } from '../event-log.ts';
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
import { StorageFailure } from '../storage-failure.ts';
import { Cells } from './cells.ts';
import type { MongoConnection } from './connection.ts';
import { Counters } from './counters.ts';
import { Documents } from './documents.ts';
import { guarded } from './failures.ts';
import { Leases } from './leases.ts';
import { MongoNotices } from './notices.ts';

export class MongoReadStore implements ReadStore {
  readonly #database: Db;
  readonly #documents: Documents;
  readonly #cells: Cells;
  readonly #leases: Leases;
  readonly #counters: Counters;
  readonly #notices: MongoNotices;
  readonly #release: () => Promise<void>;
  #closed = false;

  constructor({ database }: MongoConnection, release: () => Promise<void>) {
    this.#database = database;
    this.#documents = new Documents(database);
    this.#cells = new Cells(database);
    this.#leases = new Leases(database);
    this.#counters = new Counters(database);
    this.#notices = new MongoNotices(database);
    this.#release = release;
  }

  /** Creates the indexes of the collections outside all projections. */
  async prepareOwn(): Promise<void> {
    await this.#documents.prepareOwn();
    await this.#counters.prepare();
  }

  prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): Promise<void> {
    return this.#run(() => this.#documents.prepare(projection, generation, collections));
  }

  load<Document = JsonObject>(
    collection: string,
    ids: readonly string[],
    generation?: number,
  ): Promise<ReadonlyMap<string, Stored<Document>>> {
    return this.#run(() => this.#documents.load<Document>(collection, ids, generation));
  }

  loadStates(
    collection: string,
    ids: readonly string[],
    generation: number,
  ): Promise<ReadonlyMap<string, DocumentState>> {
    return this.#run(() => this.#documents.loadStates(collection, ids, generation));
  }

  commit(commit: Commit): Promise<void> {
    return this.#run(() => this.#documents.commit(commit));
  }

  checkpoint(projection: string, generation: number): Promise<Position | null> {
    return this.#run(() => this.#documents.checkpoint(projection, generation));
  }

  find<Document = JsonObject>(query: Find, generation?: number): Promise<readonly Stored<Document>[]> {
    return this.#run(() => this.#documents.find<Document>(query, generation));
  }

  count(query: Count, generation?: number): Promise<number> {
    return this.#run(() => this.#documents.count(query, generation));
  }

  tally(query: Tally, generation?: number): Promise<readonly Tallied[]> {
    return this.#run(() => this.#documents.tally(query, generation));
  }

  activeGeneration(projection: string): Promise<number> {
    return this.#run(() => this.#documents.activeGeneration(projection));
  }

  generationPointer(projection: string): Promise<GenerationPointer> {
    return this.#run(() => this.#documents.pointer(projection));
  }

  movePointer(projection: string, from: GenerationPointer, to: GenerationPointer): Promise<boolean> {
    return this.#run(() => this.#documents.movePointer(projection, from, to));
  }

  generations(projection: string): Promise<readonly number[]> {
    return this.#run(() => this.#documents.generations(projection));
  }

  progress(projection: string, generation: number): Promise<GenerationProgress | null> {
    return this.#run(() => this.#documents.progress(projection, generation));
  }

  newestEvent(projection: string, generation: number): Promise<EventMark | null> {
    return this.#run(() => this.#documents.newestEvent(projection, generation));
  }

  retireGeneration(projection: string, generation: number): Promise<void> {
    return this.#run(() => this.#documents.retireGeneration(projection, generation));
  }

  logId(): Promise<string | null> {
    return this.#run(() => this.#documents.logId());
  }

  belongTo(logId: string): Promise<string> {
    return this.#run(() => this.#documents.belongTo(logId));
  }

  cell(id: string): Promise<Cell> {
    return this.#run(() => this.#cells.get(id));
  }

  compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean> {
    return this.#run(() => this.#cells.compareAndSet(id, version, value));
  }

  acquireLease(name: string, owner: string, now: Micros, durationMicros: Micros): Promise<Lease | null> {
    return this.#run(() => this.#leases.acquire(name, owner, now, durationMicros));
  }

  releaseLease(lease: Lease): Promise<void> {
    return this.#run(() => this.#leases.release(lease));
  }

  leases(now: Micros): Promise<readonly LeaseStanding[]> {
    return this.#run(() => this.#leases.held(now));
  }

  writeNotices(notices: readonly NoticeToWrite[]): Promise<void> {
    return this.#run(() => this.#notices.write(notices));
  }

  notices(kind: NoticeKind, now: Micros): Promise<readonly Notice[]> {
    return this.#run(() => this.#notices.select(kind, now));
  }

  increment(id: string, amount: number, limit: number, now: Micros, windowMicros: Micros): Promise<Counted> {
    return this.#run(() => this.#counters.add(id, amount, limit, now, windowMicros));
  }

  async incrementInTurn(increments: readonly Increment[]): Promise<readonly Counted[]> {
    const counted: Counted[] = [];
    for (const { id, amount, limit, now, windowMicros, restartsAtZero } of increments) {
      const one = await this.#run(() => this.#counters.add(id, amount, limit, now, windowMicros, restartsAtZero));
      counted.push(one);
      if (!one.allowed) break;
    }
    return counted;
  }

  async check(): Promise<void> {
    await this.#run(() => this.#database.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#release();
  }

  async #run<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new StorageFailure('storage_closed', 'the read store is closed');
    return guarded(operation);
  }
}
