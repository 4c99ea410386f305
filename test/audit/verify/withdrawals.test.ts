/**
 * Given a callback that ended for withdrawn content, or was scheduled without any, when the log is verified, then it is in
 * breach unless that content was removed by record before, its time was over, or the callback had arrived already.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentRedacted, contentStream } from '../../../src/events/content.ts';
import { DeliveryScheduled, deliveryStream } from '../../../src/events/delivery.ts';
import { PaymentFailed, paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { plus, toMicros } from '../../../src/runtime/instant.ts';
import { acknowledged, facts, finished, seconds, started } from '../../commands/delivery/delivery.fixtures.ts';
import { answered, authorized, submitted } from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { openSampleLog, rehash, type SampleLog } from './sample-log.ts';

const ENVELOPE = 'e'.repeat(64);
const DAY = seconds(86_400);
const AT = toMicros(NOON);
const stream = deliveryStream(facts.deliveryId);
const kept = { createdAt: NOON, keepUntil: plus(NOON, 40 * DAY) };
const scheduled = DeliveryScheduled.of({ ...facts, ...kept, envelope: ENVELOPE });
const withdrawn = (attempt: number, redelivery = false) =>
  finished(attempt, AT, null, { failureClass: 'content_withdrawn', responseCode: null, redelivery });

let log: SampleLog;
beforeEach(async () => {
  log = await openSampleLog();
});
afterEach(() => log.remove());

const redact = (name: string) =>
  log.write(
    contentStream(name),
    ContentRedacted.of({
      name,
      replacement: null,
      stream,
      revision: 0,
      filingIds: [],
      reason: 'a court order',
      by: 'Ann',
    }),
  );
const breaches = async () =>
  (await log.verify({ content: false })).all
    .filter(({ rule }) => rule === 'withdrawn_by_record')
    .map((breach) => `${breach.stream} ${breach.revision}`);

describe('a callback that ends for withdrawn content', () => {
  it('is a breach without a record, and with one that came later', async () => {
    await log.write(stream, scheduled, started(1, AT), withdrawn(1));
    expect(await breaches()).toEqual([`${stream} 2`]);
    await redact(ENVELOPE);
    expect(await breaches()).toEqual([`${stream} 2`]);
  });

  it.each([
    ['envelope', ENVELOPE],
    ['URL', facts.target],
  ])('is none once its %s was removed by record', async (_what, name) => {
    await log.write(stream, scheduled);
    await redact(name);
    await log.write(stream, started(1, AT), withdrawn(1));
    expect(await breaches()).toEqual([]);
  });

  it('is none once its time was over, less a day for clocks that are set', async () => {
    await log.write(stream, scheduled);
    log.pass(39 * 86_400 + 60);
    await log.write(stream, started(1, AT), withdrawn(1));
    expect(await breaches()).toEqual([]);
  });

  it('is none if it had been acknowledged before', async () => {
    await log.write(stream, scheduled, started(1, AT), acknowledged(1, AT));
    await log.write(stream, started(1, AT, { redelivery: true }), withdrawn(1, true));
    expect(await breaches()).toEqual([]);
  });
});

describe('a callback that is scheduled without content', () => {
  const ANSWER = 'a'.repeat(64);
  const callback = { deliveryId: facts.deliveryId, target: facts.target, origin: facts.origin, result: null };
  const promised = QueryAnswered.of({ ...answered.data, answer: ANSWER, callbacks: [callback] });
  const empty = DeliveryScheduled.of({ ...facts, ...kept, envelope: null });
  const payment = paymentStream(facts.payment);

  it('is a breach without a record, once, and its end is none', async () => {
    await log.write(payment, authorized, promised, submitted);
    await log.write(stream, empty, started(1, AT), withdrawn(1));
    expect(await breaches()).toEqual([`${stream} 0`]);
  });

  it('is none once its answer or its URL was removed by record', async () => {
    await log.write(payment, authorized, promised, submitted);
    await redact(ANSWER);
    await log.write(stream, empty);
    expect(await breaches()).toEqual([]);
  });

  it('is none if an earlier version removed the answer of a failed payment, which landed late', async () => {
    const failed = PaymentFailed.of({
      requestId: authorized.data.requestId,
      wallet: authorized.data.wallet,
      transaction: submitted.data.transaction,
      reason: 'expired',
      detail: null,
    });
    await log.write(payment, authorized, promised, submitted, failed);
    await log.write(stream, empty);
    expect(await breaches()).toEqual([`${stream} 0`]);
    log.tamper((database) => {
      database.exec("UPDATE events SET metadata = json_remove(metadata, '$.commandId') WHERE type = 'PaymentFailed'");
      rehash(database, payment);
    });
    expect(await breaches()).toEqual([]);
  });
});
