/**
 * The life of one payment and of the one request that it pays for (docs/design/payments.md#settlement-states). A
 * payment's stream is named after the SHA-256 of its transaction's message, so that re-encoding the transaction does
 * not create a second payment.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event, type JsonObject } from './event.ts';

/** Base units of the token, as a decimal string: floating point is never used for money. */
export const BaseUnits = z.string().regex(/^(0|[1-9]\d*)$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);
const RequestId = z.uuid();

export const PaymentDialect = z.enum(['x402-v2', 'x402-v1', 'self-paid']);
export type PaymentDialect = z.infer<typeof PaymentDialect>;

/** A caller presented a valid payment for one request. No money has moved yet. */
export const PaymentAuthorized = event(
  'PaymentAuthorized',
  2,
  z.strictObject({
    requestId: RequestId,
    wallet: z.string(),
    dialect: PaymentDialect,
    network: z.string(),
    mint: z.string(),
    payTo: z.string(),
    amount: BaseUnits,
    /** How many queries the amount pays for; null if a version of the service recorded it that did not say so. */
    queries: z.int().positive().nullable(),
    /** Method and path, e.g. `GET /v2/case`. */
    endpoint: z.string(),
    /** SHA-256 of the canonical request, to which a payment identifier is bound. */
    requestHash: Sha256,
    /**
     * SHA-256 of the wallet and its payment identifier. The identifier is the caller's secret; the hash names its
     * stream.
     */
    identifierHash: Sha256.nullable(),
  }),
  { 1: (data) => ({ ...data, queries: null }) },
);

/**
 * What a paid call on a wallet's signing keys does once it is settled, and the id of the key that it creates, if any.
 */
const KeyCall = z.strictObject({
  does: z.enum(['show', 'rotate']),
  keyId: z.string(),
  /** Whether the rotation requires a proof of the wallet from then on; absent, it does not change that. */
  requireSignIn: z.literal(true).optional(),
});
export type KeyCall = z.infer<typeof KeyCall>;

/** The query has its answer, and everything that must happen once the payment is settled. */
export const QueryAnswered = event(
  'QueryAnswered',
  2,
  z.strictObject({
    requestId: RequestId,
    /** The answer's bytes in the payload store; null for calls whose answer is composed after settlement. */
    answer: Sha256.nullable(),
    /** How long the answer is kept; after that it may be missing without a recorded removal. */
    keepUntil: Instant,
    /** How many cases were answered: what the call counts toward the wallet's daily limit. */
    answeredCases: z.int().nonnegative(),
    /** How many of them are cases of each court; absent in events of earlier versions. */
    courts: z.array(z.strictObject({ court: z.string().min(1), cases: z.int().positive() })).optional(),
    /** Streams of the dockets that were answered, each once: these cases are watched. Absent in earlier events. */
    cases: z.array(z.string().min(1)).optional(),
    /**
     * Version of the master key that the secret part of the result id is derived from; if absent, the result is read by
     * `requestId`.
     */
    resultKey: z.int().positive().optional(),
    keyCall: KeyCall.nullable(),
    callbacks: z.array(
      z.strictObject({
        /** Names the delivery's stream, and is its Idempotency-Key. */
        deliveryId: z.uuid(),
        /** The URL's bytes in the payload store. */
        target: Sha256,
        /** Scheme, host and port of the URL; `unusable` if it has none. */
        origin: z.string(),
        /** Which result of a batch is pushed, from 0; null: the whole answer. */
        result: z.int().nonnegative().nullable(),
      }),
    ),
  }),
  // Version 1 predates key calls and callbacks, so it never names one.
  { 1: ({ reservedKeyId: _, ...data }) => ({ ...data, keyCall: null }) },
);

/** The query could not be answered, so its payment is never broadcast. */
export const QueryFailed = event(
  'QueryFailed',
  1,
  z.strictObject({ requestId: RequestId, code: z.string(), status: z.int() }),
);

/** Recorded before the first broadcast: from here on, the money may move. */
export const PaymentSubmitted = event(
  'PaymentSubmitted',
  1,
  z.strictObject({
    /** The transaction's first signature. */
    transaction: Signature,
    /** The fully signed bytes, base64: recovery resends exactly these. */
    wire: z.base64(),
    /** Once the finalized height is past this one, the transaction can no longer land. */
    lastValidBlockHeight: z.int().nonnegative(),
  }),
);

const Landed = z.strictObject({ transaction: Signature, slot: z.int().nonnegative() });

/**
 * What a landed transfer paid for. Outcomes include it, so that a reader of outcomes alone can keep a wallet's account.
 */
const Charge = z.strictObject({
  ...Landed.shape,
  requestId: RequestId,
  wallet: z.string(),
  amount: BaseUnits,
  answeredCases: z.int().nonnegative(),
});

const Settlement = z.strictObject({
  ...Charge.shape,
  /** What must follow besides the answer, so that no reader has to look up each payment for it; null for most. */
  owes: z.strictObject({ deliveries: z.array(z.uuid()), keyCall: KeyCall.nullable() }).nullable(),
});
const owesNothing = { 1: (data: JsonObject) => ({ ...data, owes: null }) };

/** The transfer is confirmed: the money moved, and the answer is owed. */
export const PaymentSettled = event('PaymentSettled', 2, Settlement, owesNothing);

/** A transfer landed after it had counted as expired. A caller whose money was received always gets the answer. */
export const PaymentSettledLate = event('PaymentSettledLate', 2, Settlement, owesNothing);

/** The transfer certainly did not happen: it failed on chain, or expired without being seen. */
export const PaymentFailed = event(
  'PaymentFailed',
  1,
  z.strictObject({
    transaction: Signature,
    requestId: RequestId,
    wallet: z.string(),
    reason: z.enum(['on_chain_error', 'expired']),
    /** The chain's own error, as JSON. */
    detail: z.string().nullable(),
  }),
);

/** The cluster dropped a block that held a confirmed transfer. */
export const PaymentRolledBack = event(
  'PaymentRolledBack',
  1,
  z.strictObject({ ...Charge.shape, reason: z.enum(['not_on_the_finalized_chain', 'failed_on_the_finalized_chain']) }),
);

/** A settled transfer was seen to be final, so recovery need not check it again. */
export const PaymentFinalized = event('PaymentFinalized', 1, Landed);

/** Nothing was broadcast, and the same payment may be presented again. */
export const PaymentReleased = event(
  'PaymentReleased',
  1,
  z.strictObject({ reason: z.enum(['query_failed', 'claim_taken_over', 'not_submitted']) }),
);

/** An answer that is given only once (a rotation's secret) was given. */
export const ResultHandedOut = event('ResultHandedOut', 1, z.strictObject({ requestId: RequestId }));

/** A caller's payment identifier is bound to this payment and this request. */
export const PaymentIdClaimed = event(
  'PaymentIdClaimed',
  1,
  z.strictObject({
    /** Message hash of the payment: the name of its stream. */
    payment: Sha256,
    requestId: RequestId,
    requestHash: Sha256,
    /**
     * The revision of the payment's stream that its submission will expect. If the stream passes it without a
     * submission for this identifier, that submission can never be recorded, and the claim has ended.
     */
    expected: z.int().min(-1),
  }),
);

/** The events in a payment's own stream. */
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
