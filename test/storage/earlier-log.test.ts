/**
 * Given a log that an earlier version of the service wrote, without command ids and with older schemas, when this
 * version goes on with it, then every rule reads it, its hashes still match, and what it did not record is unprovable.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delivery } from '../../src/commands/delivery/delivery.ts';
import { handle, load } from '../../src/commands/handle.ts';
import { payment } from '../../src/commands/payment/payment.ts';
import { introduceMasterKey, loadMasterKeyVersions } from '../../src/commands/signing-key/master-key.ts';
import type { DomainEvent, JsonObject } from '../../src/events/event.ts';
import { MASTER_KEY_STREAM } from '../../src/events/signing-key.ts';
import { appendIndexOf, eventIdStanding } from '../../src/storage/event-id.ts';
import { type EventLog, NO_STREAM, type PreparedEvent } from '../../src/storage/event-log.ts';
import { hashEvent, prepareAppend } from '../../src/storage/prepare-append.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { ACT, finished, requested, START, scheduled, started } from '../commands/delivery/delivery.fixtures.ts';
import { answered, authorized, submitted } from '../commands/payment/payment.fixtures.ts';
import { collect, contextOf, NOON } from './samples.ts';

const DELIVERY = 'delivery-6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e';
const PAYMENT = `payment-${'c'.repeat(64)}`;
const FINGERPRINT = 'a'.repeat(32);
const clock = { now: () => START };

let directory: string;
let storage: ReturnType<typeof openSqliteLog>;
let log: EventLog;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'earlier-log-'));
  storage = openSqliteLog(join(directory, 'log.sqlite'));
  log = storage.log;
  const { queries: _q, ...authorization } = authorized.data;
  await appendAsEarlier(PAYMENT, [{ ...authorized, data: authorization }, answered, submitted], [1, 2, 1]);
  const { retryAfterSeconds: _r, ...outcome } = finished(1, START, START).data;
  const { by: _b, reason: _c, ...request } = requested(1, START).data;
  await appendAsEarlier(
    DELIVERY,
    [
      scheduled,
      started(1, START),
      { type: 'DeliveryAttemptFinished', data: outcome },
      { type: 'DeliveryRedeliveryRequested', data: request },
    ],
    [1, 1, 1, 1],
  );
  const introduced = { type: 'MasterKeyIntroduced', data: { masterVersion: 1, fingerprint: FINGERPRINT } };
  await appendAsEarlier(MASTER_KEY_STREAM, [introduced], [1]);
});
afterAll(async () => {
  await Promise.all([storage.log.close(), storage.payloads.close(), storage.cells.close()]);
  rmSync(directory, { recursive: true, force: true });
});

/** Writes one append as earlier versions did: their hash covers no command id, and none is recorded. */
async function appendAsEarlier(stream: string, events: readonly DomainEvent[], versions: readonly number[]) {
  const note = { type: 'EventSkipped', data: { projection: 'p', position: '0', reason: 'r' } };
  const { events: shells } = prepareAppend({
    stream,
    head: NO_STREAM,
    events: events.map(() => note),
    context: { ...contextOf(), correlationId: 'unrelated' },
    recordedAt: NOON,
  });
  let previous = '';
  const written = shells.map((shell, index): PreparedEvent => {
    const { commandId: _, hash: __, ...metadata } = { ...shell.metadata, schemaVersion: versions[index] ?? 1 };
    const event = { ...shell, type: events[index]!.type, data: events[index]!.data as JsonObject, metadata };
    previous = hashEvent(previous, event);
    return { ...event, metadata: { ...metadata, hash: previous } };
  });
  await log.append({ stream, expected: -1, events: written });
}

describe('a log of an earlier version', () => {
  it('is read by every rule, with what was not recorded as unknown', async () => {
    const { state: paid } = await load(log, payment, PAYMENT);
    expect(paid).toMatchObject({ status: 'submitted', authorization: { amount: '990000', queries: null } });
    const { state: delivered } = await load(log, delivery, DELIVERY);
    expect(delivered).toMatchObject({ status: 'retrying', attempts: 1, redeliveries: 1 });
    expect([...(await loadMasterKeyVersions(log))]).toEqual([[1, FINGERPRINT]]);
  });

  it('is continued by this version, in one chain of hashes', async () => {
    const settle = { type: 'Settle', slot: 7 } as const;
    await handle({ log, clock }, payment, PAYMENT, settle, contextOf());
    const start = { type: 'StartAttempt', now: START, keyId: 'k', owner: 'node' } as const;
    expect(await handle({ log, clock }, delivery, DELIVERY, start, contextOf())).toMatchObject({
      state: { underway: { redelivery: true } },
    });
    expect(
      await introduceMasterKey({ log, clock }, { masterVersion: 2, fingerprint: FINGERPRINT, ...ACT }, contextOf()),
    ).toBe(true);

    const { events } = await collect(log, null);
    const newest = new Map<string, string>();
    for (const event of events) {
      expect(event.metadata.hash).toBe(hashEvent(newest.get(event.stream) ?? '', event));
      newest.set(event.stream, event.metadata.hash);
    }
    const standings = events.map((event) => eventIdStanding(event, appendIndexOf(event)));
    expect(standings).toEqual([...Array(8).fill('unprovable'), ...Array(3).fill('matches')]);
  });
});
