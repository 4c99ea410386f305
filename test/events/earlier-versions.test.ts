/**
 * Given events as earlier versions of the service wrote them, when they are read, then they are whole, and what they
 * did not record is marked as unknown.
 */
import { expect, it } from 'vitest';
import { decodeEvent, encodeEvent } from '../../src/events/codec.ts';
import type { JsonObject } from '../../src/events/event.ts';

const AT = '2026-06-01T12:00:00.000000Z';

const FINISHED = {
  attempt: 1,
  redelivery: false,
  keyId: 'key_7d1f',
  startedAt: AT,
  finishedAt: AT,
  outcome: 'failed',
  responseCode: 503,
  failureClass: 'http_5xx',
  durationMs: 2_000,
  nextAttemptAt: '2026-06-01T12:03:00.000000Z',
};
const REQUESTED = { redelivery: 1, wallet: 'w', origin: 'https://receiver.example', requestedAt: AT };
const INTRODUCED = { masterVersion: 1, fingerprint: 'a'.repeat(32) };
const SKIPPED = { projection: 'cases', position: '7', reason: 'damaged' };
const REDACTED = {
  name: 'b'.repeat(64),
  replacement: null,
  stream: 'docket-cand-1',
  revision: 3,
  filingIds: ['f'],
  reason: 'withdrawn by J. Muster: order of 2 March',
};

it.each([
  ['DeliveryAttemptFinished', FINISHED, FINISHED],
  ['DeliveryRedeliveryRequested', REQUESTED, { ...REQUESTED, by: null, reason: null }],
  ['MasterKeyIntroduced', INTRODUCED, { ...INTRODUCED, by: null, reason: null }],
  ['EventSkipped', SKIPPED, SKIPPED],
  ['ContentRedacted', REDACTED, REDACTED],
] as const)('%s 1 says who acted, and what a receiver requested, only if it was recorded', (type, older, read) => {
  const { data } = decodeEvent({ type, data: older as JsonObject, metadata: { schemaVersion: 1 } });
  expect(data).toStrictEqual(read);
});

it.each([
  ['MasterKeyIntroduced', INTRODUCED],
  ['DeliveryRedeliveryRequested', REQUESTED],
])('%s is not written any more without its actor and its reason', (type, older) => {
  expect(() => encodeEvent({ type, data: older })).toThrow(/by/);
  expect(encodeEvent({ type, data: { ...older, by: 'Ann Lee', reason: 'x' } }).schemaVersion).toBe(2);
});
