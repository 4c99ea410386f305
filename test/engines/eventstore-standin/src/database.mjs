// The log in memory: every record in order, every stream's events, and the one place where anything is written.
//
// A write has two phases, as on a node. First it is decided and gets its revisions and positions; the writer continues
// from there. Then, with all other writes of the same turn of the event loop, it is handed to the log file and indexed:
// only now do readers and subscribers see it, and only now does the caller get its answer.
import { randomUUID } from 'node:crypto';
import { checkCommit } from './commit-check.mjs';
import { MAX_LONG } from './limits.mjs';
import { RecentIds } from './recent-ids.mjs';
import { EventRecord, Filler, sizeOnDisk } from './record.mjs';
import {
  DELETED,
  isMetastream,
  metadataOfRecord,
  metastreamOf,
  OF_METASTREAMS,
  originalOf,
  withTruncateBefore,
} from './stream-metadata.mjs';

const NO_BYTES = Buffer.alloc(0);
const EPOCH_SIZE = 231;
const EPOCHS = '$epoch-information';

class Stream {
  events = []; // index = revision
  indexed = 0; // how many of them readers can see
  tombstone; // its record, once written
  tombstoneIndexed = false;
}

export class Database {
  records = []; // events and fillers in the order of their positions
  indexedRecords = 0;
  endPosition = 0;
  #streams = new Map();
  #recent = new RecentIds();
  #pending = [];
  #listeners = new Set();
  #log;

  /** Restores a transaction from the log file. */
  replay({ endPosition, wires }) {
    for (const wire of wires) {
      const record = EventRecord.read(wire);
      this.#fill(record.position);
      this.#place(record);
    }
    this.#fill(endPosition);
    this.#index(this.records.length);
  }

  /**
   * Starts to write: each start of a node is an epoch, and the first start of a database also sets up a system stream.
   */
  open(log) {
    this.#log = log;
    const empty = this.records.length === 0;
    const previousEpoch = this.#streams.get(EPOCHS)?.events.at(-1);
    this.#filler(EPOCH_SIZE);
    this.#write(EPOCHS, [
      systemEvent('$epoch-information', {
        epochId: randomUUID(),
        prevEpochPosition: previousEpoch ? previousEpoch.position - EPOCH_SIZE : -1,
        timeStamp: new Date().toISOString().replace('Z', '0000Z'),
        leaderInstanceId: randomUUID(),
      }),
    ]);
    if (empty)
      this.#write('$$$scavenges', [
        systemEvent('$metadata', { $maxAge: 2_592_000, $acl: { $r: '$ops', $w: [], $d: [], $mr: [], $mw: [] } }),
      ]);
    this.#flush();
  }

  close() {
    this.#flush();
    this.#log?.close();
  }

  // --- what readers see ---

  get indexedPosition() {
    return this.indexedRecords === 0 ? -1 : this.records[this.indexedRecords - 1].position;
  }

  /**
   * `{ last, tombstoned, softDeleted, events, first }` of a stream; `first` is the lowest revision that metadata lets
   * readers see.
   */
  view(name) {
    const stream = this.#streams.get(name);
    const metadata = this.#metadata(name, (metastream) => metastream.indexed);
    const last = (stream?.indexed ?? 0) - 1;
    return {
      last,
      tombstoned: this.#tombstoned(name, (s) => s.tombstoneIndexed),
      softDeleted: !!metadata.softDeleted,
      events: stream?.events ?? [],
      first: Math.max(0, metadata.truncateBefore ?? 0, metadata.maxCount ? last - metadata.maxCount + 1 : 0),
      oldest:
        metadata.maxAgeSeconds === undefined
          ? undefined
          : (BigInt(Date.now()) - BigInt(metadata.maxAgeSeconds) * 1000n) * 10_000n,
    };
  }

  /** The event that a reader of the stream gets at a revision, or `undefined`. */
  readable(name, revision) {
    const { last, tombstoned, softDeleted, events, first, oldest } = this.view(name);
    if (tombstoned || softDeleted || revision > last || revision < first) return undefined;
    return oldest !== undefined && events[revision].created < oldest ? undefined : events[revision];
  }

  /**
   * Calls `listener(record)` for every event from now on, in order, as it is indexed. Returns a function that stops it.
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // --- what writers do ---

  /**
   * Resolves to `{ result: 'success', lastRevision, position? }`, `{ result: 'wrong expected version', current }`, `{
   * result: 'deleted' }`, `{ result: 'timeout' }` (a repetition of a write that is not indexed yet: the node drops it)
   * or `{ result: 'none' }` (never answered).
   */
  append(name, expected, events) {
    const stream = this.#writerView(name);
    const check = checkCommit(
      stream,
      expected,
      events.map((event) => event.id),
    );
    if (check.decision !== 'ok') return this.#refuse(name, stream, check);
    const originalSoftDeleted = isMetastream(name) && this.#writerMetadata(originalOf(name)).softDeleted;
    const lastRevision = stream.last + events.length;
    let position = this.endPosition;
    if (events.length) position = this.#write(name, events).at(-1).position;
    else this.#filler(sizeOnDisk(name, '', 0, 0));
    if (stream.softDeleted) this.#recreate(name, stream.last + 1);
    if (originalSoftDeleted) this.#recreate(originalOf(name), this.#lastWritten(originalOf(name)) + 1);
    return this.#indexed({ result: 'success', lastRevision, position });
  }

  /** Deletes a stream permanently (`tombstone`) or until the next append. Resolves as `append` does. */
  remove(name, expected, tombstone) {
    const stream = this.#writerView(name);
    const check = checkCommit(stream, expected, [randomUUID()]);
    if (check.decision !== 'ok') return this.#refuse(name, stream, check);
    if (!tombstone && stream.last < 0 && !stream.hasMetadata)
      return this.#refuse(name, stream, { decision: 'wrong expected version' });
    const [record] = tombstone
      ? this.#write(
          name,
          [{ id: randomUUID(), type: '$streamDeleted', isJson: false, data: NO_BYTES, metadata: NO_BYTES }],
          MAX_LONG,
        )
      : this.#write(metastreamOf(name), [
          { id: randomUUID(), type: '$metadata', isJson: true, data: DELETED, metadata: NO_BYTES },
        ]);
    return this.#indexed({ result: 'success', lastRevision: record.revision, position: record.position });
  }

  #refuse(name, stream, { decision, first, last }) {
    if (decision === 'wrong expected version') return Promise.resolve({ result: decision, current: stream.last });
    if (decision === 'deleted') return Promise.resolve({ result: decision });
    if (decision === 'repeated, not yet indexed') return Promise.resolve({ result: 'timeout' });
    if (last - first + 1 < 0) return Promise.resolve({ result: 'none' }); // the answer would end before it begins, which the node cannot express
    return Promise.resolve({ result: 'success', lastRevision: last, position: this.readable(name, last)?.position });
  }

  #indexed(answer) {
    return new Promise((resolve) => {
      this.#pending.at(-1).settle = () => resolve(answer);
    });
  }

  #writerView(name) {
    const stream = this.#streams.get(name);
    return {
      last: (stream?.events.length ?? 0) - 1,
      tombstoned: this.#tombstoned(name, (s) => s.tombstone !== undefined),
      softDeleted: !!this.#writerMetadata(name).softDeleted,
      hasMetadata: this.#lastWritten(metastreamOf(name)) >= 0,
      indexed: (stream?.indexed ?? 0) - 1,
      recent: (id) => this.#recent.get(id, name),
      idAt: (revision) => stream?.events[revision]?.id,
    };
  }

  #lastWritten(name) {
    return (this.#streams.get(name)?.events.length ?? 0) - 1;
  }
  #writerMetadata(name) {
    return this.#metadata(name, (metastream) => metastream.events.length);
  }
  #metadata(name, count) {
    if (isMetastream(name)) return OF_METASTREAMS;
    const metastream = this.#streams.get(metastreamOf(name));
    return metadataOfRecord(metastream?.events[count(metastream) - 1]);
  }
  /** A tombstone removes the metadata stream too. */
  #tombstoned(name, buried) {
    const stream = this.#streams.get(name);
    return (
      (stream !== undefined && buried(stream)) || (isMetastream(name) && this.#tombstoned(originalOf(name), buried))
    );
  }

  /** Writes an event of metadata that lets readers see a deleted stream again, from `revision` on. */
  #recreate(name, revision) {
    const data = withTruncateBefore(this.#streams.get(metastreamOf(name)).events.at(-1).data, revision);
    if (data)
      this.#write(metastreamOf(name), [
        { id: randomUUID(), type: '$metadata', isJson: true, data, metadata: NO_BYTES },
      ]);
  }

  #write(name, events, revision = this.#lastWritten(name) + 1) {
    const created = BigInt(Date.now()) * 10_000n;
    const records = events.map((event, i) =>
      this.#place(
        EventRecord.write({
          streamName: name,
          revision: revision === MAX_LONG ? revision : revision + i,
          position: this.endPosition,
          event,
          created,
        }),
      ),
    );
    for (const record of records) this.#recent.put(record.id, name, record.revision);
    this.#enqueue(records.map((record) => record.wire));
    return records;
  }

  #place(record) {
    this.records.push(record);
    this.endPosition = record.endPosition;
    let stream = this.#streams.get(record.streamName);
    if (!stream) {
      stream = new Stream();
      this.#streams.set(record.streamName, stream);
    }
    if (record.revision === MAX_LONG) stream.tombstone = record;
    else stream.events.push(record);
    return record;
  }

  #filler(size) {
    this.#fill(this.endPosition + size);
    this.#enqueue([]);
  }
  #fill(endPosition) {
    if (endPosition === this.endPosition) return;
    this.records.push(new Filler(this.endPosition, endPosition));
    this.endPosition = endPosition;
  }

  #enqueue(wires) {
    this.#pending.push({ endPosition: this.endPosition, wires, records: this.records.length });
    if (this.#pending.length === 1) setImmediate(() => this.#flush());
  }

  #flush() {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    this.#log?.append(batch);
    for (const transaction of batch) {
      this.#index(transaction.records);
      transaction.settle?.();
    }
  }

  #index(count) {
    const first = this.indexedRecords;
    for (; this.indexedRecords < count; this.indexedRecords++) {
      const record = this.records[this.indexedRecords];
      if (record instanceof Filler) continue;
      const stream = this.#streams.get(record.streamName);
      if (record.revision === MAX_LONG) stream.tombstoneIndexed = true;
      else stream.indexed++;
    }
    if (this.#listeners.size === 0) return;
    for (let i = first; i < count; i++)
      if (!(this.records[i] instanceof Filler)) for (const listener of this.#listeners) listener(this.records[i]);
  }
}

const systemEvent = (type, data) => ({
  id: randomUUID(),
  type,
  isJson: true,
  data: Buffer.from(JSON.stringify(data)),
  metadata: NO_BYTES,
});
