/**
 * The life of one payment and of the one request that it pays for (docs/design/payments.md#settlement-states). A
 * payment's stream is named after the SHA-256 of its transaction's message, so that no re-encoding of the transaction
 * makes a second payment of it.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event, type JsonObject } from './event.ts';

/** Base units of the token, as a decimal string: no floating point touches money. */
export const BaseUnits = z.string().regex(/^(0|[1-9]\d*)$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);
const RequestId = z.uuid();

export const PaymentDialect = z.enum(['x402-v2', 'x402-v1', 'self-paid']);
export type PaymentDialect = z.infer<typeof PaymentDialect>;

/** A caller presented a sound payment for one request. Nothing has moved yet. */
export const PaymentAuthorized = event(
  'PaymentAuthorized',
  1,
  z.strictObject({
    requestId: RequestId,
    wallet: z.string(),
    dialect: PaymentDialect,
    network: z.string(),
    mint: z.string(),
    payTo: z.string(),
    amount: BaseUnits,
    /** Method and path, e.g. `GET /v2/case`. */
    endpoint: z.string(),
    /** SHA-256 of the canonical request: what a payment identifier stands for. */
    requestHash: Sha256,
    /** SHA-256 of the wallet and its payment identifier, which is the caller's secret: names the identifier's stream. */
    identifierHash: Sha256.nullable(),
  }),
);

/** What a paid call on a wallet's signing keys does once it is settled, and the id of the key that it makes, if it makes one. */
const KeyCall = z.strictObject({
  does: z.enum(['show', 'rotate']),
  keyId: z.string(),
  /** The rotation demands a proof of the wallet from then on. Absent: it changes nothing about that. */
  requireSignIn: z.literal(true).optional(),
});
export type KeyCall = z.infer<typeof KeyCall>;

/** The query has its answer, and with it everything that must happen once the payment is settled. */
export const QueryAnswered = event(
  'QueryAnswered',
  2,
  z.strictObject({
    requestId: RequestId,
    /** The answer's bytes in the payload store; null for calls that are composed after settlement. */
    answer: Sha256.nullable(),
    /** Until when the answer is kept; past it, its absence needs no record. */
    keepUntil: Instant,
    /** How many cases were answered: what the call counts against the wallet's day. */
    answeredCases: z.int().nonnegative(),
    /** Version of the master key that the secret id of the result is derived from; absent: it is read by `requestId`. */
    resultKey: z.int().positive().optional(),
    keyCall: KeyCall.nullable(),
    callbacks: z.array(
      z.strictObject({
        /** Names the delivery's stream, and is its Idempotency-Key. */
        deliveryId: z.uuid(),
        /** The URL's bytes in the payload store. */
        target: Sha256,
        /** Scheme, host and port of the URL; `unusable` where it has none. */
        origin: z.string(),
        /** Which result of a batch is pushed, from 0; null: the whole answer. */
        result: z.int().nonnegative().nullable(),
      }),
    ),
  }),
  // Version 1 was written before there were key calls and callbacks: it never names one.
  { 1: ({ reservedKeyId: _, ...data }) => ({ ...data, keyCall: null }) },
);

/** The query could not be answered, so its payment is never broadcast. */
export const QueryFailed = event(
  'QueryFailed',
  1,
  z.strictObject({ requestId: RequestId, code: z.string(), status: z.int() }),
);

/** Recorded before the first broadcast: from here on the payment may move. */
export const PaymentSubmitted = event(
  'PaymentSubmitted',
  1,
  z.strictObject({
    /** The transaction's first signature. */
    transaction: Signature,
    /** The fully signed bytes, base64: recovery sends exactly these again. */
    wire: z.base64(),
    /** The transaction is dead once the finalized height is past this one. */
    lastValidBlockHeight: z.int().nonnegative(),
  }),
);

const Landed = z.strictObject({ transaction: Signature, slot: z.int().nonnegative() });

/** What a landed transfer paid for. Outcomes carry it, so that a reader of them alone can keep a wallet's account. */
const Charge = z.strictObject({
  ...Landed.shape,
  requestId: RequestId,
  wallet: z.string(),
  amount: BaseUnits,
  answeredCases: z.int().nonnegative(),
});

const Settlement = z.strictObject({
  ...Charge.shape,
  /** What must follow beside the answer, so that nobody has to look up each payment for it; null for most. */
  owes: z.strictObject({ deliveries: z.array(z.uuid()), keyCall: KeyCall.nullable() }).nullable(),
});
const owesNothing = { 1: (data: JsonObject) => ({ ...data, owes: null }) };

/** The transfer is confirmed: the money moved, the answer is owed. */
export const PaymentSettled = event('PaymentSettled', 2, Settlement, owesNothing);

/** A transfer landed after it had been given up for dead. Money taken is always answered. */
export const PaymentSettledLate = event('PaymentSettledLate', 2, Settlement, owesNothing);

/** The transfer certainly did not happen: it failed on chain, or expired unseen. */
export const PaymentFailed = event(
  'PaymentFailed',
  1,
  z.strictObject({
    transaction: Signature,
    requestId: RequestId,
    wallet: z.string(),
    reason: z.enum(['on_chain_error', 'expired']),
    /** The chain's own word for an error on chain, as JSON. */
    detail: z.string().nullable(),
  }),
);

/** The cluster dropped a block that held a confirmed transfer. */
export const PaymentRolledBack = event(
  'PaymentRolledBack',
  1,
  z.strictObject({ ...Charge.shape, reason: z.enum(['not_on_the_finalized_chain', 'failed_on_the_finalized_chain']) }),
);

/** The finality of a settled transfer was seen; recovery need not look at it again. */
export const PaymentFinalized = event('PaymentFinalized', 1, Landed);

/** Nothing was broadcast, and the same payment may be presented again. */
export const PaymentReleased = event(
  'PaymentReleased',
  1,
  z.strictObject({ reason: z.enum(['query_failed', 'claim_taken_over', 'not_submitted']) }),
);

/** An answer that is given once (a rotation's secret) was given. */
export const ResultHandedOut = event('ResultHandedOut', 1, z.strictObject({ requestId: RequestId }));

/** A caller's payment identifier stands for this payment and this request. */
export const PaymentIdClaimed = event(
  'PaymentIdClaimed',
  1,
  z.strictObject({
    /** Message hash of the payment: the name of its stream. */
    payment: Sha256,
    requestId: RequestId,
    requestHash: Sha256,
    /**
     * The revision of the payment's stream that its submission will expect. Once the stream is past it without having
     * been submitted for this identifier, that submission can never be recorded, and the claim has ended.
     */
    expected: z.int().min(-1),
  }),
);

/** What a payment's own stream holds. */
export const PAYMENT_STREAM_EVENTS = [
  PaymentAuthorized,
  QueryAnswered,
  QueryFailed,
  PaymentSubmitted,
  PaymentSettled,
  PaymentSettledLate,
  PaymentFailed,
  PaymentRolledBack,
  PaymentFinalized,
  PaymentReleased,
  ResultHandedOut,
] as const;

export type PaymentEvent = EventOf<(typeof PAYMENT_STREAM_EVENTS)[number]>;
export type PaymentIdentifierEvent = EventOf<typeof PaymentIdClaimed>;

export const PAYMENT_EVENTS = [...PAYMENT_STREAM_EVENTS, PaymentIdClaimed] as const;

const PAYMENT_STREAM = /^payment-([0-9a-f]{64})$/;

/** Stream of the payment whose transaction message has this SHA-256. */
export const paymentStream = (messageHash: string): string => `payment-${messageHash}`;

/** The message hash that a payment's stream is named after; null for any other stream. */
export const paymentOf = (stream: string): string | null => PAYMENT_STREAM.exec(stream)?.[1] ?? null;

export const paymentIdentifierStream = (hash: string): string => `payment-id-${hash}`;
