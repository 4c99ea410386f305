/** Given open and ended callbacks of several hosts, when an operator lists the hosts, then each shows its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  HostPaused,
  HostResumed,
  hostSubject,
  operatorStream,
  WalletBanned,
  walletSubject,
} from '../../src/events/operator.ts';
import { DELIVERIES, DELIVERY_TIMERS, deliveries } from '../../src/projections/deliveries.ts';
import { operatorActs } from '../../src/projections/operator-acts.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { callbackHosts } from '../../src/queries/callback-hosts.ts';
import { bannedWallets, banOf, pausedAmong, pausedHosts } from '../../src/queries/operator-acts.ts';
import { hostStanding } from '../../src/queries/status-callbacks.ts';
import { MICROS_PER_SECOND, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import type { DocumentWrite } from '../../src/storage/read-store.ts';
import { silent } from '../http/serving.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const NOW = toMicros('2026-05-01T12:00:00.000000Z');
const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const QUIET = 'https://quiet.example';
const BUSY = 'https://busy.example';
const PAUSED = 'http://paused.example:8080';
const ACT = { by: 'Ann', reason: 'its owner asked' };
const at = (secondsAgo: number) => toInstant(NOW - secondsAgo * MICROS_PER_SECOND);

describe('the hosts of callbacks', () => {
  let directory: string;
  let storage: TestStorage;
  const clock = { now: () => NOW };
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'hosts-'));
    storage = await openTestStorage(directory, clock);
    await storage.readStore.prepare(deliveries.name, 1, deliveries.collections);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });

  const write = (writes: Omit<DocumentWrite, 'position'>[]) =>
    storage.readStore.commit({
      projection: deliveries.name,
      generation: 1,
      writes: writes.map((one) => ({ ...one, position: '1' })),
      position: '1',
    });
  const timer = (id: string, origin: string, dueSecondsAgo: number) => ({
    collection: DELIVERY_TIMERS,
    id,
    document: { partition: 0, origin, dueAt: at(dueSecondsAgo) },
  });
  const attempted = (id: string, origin: string, status: string, secondsAgo: number, failureClass: string | null) => ({
    collection: DELIVERIES,
    id,
    document: {
      origin,
      status,
      createdAt: at(secondsAgo + 1),
      lastAttemptAt: at(secondsAgo),
      attemptLog: [{ startedAt: at(secondsAgo), failureClass, responseCode: failureClass ? null : 204 }],
    },
  });

  const act = async (event: Parameters<typeof prepareAppend>[0]['events'][number], subject: string) => {
    const stream = operatorStream(subject);
    const last = (await storage.log.read(stream)).at(-1);
    const head = last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM;
    const commandId = `act ${head.revision}`;
    const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
    await storage.log.append(prepareAppend({ stream, head, events: [event], context, recordedAt: toInstant(NOW) }));
    const projections = [operatorActs as never];
    await createProjectionRunner({ ...storage, projections, clock, logger: silent, owner: 'test' }).catchUp();
  };
  const pause = (origin: string) => act(HostPaused.of({ origin, ...ACT }), hostSubject(origin));
  const resume = (origin: string) => act(HostResumed.of({ origin, ...ACT }), hostSubject(origin));

  it('lists the most open first, with what is due and how the last callbacks ended', async () => {
    await write([
      timer('q1', QUIET, -60),
      timer('b1', BUSY, 400),
      timer('b2', BUSY, 10),
      timer('b3', BUSY, -10),
      attempted('b4', BUSY, 'succeeded', 50, null),
      attempted('b1', BUSY, 'retrying', 20, 'timeout'),
      attempted('b5', BUSY, 'failed', 8 * 86_400, 'dns_not_found'),
    ]);
    const listed = await callbackHosts(storage.readStore, NOW, 10);
    expect(listed).toEqual({
      more: false,
      hosts: [
        {
          origin: BUSY,
          open: 3,
          due: 2,
          overdue: 1,
          oldestDueAt: at(400),
          lastOutcome: { at: at(20), failureClass: 'timeout', responseCode: null },
          acknowledged: 1,
          unsuccessful: 1,
          paused: null,
        },
        {
          origin: QUIET,
          open: 1,
          due: 0,
          overdue: 0,
          oldestDueAt: null,
          lastOutcome: null,
          acknowledged: 0,
          unsuccessful: 0,
          paused: null,
        },
      ],
    });
    expect(await callbackHosts(storage.readStore, NOW, 1)).toEqual({ more: true, hosts: listed.hosts.slice(0, 1) });
  });

  it('lists every paused host before the others, even one without open callbacks, until it is resumed', async () => {
    await write([timer('b1', BUSY, 10)]);
    await pause(PAUSED);
    const { hosts, more } = await callbackHosts(storage.readStore, NOW, 1);
    expect(hosts.map(({ origin, open, paused }) => ({ origin, open, paused }))).toEqual([
      { origin: PAUSED, open: 0, paused: { since: toInstant(NOW), ...ACT } },
      { origin: BUSY, open: 1, paused: null },
    ]);
    expect(more).toBe(false);
    expect([...(await pausedHosts(storage.readStore)).keys()]).toEqual([PAUSED]);
    expect([...(await pausedAmong(storage.readStore, [BUSY, PAUSED, PAUSED])).keys()]).toEqual([PAUSED]);
    await resume(PAUSED);
    expect((await pausedHosts(storage.readStore)).size).toBe(0);
  });

  it('counts what is overdue, without what waits for a paused host', async () => {
    await write([timer('b1', BUSY, 400), timer('b2', BUSY, 10), timer('p1', PAUSED, 500)]);
    expect(await hostStanding(storage.readStore, NOW)).toEqual({ paused: 0, overdue: 2 });
    await pause(PAUSED);
    expect(await hostStanding(storage.readStore, NOW)).toEqual({ paused: 1, overdue: 1 });
    await resume(PAUSED);
    expect(await hostStanding(storage.readStore, NOW)).toEqual({ paused: 0, overdue: 2 });
  });

  it('shows who is banned, since when and why', async () => {
    await act(WalletBanned.of({ wallet: WALLET, ...ACT }), walletSubject(WALLET));
    const banned = { wallet: WALLET, since: toInstant(NOW), ...ACT };
    expect(await bannedWallets(storage.readStore)).toEqual(new Map([[WALLET, banned]]));
    expect(await banOf(storage.readStore, WALLET)).toEqual(banned);
    expect(await banOf(storage.readStore, 'another')).toBeNull();
  });
});
