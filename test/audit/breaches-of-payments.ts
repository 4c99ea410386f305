/** Breaches of the rules of payments, planted by an insider who recomputes every hash. */
import type { JsonObject } from '../../src/events/event.ts';
import { plus } from '../../src/runtime/instant.ts';
import type { PlantedBreach } from './planted-breach.ts';
import { HOUR, SECOND } from './recorder.ts';

const OTHER_REQUEST = '00000000-0000-4000-8000-000000000000';
const OTHER_WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const OTHER_TRANSACTION = '2'.repeat(88);

/** Charges of the base log, and a member of each that an insider changes. */
const CHANGED_CHARGES = [
  ['plain', 'PaymentSettled', { amount: '1' }],
  ['plain', 'PaymentSettled', { wallet: OTHER_WALLET }],
  ['plain', 'PaymentSettled', { requestId: OTHER_REQUEST }],
  ['plain', 'PaymentSettled', { transaction: OTHER_TRANSACTION }],
  ['plain', 'PaymentFinalized', { transaction: OTHER_TRANSACTION }],
  ['batch', 'PaymentSettled', { answeredCases: 1 }],
  ['expired', 'PaymentFailed', { wallet: OTHER_WALLET }],
  ['late', 'PaymentRolledBack', { amount: '1' }],
  ['late', 'PaymentSettledLate', { amount: '1' }],
  ['rotation', 'ResultHandedOut', { requestId: OTHER_REQUEST }],
] as const;

/** Payments, and how an insider gives them an older schema, which had not the member yet. */
const DOWNGRADED = [
  ['plain', 'PaymentAuthorized', 'queries'],
  ['promising', 'PaymentSettled', 'owes'],
] as const;

export const BREACHES_OF_PAYMENTS: readonly PlantedBreach[] = [
  ...CHANGED_CHARGES.map(
    ([stream, type, data]): PlantedBreach => ({
      name: `${type} with another ${Object.keys(data)[0]}`,
      rule: 'charge_as_authorized',
      plant: (log, base) => log.set(log.at(base[stream], type), data),
    }),
  ),
  {
    name: 'a charge without an answer',
    rule: 'charge_has_answer',
    plant(log, { plain }) {
      log.drop(log.at(plain, 'QueryAnswered'));
      return log.at(plain, 'PaymentSubmitted');
    },
  },
  {
    name: 'an answer that is nothing',
    rule: 'charge_has_answer',
    plant: (log, { plain }) => log.set(log.at(plain, 'QueryAnswered'), { answer: null }),
  },
  {
    name: 'a query that is charged for the answer of another',
    rule: 'answer_used_once',
    plant(log, { plain, second }) {
      const { answer } = log.at(plain, 'QueryAnswered').data;
      log.set(log.at(second, 'QueryAnswered'), { answer: answer as string });
      return log.at(second, 'PaymentSubmitted');
    },
  },
  {
    name: 'a query that is charged as if it had been a call on keys',
    rule: 'charge_has_answer',
    plant(log, { plain, bobsKey }) {
      // A key that the log knows, so that nothing is missing in the end.
      const { keyId } = log.at(bobsKey, 'QueryAnswered').data.keyCall as JsonObject;
      const keyCall = { does: 'show', keyId: keyId as string };
      log.set(log.at(plain, 'PaymentSettled'), { owes: { deliveries: [], keyCall } });
      return log.set(log.at(plain, 'QueryAnswered'), { answer: null, keyCall });
    },
  },
  {
    name: 'an answer that is released instead of charged',
    rule: 'answer_has_charge',
    plant(log, { plain, failedQuery }) {
      const [settled, finalized] = ['PaymentSettled', 'PaymentFinalized'].map((type) => log.at(plain, type));
      const submitted = log.at(plain, 'PaymentSubmitted');
      const released = log.insert(
        submitted,
        { stream: plain, data: { reason: 'claim_taken_over' } },
        log.at(failedQuery, 'PaymentReleased'),
      );
      log.drop(submitted, ...[settled, finalized].flatMap((event) => event ?? []));
      return released;
    },
  },
  {
    name: 'a request that is released without an answer and without a failure',
    rule: 'payment_order',
    plant(log, { failedQuery }) {
      log.drop(log.at(failedQuery, 'QueryFailed'));
      return log.set(log.at(failedQuery, 'PaymentReleased'), { reason: 'not_submitted' });
    },
  },
  ...(['plain', 'batch'] as const).map(
    (name): PlantedBreach => ({
      name: `a charge though nothing was answered (${name})`,
      rule: 'failed_query_not_charged',
      plant(log, base) {
        log.set(log.at(base[name], 'QueryAnswered'), { answeredCases: 0 });
        log.set(log.at(base[name], 'PaymentSettled'), { answeredCases: 0 });
        return log.at(base[name], 'PaymentSubmitted');
      },
    }),
  ),
  ...DOWNGRADED.map(
    ([name, type, member]): PlantedBreach => ({
      name: `${type} of the version without ${member}`,
      rule: 'schema_of_its_time',
      plant: (log, base) => log.downgrade(log.at(base[name], type), member),
    }),
  ),
  {
    name: 'an amount without its number of queries',
    rule: 'amount_exact',
    plant: (log, { batch }) => log.set(log.at(batch, 'PaymentAuthorized'), { queries: null }),
  },
  {
    name: 'several queries for one call that is no batch',
    rule: 'amount_exact',
    plant: (log, { batch }) => log.set(log.at(batch, 'PaymentAuthorized'), { endpoint: 'POST /v2/cases' }),
  },
  {
    name: 'an answer that expires a day and a second too early',
    rule: 'content_kept',
    plant(log, { plain }) {
      const answered = log.at(plain, 'QueryAnswered');
      return log.set(answered, { keepUntil: plus(answered.metadata.recordedAt, 29 * 24 * HOUR - SECOND) });
    },
  },
  {
    name: 'an answer without a charge',
    rule: 'answer_has_charge',
    plant(log, { plain }) {
      const types = ['PaymentSubmitted', 'PaymentSettled', 'PaymentFinalized'];
      log.drop(...types.map((type) => log.at(plain, type)));
      return plain;
    },
  },
  {
    name: 'a submission after a failed query',
    rule: 'failed_query_not_charged',
    plant: (log, { failedQuery, plain }) =>
      log.insert(log.at(failedQuery, 'PaymentReleased'), { stream: failedQuery }, log.at(plain, 'PaymentSubmitted')),
  },
  {
    name: 'a charge for a failed query',
    rule: 'failed_query_not_charged',
    plant: (log, { failedQuery, plain }) =>
      log.insert(log.at(failedQuery, 'PaymentReleased'), { stream: failedQuery }, log.at(plain, 'PaymentSettled')),
  },
  {
    name: 'an answer to another request',
    rule: 'one_request',
    plant: (log, { plain }) => log.set(log.at(plain, 'QueryAnswered'), { requestId: OTHER_REQUEST }),
  },
  {
    name: 'a failure of another request',
    rule: 'one_request',
    plant: (log, { failedQuery }) => log.set(log.at(failedQuery, 'QueryFailed'), { requestId: OTHER_REQUEST }),
  },
  {
    name: 'a payment that is settled twice',
    rule: 'payment_order',
    plant: (log, { plain }) => log.repeat(log.at(plain, 'PaymentSettled')),
  },
  {
    name: 'finality before settlement',
    rule: 'payment_order',
    plant(log, { plain }) {
      const finalized = log.at(plain, 'PaymentFinalized');
      log.swap(log.at(plain, 'PaymentSettled'), finalized);
      return finalized;
    },
  },
  {
    name: 'a settlement of what had failed that does not say that it is late',
    rule: 'payment_order',
    plant: (log, { expired, plain }) =>
      log.insert(log.at(expired, 'PaymentFailed'), { stream: expired }, log.at(plain, 'PaymentSettled')),
  },
  {
    name: 'a release of what was submitted',
    rule: 'payment_order',
    plant: (log, { plain, failedQuery }) =>
      log.insert(
        log.at(plain, 'PaymentSubmitted'),
        { stream: plain, data: { reason: 'claim_taken_over' } },
        log.at(failedQuery, 'PaymentReleased'),
      ),
  },
  {
    name: 'a payment that pays for a second request',
    rule: 'payment_order',
    plant: (log, { plain }) => log.repeat(log.at(plain, 'PaymentAuthorized'), log.at(plain, 'PaymentFinalized')),
  },
  {
    name: 'a secret that is handed out twice',
    rule: 'payment_order',
    plant: (log, { rotation }) => log.repeat(log.at(rotation, 'ResultHandedOut')),
  },
  {
    name: 'a rollback of what is final',
    rule: 'payment_order',
    plant: (log, { plain, late }) =>
      log.insert(log.at(plain, 'PaymentFinalized'), { stream: plain }, log.at(late, 'PaymentRolledBack')),
  },
  {
    name: 'a settlement that owes none of the promised callbacks',
    rule: 'charge_owes_promised',
    plant: (log, { promising }) => log.set(log.at(promising, 'PaymentSettled'), { owes: null }),
  },
  {
    name: 'an amount that is not the price of its queries',
    rule: 'amount_exact',
    plant: (log, { plain }) => log.set(log.at(plain, 'PaymentAuthorized'), { queries: 2 }),
  },
  {
    name: 'more answered cases than queries',
    rule: 'answers_within_queries',
    plant(log, { batch }) {
      log.set(log.at(batch, 'PaymentSettled'), { answeredCases: 4 });
      return log.set(log.at(batch, 'QueryAnswered'), { answeredCases: 4 });
    },
  },
  {
    name: 'more cases by court than were answered',
    rule: 'answers_within_queries',
    plant: (log, { plain }) => log.set(log.at(plain, 'QueryAnswered'), { courts: [{ court: 'cand', cases: 2 }] }),
  },
  {
    name: 'more cases named than were answered',
    rule: 'answers_within_queries',
    plant: (log, { plain }) =>
      log.set(log.at(plain, 'QueryAnswered'), { cases: ['docket-cand-3:24-cv-01234', 'docket-cand-3:24-cv-01235'] }),
  },
  {
    name: 'the bytes of another payment',
    rule: 'wire_is_the_payment',
    plant: (log, { plain, second }) =>
      log.set(log.at(plain, 'PaymentSubmitted'), { wire: log.at(second, 'PaymentSubmitted').data.wire ?? '' }),
  },
  {
    name: 'bytes that are no transaction',
    rule: 'wire_is_the_payment',
    plant: (log, { plain }) => log.set(log.at(plain, 'PaymentSubmitted'), { wire: 'AQID' }),
  },
  {
    name: 'another transaction than that of the bytes',
    rule: 'wire_is_the_payment',
    plant(log, { plain }) {
      for (const type of ['PaymentSettled', 'PaymentFinalized'])
        log.set(log.at(plain, type), { transaction: OTHER_TRANSACTION });
      return log.set(log.at(plain, 'PaymentSubmitted'), { transaction: OTHER_TRANSACTION });
    },
  },
  {
    name: 'another amount than the transaction transfers',
    rule: 'wire_pays_as_authorized',
    plant(log, { batch }) {
      log.set(log.at(batch, 'PaymentAuthorized'), { amount: '1980000', queries: 2 });
      log.set(log.at(batch, 'QueryAnswered'), { answeredCases: 2 });
      log.set(log.at(batch, 'PaymentSettled'), { amount: '1980000', answeredCases: 2 });
      return log.at(batch, 'PaymentSubmitted');
    },
  },
  {
    name: 'another wallet than the one that signed',
    rule: 'wire_pays_as_authorized',
    plant(log, { plain }) {
      log.set(log.at(plain, 'PaymentAuthorized'), { wallet: OTHER_WALLET });
      log.set(log.at(plain, 'PaymentSettled'), { wallet: OTHER_WALLET });
      return log.at(plain, 'PaymentSubmitted');
    },
  },
  {
    name: 'another call than the one that its memo names',
    rule: 'memo_names_the_call',
    plant(log, { plain }) {
      log.set(log.at(plain, 'PaymentAuthorized'), { endpoint: 'GET /v2/monitor' });
      return log.at(plain, 'PaymentSubmitted');
    },
  },
  {
    name: 'a forged signature',
    rule: 'wire_signed',
    plant(log, { plain }) {
      const submitted = log.at(plain, 'PaymentSubmitted');
      const wire = Buffer.from(String(submitted.data.wire), 'base64');
      // In the second signature, the wallet's; the first is the transaction's id.
      wire[1 + 64 + 5] = (wire[1 + 64 + 5] ?? 0) ^ 1;
      return log.set(submitted, { wire: wire.toString('base64') });
    },
  },
  {
    name: 'a submitted payment that never gets an outcome',
    rule: 'outcome_in_time',
    plant(log, { expired }) {
      log.drop(log.at(expired, 'PaymentFailed'));
      return expired;
    },
  },
  {
    name: 'an outcome that comes a day too late',
    rule: 'outcome_in_time',
    plant: (log, { expired }) => log.moveToEnd(log.at(expired, 'PaymentFailed'), {}),
  },
  {
    name: 'a finality that comes a day too late',
    rule: 'finality_in_time',
    plant: (log, { plain }) => log.moveToEnd(log.at(plain, 'PaymentFinalized'), {}),
  },
  {
    name: 'a settled payment that never becomes final',
    rule: 'finality_in_time',
    plant(log, { plain }) {
      log.drop(log.at(plain, 'PaymentFinalized'));
      return plain;
    },
  },
  {
    name: 'one transaction in two payments',
    rule: 'transaction_used_once',
    // Only the check of each signature would notice the first signature under another message.
    unsigned: true,
    plant(log, { plain, second }) {
      const of = (stream: string) => Buffer.from(String(log.at(stream, 'PaymentSubmitted').data.wire), 'base64');
      const wire = Buffer.concat([of(second).subarray(0, 1), of(plain).subarray(1, 65), of(second).subarray(65)]);
      const { transaction = '' } = log.at(plain, 'PaymentSubmitted').data;
      for (const type of ['PaymentSettled', 'PaymentFinalized']) log.set(log.at(second, type), { transaction });
      return log.set(log.at(second, 'PaymentSubmitted'), { transaction, wire: wire.toString('base64') });
    },
  },
  {
    name: 'a payment on another chain',
    rule: 'paid_to_the_receiver',
    plant: (log, { plain }) => log.set(log.at(plain, 'PaymentAuthorized'), { network: 'solana:other' }),
  },
  {
    name: 'a payment before the log is bound to a receiver',
    rule: 'paid_to_the_receiver',
    plant(log, { plain }) {
      const [founded, authorized] = [log.at('log-identity', 'LogFounded'), log.at(plain, 'PaymentAuthorized')];
      log.drop(founded);
      log.insert(authorized, {}, founded);
      return authorized;
    },
  },
  {
    name: 'a payment to an address that is not the receiver',
    rule: 'paid_to_the_receiver',
    plant(log, { toNewReceiver }) {
      log.drop(log.at('log-identity', 'ReceiverChanged'));
      return log.at(toNewReceiver, 'PaymentAuthorized');
    },
  },
  {
    name: 'a payment identifier for two requests',
    rule: 'identifier_one_request',
    plant(log, { identifier, secondOfIdentifier }) {
      const requestHash = 'f'.repeat(64);
      log.set(log.at(secondOfIdentifier, 'PaymentAuthorized'), { requestHash });
      return log.set(log.at(identifier, 'PaymentIdClaimed', 1), { requestHash });
    },
  },
  {
    name: 'a payment with an identifier that it did not claim',
    rule: 'identifier_claimed',
    plant(log, { identifier, secondOfIdentifier }) {
      log.drop(log.at(identifier, 'PaymentIdClaimed', 1));
      return log.at(secondOfIdentifier, 'PaymentSubmitted');
    },
  },
  {
    name: 'a claim of an identifier for another revision',
    rule: 'identifier_claimed',
    plant(log, { identifier, secondOfIdentifier }) {
      log.set(log.at(identifier, 'PaymentIdClaimed', 1), { expected: 2 });
      return log.at(secondOfIdentifier, 'PaymentSubmitted');
    },
  },
  {
    name: 'two payments charged under one identifier',
    rule: 'identifier_pays_once',
    plant(log, { firstOfIdentifier, secondOfIdentifier }) {
      const failed = log.at(firstOfIdentifier, 'PaymentFailed');
      const { transaction = '', requestId = '', wallet = '' } = failed.data;
      failed.type = 'PaymentSettled';
      failed.metadata = { ...failed.metadata, schemaVersion: 2 };
      failed.data = { transaction, slot: 99, requestId, wallet, amount: '990000', answeredCases: 1, owes: null };
      const finalized = { type: 'PaymentFinalized', data: { transaction, slot: 99 } };
      log.insert(failed, { ...finalized, metadata: { ...failed.metadata, schemaVersion: 1 } });
      return log.at(secondOfIdentifier, 'PaymentSubmitted');
    },
  },
];
