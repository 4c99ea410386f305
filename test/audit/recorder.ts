/**
 * Records a log by the service's own commands and processes, on a clock that the test moves. Only the chain and the
 * receivers of callbacks are played: a transfer settles when the test says so, and a receiver answers what it says.
 */
import { hash, randomUUID } from 'node:crypto';
import { Keypair, type PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { pino } from 'pino';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import type { ReceivedOutcome } from '../../src/commands/delivery/delivery.ts';
import { delivery } from '../../src/commands/delivery/delivery.ts';
import { scheduleOwed } from '../../src/commands/delivery/owed.ts';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { withdrawText } from '../../src/commands/docket/withdraw-text.ts';
import { carryOut, giveOrder } from '../../src/commands/forget/forget.ts';
import { handleWithRetry, type Loaded, load, record } from '../../src/commands/handle.ts';
import { host } from '../../src/commands/host/host.ts';
import { logIdentity } from '../../src/commands/log-identity/log-identity.ts';
import { sealAnswer } from '../../src/commands/payment/answer.ts';
import { claimPayment } from '../../src/commands/payment/claim.ts';
import { type Payment, type PaymentCommand, type Purchase, payment } from '../../src/commands/payment/payment.ts';
import { priceOf } from '../../src/commands/purchase/price.ts';
import type { QueryAnswer } from '../../src/commands/purchase/query-run.ts';
import { introduceMasterKey } from '../../src/commands/signing-key/master-key.ts';
import { applyKeyCall } from '../../src/commands/signing-key/paid-call.ts';
import { proveCall } from '../../src/commands/signing-key/sign-in.ts';
import { ensureSigningKey } from '../../src/commands/signing-key/use.ts';
import { alert } from '../../src/commands/source/alert.ts';
import { source } from '../../src/commands/source/source.ts';
import { webhook } from '../../src/commands/source/webhook.ts';
import { walletBan } from '../../src/commands/wallet-ban/wallet-ban.ts';
import type { DocketSnapshot, SnapshotEntry } from '../../src/dockets/snapshot.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import type { ForgetSubject } from '../../src/events/forget.ts';
import { LOG_IDENTITY_STREAM } from '../../src/events/log-identity.ts';
import { hostSubject, operatorStream, walletSubject } from '../../src/events/operator.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { sourceStream } from '../../src/events/source.ts';
import { newMemos } from '../../src/http/x402/purpose.ts';
import { attendDelivery } from '../../src/processes/callbacks/attempt.ts';
import { createLogHeads } from '../../src/processes/log-heads.ts';
import { applyWebhook } from '../../src/processes/sources/apply-webhook.ts';
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { NETWORKS } from '../../src/solana/addresses.ts';
import { decodeTransaction } from '../../src/solana/verify-transaction-wire.ts';
import type { CommandContext } from '../../src/storage/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { court } from '../dockets/world.ts';
import { build, limit, memo, price, transfer } from '../solana/payment-transactions.ts';

export const START: Micros = toMicros('2026-06-01T12:00:00.000000Z');
export const SECOND: Micros = MICROS_PER_SECOND;
export const MINUTE: Micros = 60 * SECOND;
export const HOUR: Micros = 60 * MINUTE;
const logger = pino({ level: 'silent' });

export interface Order {
  readonly wallet: Keypair;
  readonly queries?: number;
  readonly endpoint?: string;
  /** The URLs of callbacks. */
  readonly callbacks?: readonly string[];
  readonly keyCall?: 'show' | 'rotate';
  /** Hash of a payment identifier. */
  readonly identifierHash?: string;
  /** The same transaction again. */
  readonly again?: Paid;
}

const CASE_CALL = { endpoint: 'GET /v2/case', word: 'case' } as const;
const KEY_CALLS = {
  show: { endpoint: 'GET /v2/wallet/keys', word: 'keys' },
  rotate: { endpoint: 'POST /v2/wallet/keys', word: 'rotate-key' },
} as const;

export interface Paid {
  readonly stream: string;
  readonly hash: string;
  readonly purchase: Purchase;
  readonly wire: Buffer;
}

export const acknowledged: ReceivedOutcome = {
  responseCode: 200,
  failureClass: null,
  retryAfterSeconds: null,
  durationMs: 12,
};
export const failing: ReceivedOutcome = { ...acknowledged, responseCode: 503, failureClass: 'http_5xx' };

export const interrupted: ReceivedOutcome = { ...acknowledged, responseCode: null, failureClass: 'interrupted' };

export const context = (actor = 'test'): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor };
};

export type Recorder = ReturnType<typeof openRecorder>;

export function openRecorder(directory: string) {
  let now = START;
  const clock = { now: () => now++ };
  const storage = openSqlite({ directory, clock });
  const ports = { ...storage, clock };
  const masterKeys = readMasterKeys(`1:${'5a'.repeat(32)}`);
  const feePayer = Keypair.generate();
  const receiver = Keypair.generate();
  let parties: { readonly feePayer: PublicKey; readonly payTo: PublicKey } = {
    feePayer: feePayer.publicKey,
    payTo: receiver.publicKey,
  };
  const { caip2: network, usdcMint: mint } = NETWORKS.local;
  const logId = randomUUID();
  const newIds = { newDeliveryId: randomUUID, newKeyId: randomUUID };

  function authorized({ wallet, queries = 1, identifierHash, again, ...order }: Order) {
    const called = order.keyCall === undefined ? CASE_CALL : KEY_CALLS[order.keyCall];
    const { endpoint = called.endpoint } = order;
    const word = endpoint.endsWith('batch') ? 'batch' : called.word;
    const wire =
      again?.wire ??
      build({
        instructions: [
          limit(),
          price(),
          transfer(parties, wallet.publicKey, { amount: priceOf(queries) }),
          memo(newMemos({ word, call: endpoint, publicUrl: 'https://docket.example', request: null }).short),
        ],
        payer: feePayer.publicKey,
        signers: [feePayer, wallet],
      });
    const decoded = decodeTransaction(wire);
    if ('fault' in decoded) throw new Error(decoded.fault);
    const authorization = {
      requestId: randomUUID(),
      wallet: wallet.publicKey.toBase58(),
      dialect: 'x402-v2' as const,
      network,
      mint,
      payTo: parties.payTo.toBase58(),
      amount: String(priceOf(queries)),
      queries,
      endpoint,
      requestHash: hash('sha256', endpoint),
      identifierHash: identifierHash ?? null,
    };
    const transaction = bs58.encode(decoded.signatures[0] ?? Buffer.alloc(0));
    return { wire, authorization, transaction, messageHash: hash('sha256', decoded.message) };
  }

  const requestContext = (requestId: string): CommandContext => ({
    commandId: requestId,
    requestId,
    correlationId: requestId,
    causationId: null,
    actor: 'http',
  });

  async function pay(order: Order): Promise<Paid> {
    const { wire, authorization, transaction, messageHash } = authorized(order);
    const { requestId, requestHash, identifierHash } = authorization;
    const answer: QueryAnswer =
      order.keyCall === undefined
        ? {
            body: Buffer.from(JSON.stringify({ case_id: '3:24-cv-1', court_code: 'CAND', nonce: randomUUID() })),
            answeredCases: order.queries ?? 1,
            callbacks: (order.callbacks ?? []).map((url) => ({ url, result: null })),
          }
        : { keyCall: order.keyCall, answeredCases: 1 };
    const sealed = await sealAnswer({ ...ports, ...newIds, resultIds: masterKeys }, requestId, answer);
    const stream = paymentStream(messageHash);
    const submission = { transaction, wire: wire.toString('base64'), lastValidBlockHeight: 150 };
    const purchase = { authorization, answer: sealed.recorded, submission };
    const claim = await claimPayment(
      ports,
      stream,
      (await load(storage.log, payment, stream)) as Loaded<Payment>,
      purchase,
      sealed.payloads,
      requestContext(requestId),
      identifierHash === null ? null : { hash: identifierHash, requestHash, payment: messageHash },
    );
    if (!('claimed' in claim)) throw new Error(`not claimed: ${JSON.stringify(claim)}`);
    return { stream, hash: messageHash, purchase, wire };
  }

  /** Whatever the chain shows. */
  const see = (paid: Pick<Paid, 'stream'>, command: PaymentCommand) =>
    handleWithRetry(ports, payment, paid.stream, command, context('payment-recovery'));

  return {
    clock,
    log: storage.log,
    storage,
    masterKeys,
    pay,
    see,
    pass(micros: Micros): void {
      now += micros;
    },
    async found(): Promise<void> {
      const named = { logId, network, genesisHash: 'local', mint, receiver: parties.payTo.toBase58(), version: '2' };
      await handleWithRetry(ports, logIdentity, LOG_IDENTITY_STREAM, { type: 'Found', ...named }, context('service'));
      const introduced = { masterVersion: 1, fingerprint: masterKeys.fingerprintOf(1), by: 'service', reason: 'start' };
      await introduceMasterKey(ports, introduced, context('service'));
    },
    async changeReceiver(): Promise<void> {
      const next = Keypair.generate().publicKey;
      const command = { type: 'ChangeReceiver', receiver: next.toBase58(), by: 'ada', reason: 'new wallet' } as const;
      await handleWithRetry(ports, logIdentity, LOG_IDENTITY_STREAM, command, context('cli'));
      parties = { ...parties, payTo: next };
    },
    /** Pays, and the transfer is confirmed and final; what it owes is scheduled or done. */
    async buy(order: Order): Promise<Paid> {
      const paid = await pay(order);
      now += SECOND;
      await see(paid, { type: 'Settle', slot: 77 });
      if (order.keyCall) {
        await applyKeyCall({ ...ports, masterKeys }, paid.purchase, context('after-settlement'));
        if (order.keyCall === 'rotate') await see(paid, { type: 'HandOut' });
      }
      if (order.callbacks) {
        const { wallet } = paid.purchase.authorization;
        await ensureSigningKey({ ...ports, ...newIds }, wallet, 1, context('after-settlement'));
        await scheduleOwed(ports, paid.hash, paid.purchase, context('after-settlement'));
      }
      now += 13 * SECOND;
      await see(paid, { type: 'Finalize', slot: 77 });
      return paid;
    },
    /** A query that fails, and is not charged. */
    async fail(order: Order): Promise<Paid> {
      const { wire, authorization, transaction, messageHash } = authorized(order);
      const stream = paymentStream(messageHash);
      await handleWithRetry(
        ports,
        payment,
        stream,
        { type: 'RecordFailedQuery', authorization, code: 'case_not_found', httpStatus: 404 },
        requestContext(authorization.requestId),
      );
      const submission = { transaction, wire: '', lastValidBlockHeight: 0 };
      return { stream, hash: messageHash, purchase: { authorization, submission } as unknown as Purchase, wire };
    },
    /** Attends a delivery as often as the receiver has answers, each time when it is due. */
    async attempt(deliveryId: string, answers: readonly ReceivedOutcome[]): Promise<void> {
      for (const answer of answers) {
        const attend = () =>
          attendDelivery(
            {
              ...ports,
              outbound: { post: async () => ({ ...answer, responseExcerpt: null, truncated: false }) },
              masterKeys,
              newKeyId: randomUUID,
              random: () => 0.5,
              owner: 'node-a',
              userAgent: 'test',
              logger,
            },
            deliveryId,
            new AbortController().signal,
          );
        const { next } = await attend();
        if (next !== null) now = Math.max(now, next);
      }
    },
    redeliver: (deliveryId: string) =>
      handleWithRetry(
        ports,
        delivery,
        deliveryStream(deliveryId),
        { type: 'RequestRedelivery', now: clock.now(), by: 'ada', reason: 'the receiver was down' },
        context('cli'),
      ),
    cancel: (deliveryId: string) =>
      handleWithRetry(
        ports,
        delivery,
        deliveryStream(deliveryId),
        { type: 'Cancel', now: clock.now(), by: 'ada', reason: 'its owner asked' },
        context('cli'),
      ),
    host: (type: 'Pause' | 'Resume', origin: string) =>
      handleWithRetry(
        ports,
        host,
        operatorStream(hostSubject(origin)),
        { type, origin, by: 'ada', reason: 'its owner asked' },
        context('cli'),
      ),
    ban: (type: 'Ban' | 'Unban', wallet: string) =>
      handleWithRetry(
        ports,
        walletBan,
        operatorStream(walletSubject(wallet)),
        { type, wallet, by: 'ada', reason: 'it probes the service' },
        context('cli'),
      ),
    source: (type: 'Pause' | 'Resume', court: string | null) =>
      handleWithRetry(
        ports,
        source,
        sourceStream.itself('courtlistener'),
        { type, source: 'courtlistener', court, by: 'ada', reason: 'it asked us to' },
        context('cli'),
      ),
    /** A message of a source, with content, which is applied. */
    async push(keyHash: string): Promise<string> {
      const stream = sourceStream.webhook('courtlistener', keyHash);
      const sealed = await storage.payloads.seal('pushed', Buffer.from('{"kind":"entries","entries":[]}'));
      const receivedAt = toInstant(now);
      const received = { source: 'courtlistener', keyHash, eventType: 1, receivedAt, content: sealed.name } as const;
      await record(ports, {
        decider: webhook,
        stream,
        command: { type: 'Receive', received, outcome: null },
        context: context('http'),
        payloads: [sealed],
      });
      now += SECOND;
      const [event] = await storage.log.read(stream);
      if (event) await applyWebhook({ ...ports, logger, newId: randomUUID, sleep: async () => {} }, event);
      return stream;
    },
    async alert(sourceCaseId: string): Promise<string> {
      const stream = sourceStream.alert('courtlistener', sourceCaseId);
      const of = { source: 'courtlistener', sourceCaseId, court: 'cand', caseNumber: '3:24-cv-01234' } as const;
      const subscription = { ...of, alertId: '9001', by: 'watched' };
      for (const command of [
        { type: 'Subscribe', subscription },
        { type: 'Renew', subscription },
        { type: 'End', alertId: null, why: 'no_longer_watched', by: 'watched' },
      ] as const) {
        await handleWithRetry(ports, alert, stream, command, context('source-alerts'));
      }
      return stream;
    },
    async prove(wallet: Keypair, paid: Paid): Promise<void> {
      const proof = { proof: hash('sha256', randomUUID()), validUntil: toInstant(now + 5 * MINUTE) };
      await proveCall(ports, { wallet: wallet.publicKey.toBase58(), payment: paid.hash, proof }, true, context('http'));
    },
    async ingest(entries: readonly SnapshotEntry[], caseNumber = '3:24-cv-01234'): Promise<string> {
      const snapshot: DocketSnapshot = {
        court: court('cand'),
        caseNumber,
        aliases: [],
        header: HEADER,
        parties: [],
        crossReferences: [],
        entries,
        complete: true,
        askedAt: toInstant(now),
        source: 'test',
      };
      const sleep = async () => undefined;
      const report = await ingestDocket(
        { ...ports, newId: randomUUID, sleep, waitUntilProjected: sleep },
        snapshot,
        context('cli'),
      );
      if ('refused' in report) throw new Error(report.refused);
      return report.stream;
    },
    withdraw: (stream: string, filingId: string) =>
      withdrawText(
        { ...ports, untilQueriesEnded: async () => undefined },
        { stream, filingId, by: 'ada', reason: 'order of the court' },
      ),
    async forget(subject: ForgetSubject): Promise<void> {
      const order = { forgetId: randomUUID(), subject, by: 'ada', reason: 'order of the court' };
      await giveOrder(ports, order);
      await carryOut({ ...ports, untilQueriesEnded: async () => undefined }, order);
    },
    recordHead: () =>
      createLogHeads({ ...ports, masterKeys, logId, logger, owner: 'node-a', steady: clock }).round(undefined, false),
    close: () => storage.close(),
  };
}

const HEADER: DocketSnapshot['header'] = {
  caseName: 'A v. B',
  caseNameSecondary: null,
  caseNameSecondaryLanguage: null,
  caseType: 'civil',
  natureOfProceeding: null,
  cause: null,
  assignedJudge: null,
  referredJudge: null,
  dateFiled: null,
  dateClosed: null,
};

/** An entry of a docket, entered that many minutes after the start. */
export function entry(number: number, description: string, enteredMinute: number): SnapshotEntry {
  const entered = toInstant(START + enteredMinute * MINUTE);
  return {
    entryNumber: number,
    dateFiled: entered.slice(0, 10),
    dateEntered: entered.slice(0, 10),
    filedAt: null,
    enteredAt: entered,
    description,
    shortDescription: `Entry ${number}`,
    filedBy: null,
    documentIdentifier: `03500000${1000 + number}`,
    documentIdentifierType: 'pacer_doc_id',
    sourceIds: { pacer_seq_no: String(2000 + number) },
    externalUrl: null,
    attachments: [],
    sealed: false,
  };
}
