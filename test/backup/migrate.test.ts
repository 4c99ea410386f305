/**
 * Moving to other engines. Given an installation that nothing serves; when it is moved, interrupted and continued, or
 * given up; then the new log equals the old one, and at each moment at most one of the two can be served.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelMigration, migrate } from '../../src/backup/migrate.ts';
import { EXIT } from '../../src/cli/command.ts';
import { compareLog } from '../../src/identity/identify-log.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { collect, note } from '../storage/samples.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { append, type Filled, fill, LOG_ID } from './source.ts';

let folder: string;
let source: Storage;
let target: Storage;
let filled: Filled;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-migrate-'));
  source = openSqlite({ directory: join(folder, 'data') });
  target = openSqlite({ directory: join(folder, 'target') });
  filled = await fill(source);
});
afterEach(async () => {
  await source.close();
  await target.close();
  await rm(folder, { recursive: true, force: true });
});

const move = (onProgress: (step: string) => void = () => undefined) =>
  migrate({ source, target, clock: systemClock, owner: leaseOwner(), onProgress });
const use = (storage: Storage) => compareLog({ ...storage, projections: [] });
const dyingAt = (step: string) => (now: string) => {
  if (now === step) throw new Error('killed');
};
const cancel = (owner = leaseOwner()) =>
  cancelMigration({ source, target, clock: systemClock, owner, onProgress: () => undefined });
/** Dies before it says that the storage was left. */
const withoutLeft = (readStore: Storage['readStore']): Storage['readStore'] =>
  new Proxy(readStore, {
    get(store, name) {
      const member = Reflect.get(store, name) as unknown;
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        const [, , value] = args as [string, number, { readonly state?: string } | undefined];
        if (name === 'compareAndSet' && value?.state === 'left') throw new Error('killed');
        return Reflect.apply(member, store, args);
      };
    },
  });
const holdLease = (processId: number) =>
  source.readStore.acquireLease('recovery', `${hostname()}/${processId}/1/x`, systemClock.now(), 60_000_000);

describe('a migration', () => {
  it('gives the same log, content and clocks, and no service can use the old storage', async () => {
    expect(await move()).toMatchObject({ logId: LOG_ID, events: 8, contents: 2, cells: 1 });
    expect((await collect(target.log, null)).events).toEqual((await collect(source.log, null)).events);
    expect((await target.payloads.get(filled.kept))?.toString()).toBe('kept '.repeat(100));
    expect(await use(target)).toMatchObject({ logId: LOG_ID });
    await expect(use(source)).rejects.toMatchObject({ code: 'log_moved' });
    await expect(move()).rejects.toThrow('was moved already');
  });

  it.each(['verified events', 'content', 'events', 'checked events', 'case clocks'])(
    'that dies at %s continues, and until then neither storage is used',
    async (step) => {
      await expect(move(dyingAt(step))).rejects.toThrow('killed');
      await expect(use(source)).rejects.toMatchObject({ code: 'log_moved' });
      if (step !== 'verified events') await expect(use(target)).rejects.toMatchObject({ code: 'copy_unfinished' });
      expect(await move()).toMatchObject({ events: 8 });
      expect((await collect(target.log, null)).events).toEqual((await collect(source.log, null)).events);
    },
  );

  it('that dies between its last two steps ends when it is run again, and the source is left', async () => {
    const unwritable = {
      ...source,
      readStore: withoutLeft(source.readStore),
    };
    const dying = migrate({
      source: unwritable,
      target,
      clock: systemClock,
      owner: leaseOwner(),
      onProgress: () => {},
    });
    await expect(dying).rejects.toThrow('killed');
    await expect(use(source)).rejects.toMatchObject({ code: 'log_moved' });
    // From now on a service may record on the new storage.
    expect(await use(target)).toMatchObject({ logId: LOG_ID });
    await append(target, 'operator-x', [note('x')]);
    expect(await move()).toMatchObject({ logId: LOG_ID, events: 8, contents: 2, cells: 1, damaged: [] });
    expect((await target.log.read('operator-x')).length).toBe(1);
    await expect(move()).rejects.toThrow('was moved already');
  });

  it('is refused while a process uses the source, which stays usable', async () => {
    await holdLease(process.ppid);
    await expect(move()).rejects.toThrow(`in use by process ${process.ppid} on ${hostname()}`);
    expect(await use(source)).toMatchObject({ logId: LOG_ID });
    expect(await target.log.head()).toBeNull();
  });

  it('does not wait for the leases of a process that was killed', async () => {
    await holdLease(999_999_999);
    expect(await move()).toMatchObject({ events: 8 });
  });

  it('is not complete if something wrote to the source meanwhile', async () => {
    const writing: Promise<unknown>[] = [];
    const write = (step: string) => {
      if (step === 'content' && writing.length === 0) writing.push(append(source, 'operator-x', [note('x')]));
    };
    await expect(move(write)).rejects.toThrow('was written to while it was copied');
    await Promise.all(writing);
    await expect(use(target)).rejects.toMatchObject({ code: 'copy_unfinished' });
  });

  it('of a damaged log is refused', async () => {
    const { head } = await append(source, 'operator-x', [note('x')]);
    await append(source, 'operator-x', [note('y')], { ...head, hash: 'f'.repeat(64) });
    await expect(move()).rejects.toThrow('stream operator-x, revision 1: its hash does not follow');
  });

  it('can be given up until it is complete', async () => {
    await expect(cancel()).rejects.toThrow('No migration');
    await expect(move(dyingAt('events'))).rejects.toThrow('killed');
    await cancel();
    expect(await use(source)).toMatchObject({ logId: LOG_ID });
    await expect(use(target)).rejects.toMatchObject({ code: 'copy_unfinished' });
    await move();
    await expect(cancel()).rejects.toThrow('The new storage is complete');
  });
});

describe('giving a migration up', () => {
  const other = `${hostname()}/${process.ppid}/1/other`;

  it('waits for the one that runs, and is refused once that is complete', async () => {
    const canceling: Promise<unknown>[] = [];
    const cancelMeanwhile = (step: string) => {
      if (step !== 'content' || canceling.length > 0) return;
      canceling.push(cancel(other).catch((error: unknown) => error));
    };
    expect(await move(cancelMeanwhile)).toMatchObject({ events: 8 });
    expect(await Promise.all(canceling)).toMatchObject([{ message: expect.stringContaining('storage is complete') }]);
    await expect(use(source)).rejects.toMatchObject({ code: 'log_moved' });
    expect(await use(target)).toMatchObject({ logId: LOG_ID });
  });

  it('before it copies lets it end without a second storage that can be served', async () => {
    const readAll: Storage['log']['readAll'] = async function* (...args) {
      if ((await source.readStore.cell('copy')).value?.state === 'leaving') await cancel(other);
      yield* source.log.readAll(...args);
    };
    const log = new Proxy(source.log, {
      get(inner, name) {
        const member = Reflect.get(inner, name) as unknown;
        if (name === 'readAll') return readAll;
        return typeof member === 'function' ? member.bind(inner) : member;
      },
    });
    const moving = migrate({
      source: { ...source, log },
      target,
      clock: systemClock,
      owner: leaseOwner(),
      onProgress: () => undefined,
    });
    await expect(moving).rejects.toThrow('cancelled while it ran');
    expect(await use(source)).toMatchObject({ logId: LOG_ID });
    await expect(use(target)).rejects.toMatchObject({ code: 'copy_unfinished' });
  });
});

it('docket migrate needs to know both storages', async () => {
  const embedded = await docketInProcess(['migrate'], { DATA_DIR: join(folder, 'data') });
  expect([embedded.code, embedded.err]).toEqual([
    EXIT.usage,
    expect.stringContaining('EVENTSTORE_URL and MONGODB_URL'),
  ]);
  const engines = { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false', MONGODB_URL: 'mongodb://127.0.0.1:1/x' };
  const empty = await docketInProcess(['migrate', '--json'], { DATA_DIR: join(folder, 'none'), ...engines });
  expect([empty.code, empty.out]).toEqual([EXIT.unavailable, expect.stringContaining('There is no event log')]);
});
