/**
 * Given a log that earlier versions of the service recorded,
 * when it is judged, then it has no breach, and what those versions did not record is counted as unprovable.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** Events of payments, of which only some are taken. */
const SALES: ReadonlySet<string> = new Set(['PaymentAuthorized', 'QueryAnswered']);

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
      charge_owes_promised: 4,
      // The wait that Retry-After made longer.
      attempt_schedule: 1,
      // The redelivery and the master key.
      operator_named: 2,
    },
  });
});

describe('an answer that an earlier version recorded in an append of its own, and whose node then died', () => {
  const answeredAt = () => {
    const submitted = earlier.findIndex(({ type }) => type === 'PaymentSubmitted');
    const { stream = '' } = earlier[submitted] ?? {};
    return {
      stream,
      until: earlier.slice(0, submitted).filter((event) => !SALES.has(event.type) || event.stream === stream),
    };
  };
  /** As today's version records it: with its command. */
  const release = (stream: string, commandId?: string): RecordedEvent => {
    const released = earlier.find(({ type }) => type === 'PaymentReleased') as RecordedEvent;
    const metadata = { ...released.metadata, ...(commandId === undefined ? {} : { commandId }) };
    return { ...released, stream, revision: 2, data: { reason: 'claim_taken_over' }, metadata };
  };

  it.each([undefined, 'a takeover'])('may be released (command: %s), and its charge cannot be proven', (commandId) => {
    const { stream, until } = answeredAt();
    const { breaches, unprovable } = judge([...until, release(stream, commandId)]);
    expect(breaches).toEqual([]);
    expect(unprovable).toMatchObject({ answer_has_charge: 1 });
  });
});

it('is held to all that it did record', () => {
  const lower = earlier.map((event) =>
    event.type === 'PaymentAuthorized' ? { ...event, data: { ...event.data, amount: '1' } } : event,
  );
  expect(judge(lower).breaches.some(({ rule }) => rule === 'amount_exact')).toBe(true);
});
