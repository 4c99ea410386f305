/** Breaches of the rules of callbacks and signing keys, planted by an insider who recomputes every hash. */
import { hostSubject, operatorStream, walletSubject } from '../../src/events/operator.ts';
import { type Instant, plus } from '../../src/runtime/instant.ts';
import type { CopiedEvent, LogCopy } from './log-copy.ts';
import type { PlantedBreach } from './planted-breach.ts';
import { HOUR, MINUTE } from './recorder.ts';

const STARTED = 'DeliveryAttemptStarted';
const FINISHED = 'DeliveryAttemptFinished';
const CANCELLED = 'DeliveryCancelled';
const OTHER_DELIVERY = '00000000-0000-4000-8000-000000000000';
const text = (event: CopiedEvent, member: string): Instant => String(event.data[member]);

/** One more attempt behind the nth outcome, with the outcome of the last. */
function addAttempt(log: LogCopy, stream: string, nth: number, attempt: number): CopiedEvent {
  const after = log.at(stream, FINISHED, nth);
  const started = log.set(log.insert(after, {}, log.at(stream, STARTED, nth)), { attempt });
  log.set(log.insert(started, {}, after), { attempt });
  return started;
}

export const BREACHES_OF_PROMISES: readonly PlantedBreach[] = [
  {
    name: 'a delivery that is scheduled twice',
    rule: 'delivery_order',
    plant: (log, { delivered }) => log.repeat(log.at(delivered, 'DeliveryScheduled')),
  },
  {
    name: 'an attempt of what was never scheduled',
    rule: 'delivery_order',
    plant(log, { givenUp }) {
      const stream = `delivery-${OTHER_DELIVERY}`;
      return log.insert(log.at(givenUp, STARTED, 0), { stream });
    },
  },
  {
    name: 'another idempotency key',
    rule: 'delivery_idempotency_key',
    plant: (log, { delivered }) => log.set(log.at(delivered, 'DeliveryScheduled'), { deliveryId: OTHER_DELIVERY }),
  },
  {
    name: 'a callback that no payment promised',
    rule: 'delivery_promised',
    plant(log, { delivered }) {
      const stream = `delivery-${OTHER_DELIVERY}`;
      const last = log.at(delivered, FINISHED);
      log.insert(last, { stream });
      log.insert(last, { stream }, log.at(delivered, STARTED));
      const scheduled = log.insert(last, { stream }, log.at(delivered, 'DeliveryScheduled'));
      return log.set(scheduled, { deliveryId: OTHER_DELIVERY });
    },
  },
  ...(['target', 'origin', 'requestId'] as const).map(
    (member): PlantedBreach => ({
      name: `a callback with another ${member} than promised`,
      rule: 'delivery_as_promised',
      plant: (log, { delivered }) =>
        log.set(log.at(delivered, 'DeliveryScheduled'), {
          [member]: { target: 'a'.repeat(64), origin: 'https://elsewhere.example', requestId: OTHER_DELIVERY }[member],
        }),
    }),
  ),
  {
    name: 'a promised callback that is never scheduled',
    rule: 'callback_scheduled',
    plant(log, { delivered, promising }) {
      log.dropStream(delivered);
      return log.at(promising, 'PaymentSettled');
    },
  },
  {
    name: 'a promised callback that is scheduled a day too late',
    rule: 'callback_scheduled',
    plant(log, { delivered }) {
      const at = log.last().metadata.recordedAt;
      log.drop(log.at(delivered, STARTED), log.at(delivered, FINISHED));
      const scheduled = log.at(delivered, 'DeliveryScheduled');
      return log.moveToEnd(scheduled, { createdAt: at, keepUntil: plus(at, 40 * 24 * HOUR) });
    },
  },
  {
    name: 'a callback that two payments promise',
    rule: 'delivery_promised_once',
    plant(log, { promising, toNewReceiver }) {
      const [callback] = log.at(promising, 'QueryAnswered').data.callbacks as { deliveryId: string }[];
      if (!callback) throw new Error('there is a callback');
      log.set(log.at(toNewReceiver, 'QueryAnswered'), { callbacks: [{ ...callback, result: null }] as never });
      const owes = { deliveries: [callback.deliveryId], keyCall: null };
      return log.set(log.at(toNewReceiver, 'PaymentSettled'), { owes });
    },
  },
  {
    name: 'an eighth attempt',
    rule: 'attempt_at_most_seven',
    plant: (log, { givenUp }) => addAttempt(log, givenUp, 6, 8),
  },
  {
    name: 'an attempt after a success',
    rule: 'attempt_at_most_seven',
    plant: (log, { delivered }) => addAttempt(log, delivered, 0, 2),
  },
  {
    name: 'an early attempt',
    rule: 'attempt_not_early',
    plant(log, { givenUp }) {
      const started = log.at(givenUp, STARTED, 1);
      const startedAt = plus(text(started, 'startedAt'), -MINUTE);
      log.set(log.at(givenUp, FINISHED, 1), { startedAt });
      return log.set(started, { startedAt, leaseUntil: plus(startedAt, MINUTE) });
    },
  },
  {
    name: 'a redelivery with a wrong number',
    rule: 'attempt_numbered',
    plant(log, { givenUp }) {
      log.set(log.at(givenUp, FINISHED, -1), { attempt: 2 });
      return log.set(log.at(givenUp, STARTED, -1), { attempt: 2 });
    },
  },
  {
    name: 'a lease of ten minutes',
    rule: 'attempt_lease',
    plant(log, { givenUp }) {
      const started = log.at(givenUp, STARTED, 0);
      return log.set(started, { leaseUntil: plus(text(started, 'startedAt'), 10 * MINUTE) });
    },
  },
  {
    name: 'two attempts at once',
    rule: 'attempt_one_at_a_time',
    plant: (log, { givenUp }) => log.repeat(log.at(givenUp, STARTED, 0)),
  },
  {
    name: 'an outcome of another key',
    rule: 'attempt_outcome',
    plant: (log, { givenUp }) => log.set(log.at(givenUp, FINISHED, 0), { keyId: 'another' }),
  },
  {
    name: 'an outcome without an attempt',
    rule: 'attempt_outcome',
    plant(log, { delivered }) {
      log.drop(log.at(delivered, STARTED));
      return log.at(delivered, FINISHED);
    },
  },
  {
    name: 'an outcome before its attempt',
    rule: 'attempt_outcome',
    plant(log, { delivered }) {
      const finished = log.at(delivered, FINISHED);
      return log.set(finished, { finishedAt: plus(text(finished, 'startedAt'), -1) });
    },
  },
  {
    name: 'an error response that counts as acknowledged',
    rule: 'attempt_result',
    plant: (log, { delivered }) => log.set(log.at(delivered, FINISHED), { responseCode: 500 }),
  },
  {
    name: 'a success that counts as a failure',
    rule: 'attempt_result',
    plant: (log, { givenUp }) => log.set(log.at(givenUp, FINISHED, 0), { responseCode: 204 }),
  },
  ...[{ responseCode: 404 }, { responseCode: null }, { failureClass: 'timeout' }].map(
    (data): PlantedBreach => ({
      name: `a failure with ${JSON.stringify(data)} that is none of its class`,
      rule: 'attempt_result',
      plant: (log, { givenUp }) => log.set(log.at(givenUp, FINISHED, 0), data),
    }),
  ),
  {
    name: 'a failure without a class',
    rule: 'attempt_result',
    plant: (log, { givenUp }) => log.set(log.at(givenUp, FINISHED, 0), { failureClass: null }),
  },
  {
    name: 'a fourth repeat of an interrupted attempt',
    rule: 'attempt_repeats',
    plant(log, { interrupted }) {
      const fourth = log.at(interrupted, FINISHED, 3);
      log.set(log.at(interrupted, STARTED, 4), { attempt: 1 });
      log.set(log.at(interrupted, FINISHED, 4), { attempt: 1 });
      return log.set(fourth, { outcome: 'interrupted', nextAttemptAt: text(fourth, 'finishedAt') });
    },
  },
  {
    name: 'a wait shorter than the table',
    rule: 'attempt_schedule',
    plant(log, { givenUp }) {
      const finished = log.at(givenUp, FINISHED, 0);
      return log.set(finished, { nextAttemptAt: plus(text(finished, 'nextAttemptAt'), -MINUTE) });
    },
  },
  {
    name: 'a wait longer than the table that no receiver asked for',
    rule: 'attempt_schedule',
    plant: (log, { givenUp }) => log.set(log.at(givenUp, FINISHED, 1), { retryAfterSeconds: null }),
  },
  {
    name: 'a longer wait that does not say whether the receiver asked for it',
    rule: 'attempt_schedule',
    plant(log, { givenUp }) {
      const finished = log.at(givenUp, FINISHED, 1);
      delete finished.data.retryAfterSeconds;
      return finished;
    },
  },
  {
    name: 'an outcome of the version without retryAfterSeconds',
    rule: 'schema_of_its_time',
    plant: (log, { givenUp }) => log.downgrade(log.at(givenUp, FINISHED, 1), 'retryAfterSeconds'),
  },
  {
    name: 'a callback that expires before it is sent',
    rule: 'content_kept',
    plant(log, { delivered }) {
      const scheduled = log.at(delivered, 'DeliveryScheduled');
      return log.set(scheduled, { keepUntil: text(scheduled, 'createdAt') });
    },
  },
  {
    name: 'a further attempt planned after the seventh',
    rule: 'attempt_schedule',
    plant(log, { givenUp }) {
      const finished = log.at(givenUp, FINISHED, 6);
      return log.set(finished, { nextAttemptAt: plus(text(finished, 'finishedAt'), 2000 * MINUTE) });
    },
  },
  {
    name: 'a redelivery of another origin',
    rule: 'redelivery_as_requested',
    plant: (log, { givenUp }) =>
      log.set(log.at(givenUp, 'DeliveryRedeliveryRequested'), { origin: 'https://elsewhere.example' }),
  },
  {
    name: 'a wait that is restarted though no clock was set back',
    rule: 'reschedule_by_clock',
    plant(log, { givenUp }) {
      const finished = log.at(givenUp, FINISHED, 0);
      const dueAt = text(finished, 'nextAttemptAt');
      const rescheduledAt = text(finished, 'finishedAt');
      return log.insert(finished, {
        type: 'DeliveryRescheduled',
        data: { awaits: 'attempt', attempt: 2, redelivery: false, formerlyDueAt: dueAt, rescheduledAt, dueAt },
        metadata: { ...finished.metadata, schemaVersion: 1 },
      });
    },
  },
  {
    name: 'an attempt while its host is paused',
    rule: 'attempt_not_paused',
    plant(log, { givenUp, pausedHost }) {
      const origin = text(log.at(givenUp, 'DeliveryScheduled'), 'origin');
      const paused = log.at(pausedHost, 'HostPaused');
      const act = { stream: operatorStream(hostSubject(origin)), data: { ...paused.data, origin } };
      const attempt = log.at(givenUp, STARTED, 6);
      const before = log.at(givenUp, FINISHED, 5);
      log.insert(before, { ...act, metadata: { ...paused.metadata, recordedAt: before.metadata.recordedAt } }, paused);
      const { recordedAt } = attempt.metadata;
      const resumed = log.at(pausedHost, 'HostResumed');
      log.insert(attempt, { ...act, metadata: { ...resumed.metadata, recordedAt } }, resumed);
      return attempt;
    },
  },
  {
    name: 'an attempt that is overdue though its host was not paused',
    rule: 'attempt_in_time',
    plant(log, { waiting, pausedHost }) {
      log.drop(log.at(pausedHost, 'HostPaused', 1));
      return waiting;
    },
  },
  {
    name: 'a host that is paused twice',
    rule: 'operator_act_follows',
    plant: (log, { pausedHost }) => log.repeat(log.at(pausedHost, 'HostPaused', 1)),
  },
  {
    name: 'a host that is paused in the stream of another',
    rule: 'operator_act_follows',
    plant(log, { pausedHost }) {
      const paused = log.repeat(log.at(pausedHost, 'HostPaused', 1));
      return log.set(paused, { origin: 'https://elsewhere.example' });
    },
  },
  {
    name: 'a wallet that is unbanned twice',
    rule: 'operator_act_follows',
    plant: (log, { unbanned }) => log.repeat(log.at(unbanned, 'WalletUnbanned')),
  },
  {
    name: 'a payment of a banned wallet',
    rule: 'banned_wallet_buys_nothing',
    plant(log, { toNewReceiver, unbanned }) {
      const authorized = log.at(toNewReceiver, 'PaymentAuthorized');
      const wallet = text(authorized, 'wallet');
      const act = { stream: operatorStream(walletSubject(wallet)) };
      const banned = log.insert(log.at(unbanned, 'WalletUnbanned'), act, log.at(unbanned, 'WalletBanned'));
      log.set(banned, { wallet });
      return authorized;
    },
  },
  {
    name: 'a delivery that is ended twice',
    rule: 'cancelled_while_open',
    plant: (log, { cancelled }) => log.repeat(log.at(cancelled, CANCELLED)),
  },
  {
    name: 'a delivery that is ended for another host',
    rule: 'cancelled_while_open',
    plant: (log, { cancelled }) => log.set(log.at(cancelled, CANCELLED), { origin: 'https://elsewhere.example' }),
  },
  {
    name: 'a delivery that is ended during an attempt',
    rule: 'cancelled_while_open',
    plant(log, { cancelled }) {
      log.drop(log.at(cancelled, FINISHED));
      return log.at(cancelled, CANCELLED);
    },
  },
  {
    name: 'an attempt after the end of a delivery',
    rule: 'attempt_at_most_seven',
    plant(log, { cancelled }) {
      const started = log.insert(log.at(cancelled, CANCELLED), {}, log.at(cancelled, STARTED));
      return log.set(started, { attempt: 2 });
    },
  },
  {
    name: 'a delivery that is ended without a reason',
    rule: 'operator_named',
    plant: (log, { cancelled }) => log.set(log.at(cancelled, CANCELLED), { reason: ' ' }),
  },
  {
    name: 'a requested redelivery that is never made',
    rule: 'attempt_in_time',
    plant(log, { givenUp }) {
      log.drop(log.at(givenUp, STARTED, -1), log.at(givenUp, FINISHED, -1));
      return givenUp;
    },
  },
  {
    name: 'a requested redelivery that is made a day too late',
    rule: 'attempt_in_time',
    plant(log, { givenUp }) {
      const at = log.last().metadata.recordedAt;
      const times = { startedAt: at, leaseUntil: plus(at, MINUTE), finishedAt: at };
      for (const type of [STARTED, FINISHED]) log.moveToEnd(log.at(givenUp, type, -1), times);
      return log.at(givenUp, STARTED, -1);
    },
  },
  {
    name: 'an overdue delivery that is ended, so that nothing is due',
    rule: 'attempt_in_time',
    plant(log, { givenUp, cancelled }) {
      log.drop(log.at(givenUp, STARTED, -1), log.at(givenUp, FINISHED, -1));
      const { wallet = '', origin = '' } = log.at(givenUp, 'DeliveryScheduled').data;
      const last = log.last();
      const { recordedAt } = last.metadata;
      const like = log.at(cancelled, CANCELLED);
      const end = log.insert(last, { stream: givenUp, metadata: { ...like.metadata, recordedAt } }, like);
      return log.set(end, { wallet, origin, cancelledAt: recordedAt });
    },
  },
  {
    name: 'an overdue delivery that is excused by a pause of an earlier date',
    rule: 'attempt_in_time',
    plant(log, { givenUp, pausedHost }) {
      log.drop(log.at(givenUp, STARTED, -1), log.at(givenUp, FINISHED, -1));
      const { origin = '' } = log.at(givenUp, 'DeliveryScheduled').data;
      const { recordedAt } = log.at(givenUp, 'DeliveryRedeliveryRequested').metadata;
      const like = log.at(pausedHost, 'HostPaused');
      const stream = operatorStream(hostSubject(String(origin)));
      const last = log.last();
      const paused = log.insert(last, { stream, metadata: { ...like.metadata, recordedAt } }, like);
      log.set(paused, { origin });
      log.insert(paused, {}, last);
      log.drop(last);
      return givenUp;
    },
  },
  {
    name: 'an attempt that never gets an outcome',
    rule: 'attempt_in_time',
    plant(log, { delivered }) {
      log.drop(log.at(delivered, FINISHED));
      return delivered;
    },
  },
  {
    name: 'an attempt signed with a key that the wallet never had',
    rule: 'attempt_key_valid',
    plant(log, { delivered }) {
      log.set(log.at(delivered, FINISHED), { keyId: 'another' });
      return log.set(log.at(delivered, STARTED), { keyId: 'another' });
    },
  },
  {
    name: 'an attempt signed with a key that ended long before',
    rule: 'attempt_key_valid',
    plant(log, { givenUp, wallet }) {
      const { keyId = '' } = log.at(wallet, 'SigningKeyCreated').data;
      log.set(log.at(givenUp, FINISHED, 6), { keyId });
      return log.set(log.at(givenUp, STARTED, 6), { keyId });
    },
  },
  {
    name: 'a replaced key that stays valid for an hour',
    rule: 'key_window',
    plant(log, { wallet }) {
      const rotated = log.at(wallet, 'SigningKeyRotated');
      return log.set(rotated, { previousValidUntil: plus(text(rotated, 'createdAt'), 60 * MINUTE) });
    },
  },
  {
    name: 'a rotation of another key than the current one',
    rule: 'key_order',
    plant: (log, { wallet }) => log.set(log.at(wallet, 'SigningKeyRotated'), { previousKeyId: 'another' }),
  },
  {
    name: 'a second first key',
    rule: 'key_order',
    plant: (log, { bob }) => log.set(log.repeat(log.at(bob, 'SigningKeyCreated')), { keyId: 'another' }),
  },
  {
    name: 'a key id that is used twice',
    rule: 'key_unique',
    plant(log, { wallet }) {
      const rotated = log.at(wallet, 'SigningKeyRotated');
      return log.set(log.repeat(rotated, log.at(wallet, 'SignInProved')), { previousKeyId: rotated.data.keyId ?? '' });
    },
  },
  {
    name: 'a rotation that nobody paid for',
    rule: 'key_paid',
    plant(log, { wallet }) {
      const rotated = log.at(wallet, 'SigningKeyRotated');
      const last = log.events.at(-1) ?? rotated;
      return log.set(log.repeat(rotated, last), { keyId: 'unpaid', previousKeyId: rotated.data.keyId ?? '' });
    },
  },
  {
    name: 'a paid rotation without a key',
    rule: 'key_call_done',
    plant(log, { bob, bobsKey }) {
      log.dropStream(bob);
      return log.at(bobsKey, 'PaymentSettled');
    },
  },
  {
    name: 'a paid rotation that makes its key a day too late',
    rule: 'key_call_done',
    plant(log, { bob }) {
      const [made, ...others] = log.events.filter(({ stream }) => stream === bob);
      if (!made || others.length > 0) throw new Error('one key was made');
      return log.moveToEnd(made, { createdAt: log.last().metadata.recordedAt });
    },
  },
  {
    name: 'a proof that is accepted twice',
    rule: 'proof_used_once',
    plant: (log, { wallet }) => log.repeat(log.at(wallet, 'SignInProved')),
  },
  {
    name: 'a key of a master key that was never introduced',
    rule: 'master_key_introduced',
    plant: (log, { wallet }) => log.set(log.at(wallet, 'SigningKeyRotated'), { masterVersion: 9 }),
  },
  {
    name: 'a version of the master key that is introduced twice',
    rule: 'master_key_unique',
    plant: (log) => log.repeat(log.at('operator-master-key', 'MasterKeyIntroduced')),
  },
];
