/** The receipt of one request. Given what its stream records, then it has the settled charge, or is refused. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { receiptOf } from '../../../src/audit/receipts/receipt.ts';
import { payment } from '../../../src/commands/payment/payment.ts';
import { PaymentSettled, paymentStream } from '../../../src/events/payment.ts';
import { UnreadableEvent } from '../../../src/events/unreadable-event.ts';
import type { RecordedEvent } from '../../../src/storage/event-log.ts';
import * as fixtures from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { openWrittenLog, type WrittenLog } from '../written-log.ts';

const STREAM = paymentStream('c'.repeat(64));
const SETTLED = PaymentSettled.of({ ...fixtures.settled.data, amount: '1980000' });
const EVENTS = [...fixtures.claimed, SETTLED];

let written: WrittenLog;
let recorded: readonly RecordedEvent[];
beforeEach(async () => {
  written = await openWrittenLog();
  await written.write(STREAM, NOON, ...EVENTS);
  recorded = await written.log.read(STREAM);
});
afterEach(() => written.close());

function receipt(of: readonly RecordedEvent[]) {
  const state = EVENTS.reduce(payment.evolve, payment.initialState);
  if (state.status !== 'settled') throw new Error(`the payment is ${state.status}`);
  return receiptOf(state, of);
}

it('has the amount that the settlement records', () => {
  expect(receipt(recorded)).toMatchObject({
    amount: '1980000',
    amount_usdc: '1.98',
    events: { length: EVENTS.length },
  });
});

it.each([0, EVENTS.length - 1])('is refused if event %i was changed', (index) => {
  const changed = recorded.map((event, at) =>
    at === index ? { ...event, data: { ...event.data, amount: '1' } } : event,
  );
  expect(() => receipt(changed)).toThrow(UnreadableEvent);
  expect(() => receipt(changed)).toThrow(`stream ${STREAM}, revision ${index}`);
});

it('is refused if an event is missing', () => {
  expect(() => receipt(recorded.slice(1))).toThrow(`stream ${STREAM}, revision 1`);
});
