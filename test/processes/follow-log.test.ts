/**
 * Followers of the log. Given events of a type that a follower handles, when it stops, fails, or the log turns out to be
 * older than its cursor, then each event is handled in the order of the log, and none is skipped.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EventSkipped } from '../../src/events/operator.ts';
import { type Follower, followLog, forgetCursor } from '../../src/processes/follow-log.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { contextOf } from '../storage/samples.ts';
import { openTestStorage } from '../support/storage.ts';

let directory: string;
let storage: Storage;
let stopping: (() => Promise<void>)[];
const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
/** Reasons of the events that were handled, in order. */
let handled: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-follow-'));
  storage = await openTestStorage(directory);
  stopping = [];
  handled = [];
  logger.error.mockReset();
});
afterEach(async () => {
  for (const stop of stopping) await stop();
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

async function write(reason: string): Promise<void> {
  const events = [EventSkipped.of({ projection: 'cases', position: '1', reason })];
  const stream = `operator-${reason}`;
  const recordedAt = toInstant(systemClock.now());
  await storage.log.append(prepareAppend({ stream, head: NO_STREAM, events, context: contextOf(), recordedAt }));
}

/** A node that follows; returns how to stop it. */
function follow(failing: (reason: string) => Error | null = () => null, name = 'follower'): () => Promise<void> {
  const follower: Follower = {
    name,
    types: [EventSkipped.type],
    async handle({ data }) {
      const error = failing(String(data.reason));
      if (error) throw error;
      handled.push(String(data.reason));
    },
    async inOrder(events, one) {
      for (const event of events) await one(event);
    },
    tries: 2,
    setAside: { alarm: 'left_behind', message: 'one was left behind' },
    waiting: 'events wait',
  };
  const abort = new AbortController();
  const running = followLog({ ...storage, clock: systemClock, logger, owner: randomUUID() }, follower, abort.signal);
  const stop = async () => {
    abort.abort();
    await running;
  };
  stopping.push(stop);
  return stop;
}

const comes = (...reasons: readonly string[]) => vi.waitFor(() => expect(handled).toEqual(reasons));

it('continues after its last event when it starts again', async () => {
  await write('a');
  const stop = follow();
  await comes('a');
  await write('b');
  await comes('a', 'b');
  await stop();
  await write('c');
  follow();
  await comes('a', 'b', 'c');
});

it('starts with the first event once its cursor is forgotten, and no other follower does', async () => {
  await write('a');
  const stops = [follow(), follow(undefined, 'other')];
  await comes('a', 'a');
  for (const stop of stops) await stop();
  await forgetCursor(storage.readStore, 'follower');
  await forgetCursor(storage.readStore, 'unknown');
  follow();
  follow(undefined, 'other');
  await write('b');
  await vi.waitFor(() => expect([...handled].sort()).toEqual(['a', 'a', 'a', 'b', 'b']));
});

it('sets an event aside that fails by itself, with an alarm, and handles it after a restart', async () => {
  let isBroken = true;
  const failing = (reason: string) => (reason === 'b' && isBroken ? new Error('broken') : null);
  for (const reason of ['a', 'b', 'c']) await write(reason);
  const stop = follow(failing);
  await comes('a', 'c');
  expect(logger.error).toHaveBeenCalledWith(
    expect.objectContaining({ alarm: 'left_behind', stream: 'operator-b' }),
    'one was left behind',
  );
  await stop();
  isBroken = false;
  follow(failing);
  await comes('a', 'c', 'b');
});

it('does not go past an event while the storage fails', async () => {
  let fails = 3;
  const failing = (reason: string) =>
    reason === 'b' && fails-- > 0 ? new StorageFailure('storage_full', 'full') : null;
  for (const reason of ['a', 'b', 'c']) await write(reason);
  follow(failing);
  await vi.waitFor(() => expect(handled.slice(-2)).toEqual(['b', 'c']));
  expect(handled.filter((reason) => reason !== 'a')).toEqual(['b', 'c']);
});
