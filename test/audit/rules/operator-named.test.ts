/**
 * Given every type of event, when its schema names an actor, then audits ask each such event for the actor, and for a
 * reason where the schema has one; so a new act of an operator cannot be left out.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JudgedEvent } from '../../../src/audit/judging.ts';
import { operatorRules } from '../../../src/audit/rules/operator-named.ts';
import { EVENT_TYPES } from '../../../src/events/codec.ts';
import { CONTENT_EVENTS } from '../../../src/events/content.ts';
import { DELIVERY_EVENTS } from '../../../src/events/delivery.ts';
import { DOCKET_EVENTS } from '../../../src/events/docket.ts';
import type { JsonObject } from '../../../src/events/event.ts';
import { FORGET_EVENTS } from '../../../src/events/forget.ts';
import { LOG_HEAD_EVENTS } from '../../../src/events/log-head.ts';
import { LOG_IDENTITY_EVENTS } from '../../../src/events/log-identity.ts';
import { OPERATOR_EVENTS } from '../../../src/events/operator.ts';
import { PAYMENT_EVENTS } from '../../../src/events/payment.ts';
import { SIGNING_KEY_EVENTS } from '../../../src/events/signing-key.ts';
import { SOURCE_EVENTS } from '../../../src/events/source.ts';

const ALL = [
  ...PAYMENT_EVENTS,
  ...DELIVERY_EVENTS,
  ...SIGNING_KEY_EVENTS,
  ...DOCKET_EVENTS,
  ...CONTENT_EVENTS,
  ...OPERATOR_EVENTS,
  ...SOURCE_EVENTS,
  ...FORGET_EVENTS,
  ...LOG_IDENTITY_EVENTS,
  ...LOG_HEAD_EVENTS,
];
const has = (type: string, member: string): boolean => {
  const schema = ALL.find((one) => one.type === type)?.schema as unknown;
  if (!(schema instanceof z.ZodObject)) throw new Error(`the schema of ${type} is no object`);
  return member in schema.shape;
};
const ACTS = EVENT_TYPES.filter((type) => has(type, 'by'));

const found = (type: string, data: JsonObject): readonly string[] => {
  const breaches: string[] = [];
  const findings = {
    breach: (rule: string, _expected: string, what: string) => breaches.push(`${rule}: ${what}`),
    state: () => {},
    unprovable: () => {},
  };
  const event = { type, data, metadata: { commandId: 'one', schemaVersion: 9 } } as unknown as JudgedEvent;
  operatorRules.judge(undefined, event, findings);
  return breaches;
};

it('is judged for every event that names who acted, and for no other', () => {
  expect(ALL.map(({ type }) => type).sort()).toEqual([...EVENT_TYPES].sort());
  expect([...operatorRules.types].sort()).toEqual([...ACTS].sort());
});

describe.each(ACTS)('%s', (type) => {
  it('needs an actor', () => {
    expect(found(type, { by: 'Ann', reason: 'a test', outcome: 'cancelled' })).toEqual([]);
    expect(found(type, { by: ' ', reason: 'a test', outcome: 'cancelled' })).toEqual(['operator_named: no actor']);
  });

  it.runIf(has(type, 'reason'))('needs a reason', () => {
    expect(found(type, { by: 'Ann', reason: ' ', outcome: 'cancelled' })).toEqual(['operator_named: no reason']);
    expect(found(type, { by: 'Ann', outcome: 'cancelled' })).toEqual(['operator_named: no reason']);
  });
});

it('is no act if a backfill was completed', () => {
  expect(found('BackfillEnded', { outcome: 'completed' })).toEqual([]);
});
