/**
 * Given a log that earlier versions of the service recorded,
 * when it is judged, then it has no breach, and what those versions did not record is counted as unprovable.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/events/event.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import type { RecordedEvent } from '../../../src/storage/event-log.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { recordBaseLog } from '../base-log.ts';
import { allOf, judge } from './judge.ts';

/** What the first version of each type did not record. */
const ADDED_LATER: Readonly<Record<string, readonly string[]>> = {
  PaymentAuthorized: ['queries'],
  PaymentSettled: ['owes'],
  PaymentSettledLate: ['owes'],
  DeliveryAttemptFinished: ['retryAfterSeconds'],
  DeliveryRedeliveryRequested: ['by', 'reason'],
  MasterKeyIntroduced: ['by', 'reason'],
};

let directory: string;
let earlier: readonly RecordedEvent[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'earlier-'));
  await recordBaseLog(directory);
  const { log, close } = openSqlite({ directory, clock: systemClock });
  earlier = (await allOf(log)).map(asEarlier);
  await close();
}, 60_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

function asEarlier(event: RecordedEvent): RecordedEvent {
  const { commandId: _, ...metadata } = event.metadata;
  const added = ADDED_LATER[event.type];
  if (!added) return { ...event, metadata };
  const data = Object.fromEntries(Object.entries(event.data).filter(([name]) => !added.includes(name))) as JsonObject;
  return { ...event, data, metadata: { ...metadata, schemaVersion: 1 } };
}

it('is not held to what it did not record', () => {
  expect(judge(earlier)).toMatchObject({
    breaches: [],
    unprovable: {
      // The batch.
      amount_exact: 1,
      // Callbacks, and two keys.
      charge_owes_promised: 3,
      // The wait that Retry-After made longer.
      attempt_schedule: 1,
      // The redelivery and the master key.
      operator_named: 2,
    },
  });
});

it('is held to all that it did record', () => {
  const lower = earlier.map((event) =>
    event.type === 'PaymentAuthorized' ? { ...event, data: { ...event.data, amount: '1' } } : event,
  );
  expect(judge(lower).breaches.some(({ rule }) => rule === 'amount_exact')).toBe(true);
});
