/**
 * Fills an empty storage from a backup or another storage: content, then events in their order, then case clocks. Safe
 * to kill and to repeat: it continues where it stopped, and no service uses the storage before it is complete.
 */
import { ContentRedacted } from '../events/content.ts';
import type { JsonObject } from '../events/event.ts';
import { LogTree, leafOf } from '../events/log-tree.ts';
import type { Clock } from '../runtime/instant.ts';
import { readCopyMarker, writeCopyMarker } from '../storage/copy-marker.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { HeldLease } from '../storage/held-lease.ts';
import type { BlobName } from '../storage/payload-store.ts';
import type { Storage } from '../storage/storage.ts';
import { ClockPositions } from './clock-positions.ts';
import { acquireCopyLease, anotherCopies } from './copy-lease.ts';
import { EventWriter } from './event-writer.ts';
import { CELLS, type CopyOrigin } from './origin.ts';
import { RedactedContent } from './redacted-content.ts';
import { NO_REDACTIONS, type RedactionList } from './redactions.ts';
import { CopyRefused, type Progress } from './refused.ts';
import { Scratch } from './scratch.ts';

export interface ReceiveOptions {
  readonly target: Storage;
  readonly origin: CopyOrigin;
  readonly redactions?: RedactionList;
  /** Whether the target keeps the order of appends that are made without waiting, as the embedded engine does. */
  readonly ordered: boolean;
  readonly clock: Clock;
  readonly owner: string;
  /** Runs after everything is copied and checked, and before the storage may be used. */
  readonly beforeEnd?: () => Promise<void>;
  readonly onProgress: Progress;
}

export interface Received {
  readonly events: number;
  readonly root: string;
  readonly contents: number;
  readonly cells: number;
  /** Content whose bytes did not match its name in the origin; it was left out. */
  readonly damaged: readonly BlobName[];
  /** Names of the list whose content was left out and whose removal was recorded. */
  readonly redacted: readonly BlobName[];
  /** Names of the list that this copy does not hold. */
  readonly unknown: readonly BlobName[];
}

const NAMES_AT_ONCE = 1000;
const CONTENTS_AT_ONCE = 64;

/** @throws CopyRefused if the storage is not empty or cannot take this copy */
export async function receive(options: ReceiveOptions): Promise<Received> {
  const { target, origin, redactions = NO_REDACTIONS } = options;
  const { readStore } = target;
  const lease = await acquireCopyLease(options);
  let scratch: Scratch | null = null;
  try {
    scratch = Scratch.open();
    const id = copyId(origin, redactions);
    const done = await begin(options, id);
    const content = await RedactedContent.of(scratch, target, origin, redactions);
    const { contents, damaged: found } = await writeContent(options, content, lease, id, done);
    const positions = await ClockPositions.wantedBy(origin.cells());
    await writeEvents(options, content, positions, lease);
    await check(options, content, positions, lease);
    await lease.assertHeld();
    await content.record(options.clock);
    const cells = await writeCells(options, positions, lease);
    await options.beforeEnd?.();
    await lease.assertHeld();
    if (!(await writeCopyMarker(readStore, { state: 'received', id }))) throw anotherCopies();
    const { redacted, unknown } = content;
    const standings = await target.copies.standings(found);
    // Another part of a backup may hold the sound bytes.
    const damaged = [...new Set(found)].filter((name) => !standings.has(name));
    return { events: origin.size, root: origin.root, contents, cells, damaged, redacted, unknown };
  } finally {
    scratch?.close();
    await lease.release();
  }
}

/** What a copy is made of: an interrupted one is continued only from the same. */
const copyId = ({ id }: Pick<CopyOrigin, 'id'>, { hash }: RedactionList = NO_REDACTIONS): string => `${id} ${hash}`;

/** Whether an earlier run has completed this copy. */
export async function isReceived({ readStore }: Pick<Storage, 'readStore'>, origin: CopyOrigin): Promise<boolean> {
  const marker = await readCopyMarker(readStore);
  return marker?.state === 'received' && marker.id === copyId(origin);
}

/** How many portions of content an earlier run has completed. @throws CopyRefused */
async function begin({ target }: ReceiveOptions, id: string): Promise<number> {
  const { log, copies, readStore } = target;
  const marker = await readCopyMarker(readStore);
  if (marker?.state === 'receiving') {
    if (marker.id === id) return marker.done;
    throw new CopyRefused(
      'This storage holds an unfinished copy from another backup, or with another list of redactions.',
      'Finish it with the same arguments, or empty the storage and start again.',
    );
  }
  if (marker?.state === 'received' && marker.id === id) {
    throw new CopyRefused(
      'This storage holds this copy already, and it is complete.',
      'Start the service on it. For another copy, name an empty storage; never serve both.',
    );
  }
  const holds = [
    ...((await log.countAfter(null, 1)) > 0 ? ['events'] : []),
    ...((await copies.hasBlobs()) ? ['content'] : []),
    ...((await readStore.logId()) === null ? [] : ['read models']),
    ...(marker === null ? [] : ['a completed copy']),
  ];
  for await (const _cell of copies.cells(CELLS)) {
    holds.push('case clocks');
    break;
  }
  if (holds.length > 0) {
    throw new CopyRefused(
      `The storage is not empty: it holds ${holds.join(', ')}.`,
      'Name an empty one: a new DATA_DIR, or an empty event store (EVENTSTORE_URL) and a new database (MONGODB_URL).',
    );
  }
  if (!(await writeCopyMarker(readStore, { state: 'receiving', id, done: 0 }))) throw anotherCopies();
  return 0;
}

async function writeContent(
  { target, origin, onProgress }: ReceiveOptions,
  content: RedactedContent,
  lease: HeldLease,
  id: string,
  done: number,
): Promise<Pick<Received, 'contents' | 'damaged'>> {
  const damaged: BlobName[] = [];
  let [portion, contents] = [0, 0];
  for await (const lines of origin.content()) {
    portion++;
    contents += lines.filter(({ as }) => as === 'stored').length;
    damaged.push(...lines.flatMap(({ as, name }) => (as === 'damaged' ? [name] : [])));
    if (portion > done) {
      await lease.assertHeld();
      // Together, since engines make what arrives together durable at once.
      for (let start = 0; start < lines.length; start += CONTENTS_AT_ONCE) {
        await Promise.all(lines.slice(start, start + CONTENTS_AT_ONCE).map((line) => content.write(line)));
      }
      await writeCopyMarker(target.readStore, { state: 'receiving', id, done: portion });
    }
    onProgress('content', contents, null);
  }
  return { contents, damaged };
}

async function writeEvents(
  { target, origin, ordered, onProgress }: ReceiveOptions,
  content: RedactedContent,
  positions: ClockPositions,
  lease: HeldLease,
): Promise<void> {
  const present = eachOf(target.log.readAll(null, { by: 'all' }));
  let next = await present.next();
  const writer = new EventWriter(target.log, ordered);
  let index = 0;
  for await (const events of origin.events()) {
    await lease.assertHeld();
    for (const event of events) {
      positions.note(event, index++);
      content.note(event);
      if (next.done) {
        await writer.add(event);
      } else {
        if (!isSame(next.value, event)) throw differs(next.value);
        next = await present.next();
      }
    }
    onProgress('events', index, origin.size);
  }
  await writer.flush();
}

const isSame = (one: RecordedEvent, other: RecordedEvent): boolean =>
  one.id === other.id &&
  one.stream === other.stream &&
  one.revision === other.revision &&
  one.metadata.hash === other.metadata.hash;

const differs = ({ stream, revision }: RecordedEvent): CopyRefused =>
  new CopyRefused(
    `The storage holds an event that is not part of this copy: revision ${revision} of ${stream}.`,
    'Something else wrote to it. Empty the storage and start again.',
  );

/** Reads everything back: the same events in the same order give the same root. */
async function check(
  { target, origin, onProgress }: ReceiveOptions,
  content: RedactedContent,
  positions: ClockPositions,
  lease: HeldLease,
): Promise<void> {
  const tree = new LogTree();
  for await (const { events } of target.log.readAll(null, { by: 'all' })) {
    await lease.assertHeld();
    for (const event of events) {
      if (tree.size === origin.size) {
        // What an earlier run has recorded after the copied events.
        if (event.type === ContentRedacted.type && event.metadata.actor === RedactedContent.ACTOR) continue;
        throw differs(event);
      }
      positions.noteCopy(tree.size, event.position);
      tree.add(leafOf({ ...event, hash: event.metadata.hash }));
    }
    onProgress('checked events', tree.size, origin.size);
  }
  const root = tree.root().toString('hex');
  if (tree.size === origin.size && root === origin.root) return checkContent({ target, origin, onProgress }, content);
  throw new CopyRefused(
    `The copied log has ${tree.size} events with root ${root}, not ${origin.size} with ${origin.root}.`,
    'Something else wrote to the storage. Empty it and start again.',
  );
}

/** Whether every content that was to be written is in the store. */
async function checkContent(
  { target, origin, onProgress }: Pick<ReceiveOptions, 'target' | 'origin' | 'onProgress'>,
  content: RedactedContent,
): Promise<void> {
  let checked = 0;
  let wanted: BlobName[] = [];
  const compare = async (): Promise<void> => {
    const found = await target.copies.standings(wanted);
    const missing = wanted.find((name) => !found.has(name));
    if (missing !== undefined) {
      throw new CopyRefused(`Content ${missing} was written and is gone.`, 'Empty the storage and start again.');
    }
    checked += wanted.length;
    wanted = [];
    onProgress('checked content', checked, null);
  };
  for await (const lines of origin.content()) {
    for (const { as, name } of lines) if (as === 'stored' && !content.isRemoved(name)) wanted.push(name);
    if (wanted.length >= NAMES_AT_ONCE) await compare();
  }
  await compare();
}

/** Positions in a clock are those of the log that it came from, so they are replaced by those of this one. */
async function writeCells({ target, origin, onProgress }: ReceiveOptions, positions: ClockPositions, lease: HeldLease) {
  const { readStore } = target;
  let count = 0;
  for await (const { id, value } of origin.cells()) {
    if (count % 500 === 0) await lease.assertHeld();
    const moved: JsonObject = { ...value, shown: positions.of(id, value) };
    const { version, value: present } = await readStore.cell(id);
    const isWritten = JSON.stringify(present) === JSON.stringify(moved);
    if (!isWritten && !(await readStore.compareAndSet(id, version, moved))) throw anotherCopies();
    onProgress('case clocks', ++count, null);
  }
  return count;
}

async function* eachOf(
  batches: AsyncIterable<{ readonly events: readonly RecordedEvent[] }>,
): AsyncGenerator<RecordedEvent, undefined> {
  for await (const { events } of batches) yield* events;
  return undefined;
}
