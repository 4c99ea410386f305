import { describe, expect, it } from 'vitest';
import type { DomainEvent, JsonObject } from '../../src/events/event.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { payments } from '../../src/projections/payments.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { wallets } from '../../src/projections/wallets.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import {
  answer,
  claimed,
  expired,
  finalized,
  givenBack,
  handedOut,
  REQUEST,
  rolledBack,
  settled,
  settledLate,
  TRANSACTION,
  takenOver,
  WALLET,
} from '../commands/payment/payment.fixtures.ts';

const HASH = 'c'.repeat(64);
const at = (minute: number) => `2026-06-01T12:${String(minute).padStart(2, '0')}:00.000000Z`;

/** Folds one payment's history, event by event, a minute apart. */
function fold(projection: Projection<never>, history: readonly DomainEvent[], hash = HASH, start = 0) {
  const documents = new Map<string, JsonObject>();
  history.forEach((event, index) => {
    if (!projection.events.some(({ type }) => type === event.type)) return;
    const [prepared] = prepareAppend({
      stream: paymentStream(hash),
      head: NO_STREAM,
      events: [event],
      context: { commandId: 'c', requestId: null, correlationId: 'c', causationId: null, actor: 'test' },
      recordedAt: at(start + index),
    }).events;
    const projected = {
      event: event as never,
      recorded: { ...prepared!, position: String(index) },
      contents: new Map(),
    };
    for (const target of projection.targets(projected)) {
      const document = projection.fold(target, documents.get(target.id) ?? null, projected);
      if (document) documents.set(target.id, document);
      else documents.delete(target.id);
    }
  });
  return documents;
}

const paymentAfter = (...history: readonly DomainEvent[]) => fold(payments as never, history).get(HASH);
const walletAfter = (...history: readonly DomainEvent[]) => fold(wallets as never, history).get(WALLET);

describe('the read model of payments', () => {
  it('shows a submitted payment as waiting for its outcome', () => {
    expect(paymentAfter(...claimed)).toEqual({
      payment: HASH,
      requestId: REQUEST,
      wallet: WALLET,
      dialect: 'x402-v2',
      endpoint: 'GET /v2/case',
      amount: '990000',
      status: 'submitted',
      attention: 'outcome',
      transaction: TRANSACTION,
      lastValidBlockHeight: 150,
      answer: answer.answer,
      keepUntil: answer.keepUntil,
      answeredCases: 1,
      late: false,
      finalized: false,
      handedOut: false,
      reason: null,
      queryError: null,
      authorizedAt: at(0),
      submittedAt: at(2),
      outcomeAt: null,
    });
  });

  it.each([
    ['a failed query', givenBack, { status: 'released', attention: 'none', queryError: 'case_not_found' }],
    ['presented again', [...givenBack, ...claimed], { status: 'submitted', queryError: null, reason: null }],
    ['settled', [...claimed, settled], { status: 'settled', attention: 'finality', outcomeAt: at(3), late: false }],
    ['final', [...claimed, settled, finalized], { status: 'settled', attention: 'none', finalized: true }],
    ['handed out', [...claimed, settled, handedOut], { status: 'settled', handedOut: true, attention: 'finality' }],
    ['given up', [...claimed, expired], { status: 'failed', attention: 'doubt', reason: 'expired' }],
    [
      'settled late',
      [...claimed, expired, settledLate],
      { status: 'settled', attention: 'finality', late: true, reason: null },
    ],
    [
      'rolled back',
      [...claimed, settled, rolledBack],
      { status: 'rolled_back', attention: 'doubt', reason: 'not_on_the_finalized_chain' },
    ],
  ])('%s', (_title, history, expected) => {
    expect(paymentAfter(...history)).toMatchObject(expected);
  });

  it('ignores a claim that was taken over before it was recorded', () => {
    expect(paymentAfter(takenOver)).toBeUndefined();
  });

  it('ignores other streams', () => {
    const projected = { event: takenOver, recorded: { stream: 'payment-id-abc' }, contents: new Map() };
    expect(payments.targets(projected as never)).toEqual([]);
  });
});

describe('the read model of wallets', () => {
  it('counts only answered and paid calls', () => {
    expect(walletAfter(...givenBack, ...claimed)).toMatchObject({ answeredCalls: 0, settled: '0' });
    expect(walletAfter(...givenBack, ...claimed, settled, finalized)).toEqual({
      wallet: WALLET,
      answeredCalls: 1,
      answeredCases: 1,
      settled: '990000',
      firstSeen: at(0),
      lastSeen: at(3),
    });
    expect(walletAfter(...claimed, expired)).toMatchObject({ answeredCalls: 0, settled: '0' });
    expect(walletAfter(...claimed, expired, settledLate)).toMatchObject({ answeredCalls: 1, settled: '990000' });
  });

  it('subtracts what the cluster rolled back', () => {
    expect(walletAfter(...claimed, settled, rolledBack)).toMatchObject({ answeredCalls: 0, settled: '0' });
    expect(walletAfter(...claimed, settled, rolledBack, settledLate)).toMatchObject({
      answeredCalls: 1,
      settled: '990000',
    });
  });
});
