import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRejection } from '../../../src/commands/decider.ts';
import { isSubmitted, mayBePresented, type PaymentCommand, payment } from '../../../src/commands/payment/payment.ts';
import { type PaymentEvent, PaymentSettled, QueryAnswered } from '../../../src/events/payment.ts';
import { given } from '../../given-when-then.ts';
import {
  answer,
  answered,
  authorization,
  authorized,
  claimed,
  expired,
  failedOnChain,
  finalized,
  givenBack,
  handedOut,
  purchase,
  queryFailed,
  REQUEST,
  rolledBack,
  settled,
  settledLate,
  submitted,
  takenOver,
} from './payment.fixtures.ts';

const submit: PaymentCommand = { type: 'Submit', ...purchase };
const failQuery: PaymentCommand = {
  type: 'RecordFailedQuery',
  authorization,
  code: 'case_not_found',
  httpStatus: 404,
};
const settle: PaymentCommand = { type: 'Settle', slot: 77 };
const expire: PaymentCommand = { type: 'Fail', reason: 'expired', detail: null };
const failOnChain: PaymentCommand = {
  type: 'Fail',
  reason: 'on_chain_error',
  detail: '{"InstructionError":[2,{"Custom":1}]}',
};
const finalize: PaymentCommand = { type: 'Finalize', slot: 77 };
const rollBack: PaymentCommand = { type: 'RollBack', reason: 'not_on_the_finalized_chain' };
const handOut: PaymentCommand = { type: 'HandOut' };
const takeOver: PaymentCommand = { type: 'TakeOver' };

const when = (...history: readonly PaymentEvent[]) => given(payment, ...history);

describe('a payment that was never presented', () => {
  it('is claimed together with its answer, before it is broadcast', () => {
    when()
      .when(submit)
      .then(...claimed);
  });
  it('is released at once when the query fails', () => {
    when()
      .when(failQuery)
      .then(...givenBack);
  });
  it('has no outcome', () => {
    for (const command of [settle, expire]) when().when(command).thenRejected('not_submitted');
    for (const command of [finalize, rollBack, handOut]) when().when(command).thenRejected('not_settled');
  });
  it('can be ended by the next attempt with its identifier', () => {
    when().when(takeOver).then(takenOver);
  });
});

describe('a payment that was released', () => {
  it('may be presented again, and again after another failed query', () => {
    when(...givenBack)
      .when(submit)
      .then(...claimed);
    when(...givenBack)
      .when(failQuery)
      .then(...givenBack);
    when(...givenBack, ...givenBack)
      .when(submit)
      .then(...claimed);
    when(takenOver)
      .when(submit)
      .then(...claimed);
  });
  it('has no outcome', () => {
    when(...givenBack)
      .when(settle)
      .thenRejected('not_submitted');
    when(...givenBack)
      .when(expire)
      .thenRejected('not_submitted');
    when(...givenBack)
      .when(takeOver)
      .then(takenOver);
  });
});

describe('a payment that was submitted', () => {
  it('counts as used: no other caller may present it, and no identifier can claim it', () => {
    for (const command of [submit, failQuery, takeOver])
      when(...claimed)
        .when(command)
        .thenRejected('already_used');
  });
  it('names what it owes in addition to its answer as it settles', () => {
    const callback = { deliveryId: REQUEST, target: 'c'.repeat(64), origin: 'https://agent.example', result: null };
    const pushed = QueryAnswered.of({ ...answer, callbacks: [callback] });
    when(authorized, pushed, submitted)
      .when(settle)
      .then(PaymentSettled.of({ ...settled.data, owes: { deliveries: [REQUEST], keyCall: null } }));
    const keyCall = { does: 'rotate', keyId: 'key-1' } as const;
    when(authorized, QueryAnswered.of({ ...answer, answer: null, keyCall }), submitted)
      .when(settle)
      .then(PaymentSettled.of({ ...settled.data, owes: { deliveries: [], keyCall } }));
  });
  it('settles once, naming what it paid for', () => {
    when(...claimed)
      .when(settle)
      .then(settled);
    when(...claimed, settled)
      .when(settle)
      .then();
    when(...givenBack, ...claimed)
      .when(settle)
      .then(settled);
  });
  it('fails by expiry or on the chain, once', () => {
    when(...claimed)
      .when(expire)
      .then(expired);
    when(...claimed)
      .when(failOnChain)
      .then(failedOnChain);
    when(...claimed, expired)
      .when(expire)
      .then();
    when(...claimed, expired)
      .when(failOnChain)
      .then();
  });
  it('is not final, not rolled back and not delivered', () => {
    for (const command of [finalize, rollBack, handOut])
      when(...claimed)
        .when(command)
        .thenRejected('not_settled');
  });
});

describe('a settled payment', () => {
  it('stays used', () => {
    for (const command of [submit, failQuery, takeOver])
      when(...claimed, settled)
        .when(command)
        .thenRejected('already_used');
  });
  it('never fails', () => {
    when(...claimed, settled)
      .when(expire)
      .thenRejected('already_settled');
    when(...claimed, settled)
      .when(failOnChain)
      .thenRejected('already_settled');
  });
  it('becomes final once', () => {
    when(...claimed, settled)
      .when(finalize)
      .then(finalized);
    when(...claimed, settled, finalized)
      .when(finalize)
      .then();
  });
  it('can be rolled back until it is final', () => {
    when(...claimed, settled)
      .when(rollBack)
      .then(rolledBack);
    when(...claimed, settled, rolledBack)
      .when(rollBack)
      .then();
    when(...claimed, settled, finalized)
      .when(rollBack)
      .thenRejected('already_final');
  });
  it('delivers a one-time answer once', () => {
    when(...claimed, settled)
      .when(handOut)
      .then(handedOut);
    when(...claimed, settled, handedOut)
      .when(handOut)
      .thenRejected('already_handed_out');
    when(...claimed, settled, finalized)
      .when(handOut)
      .then(handedOut);
  });
});

describe('a failed payment', () => {
  it('stays used', () => {
    for (const command of [submit, failQuery, takeOver])
      when(...claimed, expired)
        .when(command)
        .thenRejected('already_used');
  });
  it('still settles if it lands later: money received is always answered', () => {
    when(...claimed, expired)
      .when(settle)
      .then(settledLate);
    when(...claimed, failedOnChain)
      .when(settle)
      .then(settledLate);
    when(...claimed, settled, rolledBack)
      .when(settle)
      .then(settledLate);
    expect(when(...claimed, expired, settledLate).state).toMatchObject({ status: 'settled', late: true });
  });
  it('has nothing to finalize or to deliver', () => {
    for (const command of [finalize, rollBack, handOut])
      when(...claimed, expired)
        .when(command)
        .thenRejected('not_settled');
    when(...claimed, settled, rolledBack)
      .when(expire)
      .then();
    when(...claimed, settled, rolledBack)
      .when(handOut)
      .thenRejected('not_settled');
  });
});

describe('a stream that ends inside the append that claims it', () => {
  it('blocks the payment until it is released: no broadcast is known', () => {
    for (const cut of [[authorized], [authorized, answered], [authorized, queryFailed]]) {
      when(...cut)
        .when(submit)
        .thenRejected('already_used');
      when(...cut)
        .when(settle)
        .thenRejected('not_submitted');
      when(...cut)
        .when(takeOver)
        .then(takenOver);
      when(...cut, takenOver)
        .when(submit)
        .then(...claimed);
    }
  });
  it('ignores an event that cannot follow', () => {
    for (const event of [submitted, settled, expired, rolledBack, finalized, handedOut, answered, queryFailed])
      expect(when(event).state).toEqual({ status: 'none' });
  });
});

describe('for any commands in any order', () => {
  const command = fc.constantFrom(
    submit,
    failQuery,
    settle,
    expire,
    failOnChain,
    finalize,
    rollBack,
    handOut,
    takeOver,
  );

  it('a payment is claimed at most once between two releases, and settles at most once on time', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 25 }), (commands) => {
        const history: PaymentEvent[] = [];
        let state = payment.initialState;
        for (const each of commands) {
          const outcome = payment.decide(state, each);
          if (isRejection(outcome)) continue;
          for (const event of outcome) {
            state = payment.evolve(state, event);
            history.push(event);
          }
          // Between commands a payment may be presented or has been submitted, and nothing else.
          expect(mayBePresented(state) || isSubmitted(state)).toBe(true);
        }
        const count = (type: string) => history.filter((event) => event.type === type).length;
        expect(count('PaymentSubmitted')).toBeLessThanOrEqual(1);
        expect(count('PaymentSettled')).toBeLessThanOrEqual(1);
        expect(count('ResultHandedOut')).toBeLessThanOrEqual(1);
        const submittedAt = history.findIndex(({ type }) => type === 'PaymentSubmitted');
        const released = history.findLastIndex(({ type }) => type === 'PaymentReleased');
        if (submittedAt >= 0) expect(released).toBeLessThan(submittedAt);
      }),
      { numRuns: 500 },
    );
  });
});
