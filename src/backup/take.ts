/**
 * Takes a backup of a service that may be running: the log up to its present head, then the content that those events
 * name, the case clocks, and the keys (docs/design/operations.md#backup). Hashes and chains are checked on the way.
 */
import { LOG_IDENTITY_STREAM, LogFounded } from '../events/log-identity.ts';
import { LogTree, leafOf } from '../events/log-tree.ts';
import { type Clock, toInstant } from '../runtime/instant.ts';
import type { StorageCopies } from '../storage/copies.ts';
import { assertNotMidCopy, COPY_MARKER } from '../storage/copy-marker.ts';
import { appendIndexOf } from '../storage/event-id.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { ChainCheck } from './chain-check.ts';
import { eventLine } from './entries.ts';
import { abandonPart, beginPart, finishPart, linkTo, type NewPart } from './folder.ts';
import { type Manifest, newestPart, type Part } from './manifest.ts';
import { blobsNamedBy } from './named-content.ts';
import { CELLS, contentOf } from './origin.ts';
import { Backup, type OlderKey } from './read.ts';
import { CopyRefused, type Progress } from './refused.ts';
import { type Names, Scratch } from './scratch.ts';
import { SegmentWriter } from './segments.ts';
import { lookAtEarlier } from './take-earlier.ts';
import { writeKeys } from './take-keys.ts';

export interface BackupSource {
  readonly log: Pick<EventLog, 'read' | 'readAll' | 'head' | 'countAfter'>;
  readonly copies: StorageCopies;
  /** The folder of the key files; null leaves keys out. */
  readonly keys: string | null;
}

export interface TakeBackupOptions {
  readonly source: BackupSource;
  readonly directory: string;
  readonly incremental: boolean;
  readonly clock: Clock;
  /** Of this process, so that a later run knows whether it is still alive. */
  readonly owner: string;
  readonly onProgress: Progress;
}

export interface TakenBackup {
  readonly part: Part;
  /** Keys that are missing in this part, and that an earlier one holds. */
  readonly olderKeys: readonly OlderKey[];
  /** Blobs whose stored bytes do not match their name. */
  readonly damaged: readonly BlobName[];
}

/** The most that an event store counts. */
const UNCOUNTED = 10_000;

/**
 * Null if nothing is newer than the backup that it would continue.
 * @throws CopyRefused if the log is damaged, or the folder or the backup in it does not fit
 */
export async function takeBackup(options: TakeBackupOptions): Promise<TakenBackup | null> {
  const { source, directory, incremental, owner } = options;
  await assertComplete(source.copies);
  const head = await source.log.head();
  const logId = await idOf(source.log);
  if (head === null || logId === null) {
    throw new CopyRefused('The event log has no identity yet.', 'Start the service once; then take the backup.');
  }
  const begun = await beginPart(directory, incremental, owner);
  try {
    if (begun.manifest) await new Backup(directory, begun.manifest).assertWhole();
    const from = begun.manifest && (await endOf(source.log, begun.manifest, logId));
    const taken = await writePart(options, begun, { logId, from, head });
    if (taken === null) await abandonPart(begun);
    return taken;
  } catch (error) {
    await abandonPart(begun);
    throw error;
  }
}

/** @throws StorageFailure for a storage that a copy has not filled yet */
async function assertComplete(copies: StorageCopies): Promise<void> {
  for await (const { id, value } of copies.cells(COPY_MARKER)) {
    if (id === COPY_MARKER && value.state === 'receiving')
      await assertNotMidCopy({ cell: async () => ({ version: 1, value }) });
  }
}

/** The id of a log; null if it has none. */
export async function idOf(log: Pick<EventLog, 'read'>): Promise<string | null> {
  const [founded] = await log.read(LOG_IDENTITY_STREAM, { limit: 1 });
  return founded?.type === LogFounded.type && typeof founded.data.logId === 'string' ? founded.data.logId : null;
}

/** Where this log has the last event of a backup. @throws CopyRefused if it does not hold it */
async function endOf(log: Pick<EventLog, 'read'>, manifest: Manifest, logId: string): Promise<Position> {
  const { head } = newestPart(manifest);
  if (manifest.logId !== logId) {
    throw new CopyRefused(
      `The backup is of event log ${manifest.logId}; this is ${logId}.`,
      'Name another folder: a backup holds one log. docket log show names the log of this service.',
    );
  }
  const [event] = await log.read(head.stream, { from: head.revision, limit: 1 });
  if (event?.id === head.id && event.metadata.hash === head.hash) return event.position;
  throw new CopyRefused(
    `This log does not hold the last event of the backup (${head.stream}, revision ${head.revision}).`,
    'The log was restored from an older copy, or changed. Keep this backup, and take a new full one in another folder.',
  );
}

interface Range {
  readonly logId: string;
  readonly from: Position | null;
  readonly head: Position;
}

/** Null if nothing is new. */
async function writePart(options: TakeBackupOptions, begun: NewPart, range: Range): Promise<TakenBackup | null> {
  const scratch = Scratch.open();
  try {
    return await writeWith(scratch, options, begun, range);
  } finally {
    scratch.close();
  }
}

async function writeWith(
  scratch: Scratch,
  options: TakeBackupOptions,
  begun: NewPart,
  range: Range,
): Promise<TakenBackup | null> {
  const { source, clock, onProgress } = options;
  const { folder, manifest, number } = begun;
  const takenAt = toInstant(clock.now());
  const wanted = scratch.names();
  const { files: eventFiles, last, tree, count } = await writeEvents(scratch, options, begun, range, wanted);
  const earlier = manifest && new Backup(options.directory, manifest);
  const head = last === null ? earlier?.newest.head : headOf(last);
  // Every event is of another program.
  if (head === undefined) return null;
  const goneFiles = earlier ? await lookAtEarlier(scratch, { ...options, earlier, folder, wanted }) : [];
  const payloads = await writePayloads(options, folder, wanted);
  const cells = new SegmentWriter(folder, 'cells');
  let cellCount = 0;
  for await (const cell of source.copies.cells(CELLS)) {
    await cells.write(cell);
    onProgress('case clocks', ++cellCount, null);
  }
  await cells.flush();
  const keys = source.keys === null ? null : await writeKeys(folder, source.keys);
  const contentFiles = [...goneFiles, ...payloads.files];
  if (last === null && contentFiles.length === 0 && earlier?.hasSameState(cells.files, keys ?? [])) return null;
  const part: Part = {
    number,
    previous: linkTo(manifest),
    logId: range.logId,
    takenAt,
    events: count,
    head,
    tree: { size: tree.size, root: tree.root().toString('hex'), peaks: tree.peaks.map((peak) => peak.toString('hex')) },
    payloads: payloads.counts,
    cells: cellCount,
    keys: keys?.map(({ name }) => name.slice('keys/'.length)) ?? null,
    files: [...eventFiles, ...contentFiles, ...cells.files, ...(keys ?? [])],
  };
  const { olderKeys } = new Backup(options.directory, await finishPart(options.directory, begun, part));
  return { part, olderKeys, damaged: payloads.damaged };
}

const headOf = ({ position, stream, revision, id, metadata: { hash } }: RecordedEvent): Part['head'] => ({
  position,
  stream,
  revision,
  id,
  hash,
});

async function writeEvents(
  scratch: Scratch,
  { source: { log }, onProgress }: TakeBackupOptions,
  { folder, manifest }: NewPart,
  { from, head }: Range,
  wanted: Names,
) {
  const writer = new SegmentWriter(folder, 'events');
  const before = manifest && newestPart(manifest).tree;
  const tree = before
    ? LogTree.of(
        before.size,
        before.peaks.map((peak) => Buffer.from(peak, 'hex')),
      )
    : new LogTree();
  const chains = new ChainCheck(
    scratch,
    async (stream, revision) => (await log.read(stream, { from: revision, limit: 1 }))[0] ?? null,
  );
  const counted = await log.countAfter(from, Number.MAX_SAFE_INTEGER);
  let last = null as RecordedEvent | null;
  let count = 0;
  const take = async (event: RecordedEvent): Promise<void> => {
    const problem = await chains.problemOf(event);
    if (problem !== null) throw damagedLog(problem);
    tree.add(leafOf({ ...event, hash: event.metadata.hash }));
    for (const name of blobsNamedBy(event)) wanted.add(name);
    await writer.write(eventLine(event));
    last = event;
    count++;
  };
  reading: for await (const { events } of log.readAll(from, { by: 'all' })) {
    for (const event of events) {
      if (event.position > head) break reading;
      await take(event);
    }
    onProgress('events', count, counted === UNCOUNTED ? null : Math.max(counted, count));
  }
  for (const event of await restOfAppend(log, last)) await take(event);
  await writer.flush();
  return { files: writer.files, last, tree, count };
}

/**
 * EventStoreDB makes the events of an append readable one by one, and the head may have been read between two. No stream
 * of a restored log may end there.
 */
async function restOfAppend(
  log: Pick<EventLog, 'read'>,
  last: RecordedEvent | null,
): Promise<readonly RecordedEvent[]> {
  if (last === null) return [];
  const after = await log.read(last.stream, { from: last.revision + 1 });
  const end = after.findIndex((event) => (appendIndexOf(event) ?? 0) === 0);
  return end === -1 ? after : after.slice(0, end);
}

const damagedLog = (problem: string): CopyRefused =>
  new CopyRefused(
    `The event log is damaged: ${problem}.`,
    'No backup was made of it. Keep the earlier ones, see docket audit, and restore the newest sound backup.',
  );

async function writePayloads({ source: { copies }, onProgress }: TakeBackupOptions, folder: string, wanted: Names) {
  const writer = new SegmentWriter(folder, 'payloads');
  const held = new SegmentWriter(folder, 'names');
  const counts = { stored: 0, replaced: 0, absent: 0, damaged: 0 };
  const damaged: BlobName[] = [];
  let done = 0;
  for await (const lines of contentOf(copies, wanted)) {
    for (const line of lines) {
      counts[line.as]++;
      if (line.as === 'damaged') damaged.push(line.name);
      if (line.as === 'stored') await held.write(line.name);
      await writer.write(line);
    }
    done += lines.length;
    onProgress('content', done, Math.max(done, wanted.size));
  }
  await writer.flush();
  await held.flush();
  return { files: [...writer.files, ...held.files], counts, damaged };
}
