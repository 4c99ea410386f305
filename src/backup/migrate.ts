/**
 * Moves an embedded installation to other engines. From the first step on, no service starts on the old storage; after
 * the last one, only the new one is used (docs/design/operations.md#migration). Safe to kill and to repeat.
 */
import { LogTree, leafOf } from '../events/log-tree.ts';
import type { Clock } from '../runtime/instant.ts';
import {
  assertNotMidCopy,
  COPY_MARKER,
  type CopyMarker,
  readCopyMarker,
  writeCopyMarker,
} from '../storage/copy-marker.ts';
import { isDeadOwner } from '../storage/lease-owner.ts';
import type { BlobName } from '../storage/payload-store.ts';
import type { Storage } from '../storage/storage.ts';
import { ChainCheck } from './chain-check.ts';
import { acquireCopyLease, anotherCopies } from './copy-lease.ts';
import { type CopyOrigin, type StillLog, storageOrigin } from './origin.ts';
import { isReceived, type Received, receive } from './receive.ts';
import { CopyRefused, type Progress } from './refused.ts';
import { Scratch } from './scratch.ts';
import { idOf } from './take.ts';

export interface MigrateOptions {
  readonly source: Storage;
  readonly target: Storage;
  readonly clock: Clock;
  readonly owner: string;
  readonly onProgress: Progress;
}

export interface Migrated extends Received {
  readonly logId: string;
}

type Leaving = Pick<MigrateOptions, 'source' | 'clock' | 'owner'>;

/** @throws CopyRefused while a service uses the source, if it is damaged, or if the target is not empty */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { source, target, clock, owner, onProgress } = options;
  const logId = await idOf(source.log);
  if (logId === null) {
    throw new CopyRefused('The event log has no identity yet.', 'Start the service once; then stop and migrate it.');
  }
  await leave(options, logId);
  const still = await readStill(options, logId);
  const origin = storageOrigin(source, still);
  // An earlier run was killed between its last two steps.
  if (await isReceived(target, origin))
    return { ...(await countOf(origin, onProgress)), logId: await left(source, logId) };
  const received = await receive({
    target,
    origin,
    ordered: false,
    clock,
    owner,
    onProgress,
    async beforeEnd() {
      await assertUnserved(options);
      if ((await readCopyMarker(source.readStore))?.state !== 'leaving') throw canceled();
      if ((await source.log.head()) === still.head) return;
      throw new CopyRefused(
        'The log was written to while it was copied.',
        'Stop what wrote to it, empty the new storage, and start again.',
      );
    },
  });
  return { ...received, logId: await left(source, logId) };
}

/** The last step. @throws CopyRefused if another process has decided otherwise: both storages could be served then */
async function left({ readStore }: Pick<Storage, 'readStore'>, logId: string): Promise<string> {
  const { version, value } = await readStore.cell(COPY_MARKER);
  if (value?.state === 'left') return logId;
  const marker: CopyMarker = { state: 'left', id: logId };
  if (value?.state === 'leaving' && (await readStore.compareAndSet(COPY_MARKER, version, { ...marker }))) return logId;
  throw canceled();
}

const canceled = (): CopyRefused =>
  new CopyRefused(
    'The migration was cancelled while it ran.',
    'Serve only the old storage. To move it after all, empty the new one and start again.',
  );

/** What a complete copy holds. */
async function countOf(origin: CopyOrigin, onProgress: Progress): Promise<Received> {
  const { size: events, root } = origin;
  const damaged: BlobName[] = [];
  let [contents, cells] = [0, 0];
  for await (const lines of origin.content()) {
    contents += lines.filter(({ as }) => as === 'stored').length;
    damaged.push(...lines.flatMap(({ as, name }) => (as === 'damaged' ? [name] : [])));
    onProgress('content', contents, null);
  }
  for await (const _cell of origin.cells()) cells++;
  return { events, root, contents, cells, damaged, redacted: [], unknown: [] };
}

/** Keeps every service away from the source. A service that started at this moment shows by its leases. */
async function leave(options: Leaving, id: string): Promise<void> {
  const { readStore } = options.source;
  const before = await readCopyMarker(readStore);
  if (before?.state === 'left') {
    throw new CopyRefused(
      'This log was moved already.',
      'Start the service with the same EVENTSTORE_URL and MONGODB_URL. To go back, empty that storage and run docket migrate --cancel.',
    );
  }
  if (before?.state === 'receiving') await assertNotMidCopy(readStore);
  if (before?.state !== 'leaving') await writeCopyMarker(readStore, { state: 'leaving', id });
  try {
    await assertUnserved(options);
  } catch (error) {
    if (before?.state !== 'leaving') await writeCopyMarker(readStore, { state: 'stayed' });
    throw error;
  }
}

/** @throws CopyRefused while another process works on the source */
async function assertUnserved({ source, clock, owner }: Leaving): Promise<void> {
  const owners = new Set(await source.copies.leaseOwners(clock.now()));
  const alive = [...owners].filter((one) => one !== owner && !isDeadOwner(one));
  if (alive.length === 0) return;
  // The second part of an owner's name is its process id.
  throw new CopyRefused(
    `The storage is in use by ${alive.map((one) => `process ${one.split('/')[1]} on ${one.split('/')[0]}`).join(', ')}.`,
    'Stop the service and every docket command that uses this DATA_DIR, then run docket migrate again.',
  );
}

/** Reads the log once, checks its chains, and finds the root that the copy must have. */
async function readStill({ source: { log }, onProgress }: MigrateOptions, logId: string): Promise<StillLog> {
  const scratch = Scratch.open();
  try {
    return await readThrough(new ChainCheck(scratch), log, logId, onProgress);
  } finally {
    scratch.close();
  }
}

async function readThrough(
  chains: ChainCheck,
  log: Storage['log'],
  logId: string,
  onProgress: Progress,
): Promise<StillLog> {
  const tree = new LogTree();
  let head = '';
  for await (const { events } of log.readAll(null, { by: 'all' })) {
    for (const event of events) {
      const problem = await chains.problemOf(event);
      if (problem !== null) {
        throw new CopyRefused(
          `The event log is damaged: ${problem}.`,
          'It was not migrated. See docket audit verify, and restore the newest sound backup into the new storage instead.',
        );
      }
      tree.add(leafOf({ ...event, hash: event.metadata.hash }));
      head = event.position;
    }
    onProgress('verified events', tree.size, null);
  }
  return { logId, size: tree.size, root: tree.root().toString('hex'), head };
}

/**
 * Gives up a migration, so that the source can be used again. A migration that runs is waited for, a while.
 * @throws CopyRefused if there is none, it still runs, or the new storage is complete
 */
export async function cancelMigration(options: MigrateOptions): Promise<void> {
  const { source, target } = options;
  await assertBegun(source);
  const lease = await acquireCopyLease(options);
  try {
    const version = await assertBegun(source);
    if ((await readCopyMarker(target.readStore))?.state === 'received') {
      throw new CopyRefused(
        'The new storage is complete, and a service may have used it.',
        'Use it. To go back to the old one and lose what was recorded since, empty the new storage first.',
      );
    }
    await lease.assertHeld();
    const marker: CopyMarker = { state: 'stayed' };
    if (!(await source.readStore.compareAndSet(COPY_MARKER, version, { ...marker }))) throw anotherCopies();
  } finally {
    await lease.release();
  }
}

/** The version of the marker. */
async function assertBegun({ readStore }: Pick<Storage, 'readStore'>): Promise<number> {
  const { version, value } = await readStore.cell(COPY_MARKER);
  if (value?.state === 'leaving' || value?.state === 'left') return version;
  throw new CopyRefused('No migration of this storage was started.', 'There is nothing to cancel.');
}
