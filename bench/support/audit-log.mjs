/**
 * Writes a log as a busy service leaves it, for measuring `docket audit verify`: payments with valid transactions,
 * callbacks, dockets, keys and signed heads, each event with its real id and hash, in large transactions. Answers are
 * past their time, so only dockets have stored content.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import bs58 from 'bs58';
import {
  DeliveryAttemptFinished,
  DeliveryAttemptStarted,
  DeliveryScheduled,
  deliveryStream,
} from '../../dist/events/delivery.js';
import { BaselineCompleted, DocketOpened, FilingsRecorded } from '../../dist/events/docket.js';
import { LOG_HEAD_STREAM, LogHeadKeyIntroduced, LogHeadRecorded } from '../../dist/events/log-head.js';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../dist/events/log-identity.js';
import { headKeyOf } from '../../dist/events/log-note.js';
import { LogTree, leafOf } from '../../dist/events/log-tree.js';
import {
  PaymentAuthorized,
  PaymentFinalized,
  PaymentSettled,
  PaymentSubmitted,
  paymentStream,
  QueryAnswered,
} from '../../dist/events/payment.js';
import {
  MASTER_KEY_STREAM,
  MasterKeyIntroduced,
  SigningKeyCreated,
  walletStream,
} from '../../dist/events/signing-key.js';
import { toInstant } from '../../dist/runtime/instant.js';
import { NO_STREAM } from '../../dist/storage/event-log.js';
import { sealPayload } from '../../dist/storage/payload-blob.js';
import { headAfter, prepareAppend } from '../../dist/storage/prepare-append.js';
import { Database } from '../../dist/storage/sqlite/driver.js';
import { openSqliteLog } from '../../dist/storage/sqlite/open.js';
import { DIALECTS, newKeypairBytes, newWallet } from './payments.mjs';

const WALLETS = 200;
/** A head each simulated minute. */
const EVENTS_OF_A_MINUTE = 2_000;
const EVENTS_OF_A_TRANSACTION = 20_000;
const PRICE = 990_000;
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const START = Date.parse('2026-01-01T00:00:00Z') * 1000;
const MICROS_BETWEEN_APPENDS = 30_000;
const DAY = 86_400_000_000;
const hex = (bytes) => randomBytes(bytes).toString('hex');
const newBlob = () => hex(32);

/**
 * @param directory gets `log.sqlite`
 * @param events at least so many
 * @returns how many there are
 */
export async function writeAuditLog(directory, events, progress = () => {}) {
  const path = join(directory, 'log.sqlite');
  const { log, payloads, cells } = openSqliteLog(path);
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  const writer = new Writer(path);
  const payTo = newKeypairBytes().address;
  writer.found(payTo);
  const wallets = Array.from({ length: WALLETS }, () => template(newWallet(MINT), payTo));
  for (const { wallet } of wallets) writer.makeKey(wallet.address);
  let dockets = 0;
  /** What follows some appends later, as it does when many calls are under way at once. */
  const later = [];
  while (writer.count < events) {
    const n = writer.appends;
    if (n % 40 === 0) await writer.docket(dockets++);
    const buyer = wallets[n % wallets.length];
    later.push(...writer.pay(buyer, payTo, n % 3 === 0));
    while (later.length > 60) later.shift()();
    writer.headIfDue();
    if (n % 50_000 === 0) progress(`${writer.count.toLocaleString('en-US')} events written`);
  }
  for (const next of later) next();
  writer.head();
  writer.close();
  return writer.count;
}

/** A signed payment whose memo is changed for each use: `wire_signed` would not hold, all other rules do. */
function template(wallet, payTo) {
  const terms = { network: 'solana:local', asset: MINT, payTo, maxAmountRequired: String(PRICE), extra: {} };
  const headers = new Headers({ 'x-payment-requirements': JSON.stringify(terms) });
  const wire = Buffer.from(DIALECTS['self-paid'].read(headers).sign(wallet, MINT), 'base64');
  return { wallet: { ...wallet, keyId: `key_${hex(8)}` }, wire, memoAt: wire.length - 1 - 32 };
}

class Writer {
  count = 0;
  appends = 0;
  #database;
  #insert;
  #insertPayload;
  #tree = new LogTree();
  #heads = new Map();
  #key = headKeyOf(randomBytes(32));
  #logId = randomUUID();
  #last = null;
  #headAt = EVENTS_OF_A_MINUTE;
  #uncommitted = 0;

  constructor(path) {
    this.#database = new Database(path);
    this.#database.pragma('synchronous = OFF');
    this.#insert = this.#database.prepare(
      'INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#insertPayload = this.#database.prepare(
      "INSERT INTO payloads (name, kind, stored_at, bytes) VALUES (?, 'docket', ?, ?)",
    );
    this.#database.exec('BEGIN');
  }

  get #now() {
    return this.#after(0);
  }

  #after(micros) {
    return toInstant(START + this.appends * MICROS_BETWEEN_APPENDS + micros);
  }

  #append(stream, head, events, actor, id) {
    const context = { commandId: id, requestId: id, correlationId: id, causationId: null, actor };
    const append = prepareAppend({ stream, head, events, context, recordedAt: this.#now });
    for (const event of append.events) {
      const { type, revision, id: eventId, metadata, data } = event;
      this.#insert.run(type, stream, revision, eventId, JSON.stringify(metadata), JSON.stringify(data));
      this.#tree.add(leafOf({ stream, revision, hash: metadata.hash }));
      this.#last = { stream, revision };
    }
    this.count += append.events.length;
    this.appends++;
    this.#uncommitted += append.events.length;
    if (this.#uncommitted >= EVENTS_OF_A_TRANSACTION) {
      this.#database.exec('COMMIT; BEGIN');
      this.#uncommitted = 0;
    }
    return headAfter(append);
  }

  #continue(stream, events, actor) {
    const head = this.#append(stream, this.#heads.get(stream) ?? NO_STREAM, events, actor, randomUUID());
    this.#heads.set(stream, head);
  }

  found(receiver) {
    const founded = {
      logId: this.#logId,
      network: 'solana:local',
      genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      mint: MINT,
      receiver,
      version: '2.0.1',
    };
    this.#continue(LOG_IDENTITY_STREAM, [LogFounded.of(founded)], 'service');
    const introduced = { masterVersion: 1, fingerprint: hex(16), by: 'service', reason: 'the first start' };
    this.#continue(MASTER_KEY_STREAM, [MasterKeyIntroduced.of(introduced)], 'service');
  }

  makeKey(wallet) {
    const key = { keyId: `key_${wallet}`, masterVersion: 1, createdAt: this.#now };
    this.#continue(walletStream(wallet), [SigningKeyCreated.of(key)], 'http');
  }

  /** Claims a payment. @returns what follows: settlement and finality, and the callback if there is one */
  pay({ wallet: { address: wallet }, wire: template, memoAt }, payTo, withCallback) {
    const wire = Buffer.from(template);
    wire.write(hex(16), memoAt, 'latin1');
    const message = wire.subarray(65);
    const payment = createHash('sha256').update(message).digest('hex');
    const stream = paymentStream(payment);
    randomBytes(64).copy(wire, 1);
    const transaction = bs58.encode(wire.subarray(1, 65));
    const requestId = randomUUID();
    const amount = String(PRICE);
    const deliveryId = randomUUID();
    const target = newBlob();
    const origin = 'https://receiver.example:443';
    const callbacks = withCallback ? [{ deliveryId, target, origin, result: null }] : [];
    const claimed = this.#append(
      stream,
      NO_STREAM,
      [
        PaymentAuthorized.of({
          requestId,
          wallet,
          dialect: 'self-paid',
          network: 'solana:local',
          mint: MINT,
          payTo,
          amount,
          queries: 1,
          endpoint: 'GET /v2/case',
          requestHash: hex(32),
          identifierHash: null,
        }),
        QueryAnswered.of({
          requestId,
          answer: newBlob(),
          keepUntil: this.#after(30 * DAY),
          answeredCases: 1,
          resultKey: 1,
          keyCall: null,
          callbacks,
        }),
        PaymentSubmitted.of({ transaction, wire: wire.toString('base64'), lastValidBlockHeight: 1000 }),
      ],
      'http',
      requestId,
    );
    const owes = withCallback ? { deliveries: [deliveryId], keyCall: null } : null;
    let settled;
    const follows = [
      () => {
        const data = { transaction, slot: 7, requestId, wallet, amount, answeredCases: 1, owes };
        settled = this.#append(stream, claimed, [PaymentSettled.of(data)], 'http', requestId);
      },
    ];
    if (withCallback) follows.push(() => this.#deliver({ deliveryId, wallet, requestId, payment, target, origin }));
    follows.push(() =>
      this.#append(stream, settled, [PaymentFinalized.of({ transaction, slot: 7 })], 'recovery', randomUUID()),
    );
    return follows;
  }

  #deliver({ deliveryId, wallet, requestId, payment, target, origin }) {
    const stream = deliveryStream(deliveryId);
    const at = this.#now;
    const scheduled = {
      deliveryId,
      wallet,
      requestId,
      payment,
      caseId: '3:25-cv-04417',
      courtCode: 'cand',
      caseNumber: '3:25-cv-04417',
      target,
      origin,
      envelope: newBlob(),
      keepUntil: this.#after(40 * DAY),
      createdAt: at,
    };
    const first = this.#append(stream, NO_STREAM, [DeliveryScheduled.of(scheduled)], 'deliveries', randomUUID());
    const startedAt = this.#now;
    const attempt = { attempt: 1, redelivery: false, keyId: `key_${wallet}`, startedAt };
    const leaseUntil = toInstant(Date.parse(startedAt) * 1000 + 60_000_000 + Number(startedAt.slice(23, 26)));
    const started = DeliveryAttemptStarted.of({ ...attempt, leaseUntil, owner: 'node-1' });
    const second = this.#append(stream, first, [started], 'deliveries', randomUUID());
    const finished = DeliveryAttemptFinished.of({
      ...attempt,
      finishedAt: this.#now,
      outcome: 'acknowledged',
      responseCode: 200,
      failureClass: null,
      retryAfterSeconds: null,
      durationMs: 41,
      nextAttemptAt: null,
    });
    this.#append(stream, second, [finished], 'deliveries', randomUUID());
  }

  async docket(n) {
    const number = `3:25-cv-${String(n % 100_000).padStart(5, '0')}-${Math.floor(n / 100_000)}`;
    const stream = `docket-cand-${number}`;
    const { name, bytes } = await sealPayload(Buffer.from(`the texts of ${number}: ${hex(400)}`));
    this.#insertPayload.run(name, this.#now, bytes);
    const askedAt = this.#now;
    const filings = Array.from({ length: 10 }, (_, index) => ({
      filingId: randomUUID(),
      entryNumber: index + 1,
      dateFiled: '2025-05-23',
      dateEntered: '2025-05-23',
      enteredAt: null,
      filedAt: null,
      filingType: 'notice',
      filingTypes: ['notice'],
      sealed: false,
      availableAt: toInstant(START - 1_000_000 + n * 20 + index),
      backfilled: true,
    }));
    const events = [
      DocketOpened.of({ court: 'cand', caseNumber: number }),
      FilingsRecorded.of({ askedAt, content: name, masking: 3, baseline: true, filings }),
      BaselineCompleted.of({ askedAt, filingCount: filings.length }),
    ];
    this.#append(stream, NO_STREAM, events, 'import', randomUUID());
  }

  headIfDue() {
    if (this.count < this.#headAt) return;
    this.#headAt = this.count + EVENTS_OF_A_MINUTE;
    this.head();
  }

  head() {
    const claim = { size: this.#tree.size, root: this.#tree.root().toString('hex') };
    const introduced = LogHeadKeyIntroduced.of({ masterVersion: 1, publicKey: this.#key.publicKey });
    const recorded = LogHeadRecorded.of({
      ...claim,
      peaks: this.#tree.peaks.map((peak) => peak.toString('hex')),
      last: this.#last,
      masterVersion: 1,
      signature: this.#key.signHead(claim, this.#logId),
    });
    const isFirst = !this.#heads.has(LOG_HEAD_STREAM);
    this.#continue(LOG_HEAD_STREAM, isFirst ? [introduced, recorded] : [recorded], 'log-heads');
  }

  close() {
    this.#database.exec('COMMIT');
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.close();
  }
}
