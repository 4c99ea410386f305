/**
 * Reads the payment of a request from any client. The content decides what it is, not the name of the header
 * (docs/design/payments.md#static-checks).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { PaymentPayloadV1Schema, PaymentPayloadV2Schema } from '@x402/core/schemas';
import { type Problem, problem } from '../../errors.ts';
import type { PaymentRejection } from '../../events/payment-rejections.ts';
import type { NetworkNames } from '../../solana/addresses.ts';
import { nestingOf } from '../nesting.ts';
import { readTransactionText } from './payment-bytes.ts';
import { IDENTIFIER_RULE, readPaymentIdentifier } from './payment-identifier.ts';

/** The headers of x402 v2, of x402 v1, and of a self-paid transfer. */
export const PAYMENT_HEADERS = ['payment-signature', 'x-payment', 'x402-payment'] as const;

/** Longest header that is accepted. */
const MAX_PAYMENT_HEADER_BYTES = 16 * 1024;
/** Terms, transaction and extensions together are at most seven levels deep. */
const MAX_NESTING = 32;

export interface PresentedPayment {
  /** The x402 version that it is written in; null for a bare transaction. */
  readonly x402Version: 1 | 2 | null;
  readonly transaction: Buffer;
  /** The memo of the 402 that the client answers, if the client returned it. */
  readonly memo: string | null;
  /** x402's `payment-identifier`, if the client sent one. */
  readonly identifier: string | null;
}

/** Null if the request carries no payment. */
export function readPayment(headers: IncomingHttpHeaders, network: NetworkNames): PresentedPayment | Problem | null {
  const values = PAYMENT_HEADERS.flatMap((name) => headers[name] ?? []);
  let found: PresentedPayment | null = null;
  for (const value of new Set(values)) {
    const payment = readPaymentText(value, network);
    if ('problem' in payment) return payment;
    const before: PresentedPayment = found ?? payment;
    if (!isSamePayment(before, payment)) return unreadable('several_payments');
    found = { ...before, memo: before.memo ?? payment.memo, identifier: before.identifier ?? payment.identifier };
  }
  return found;
}

/** One transaction under two headers is one payment, unless they differ in other fields. */
const isSamePayment = (one: PresentedPayment, other: PresentedPayment): boolean =>
  one.transaction.equals(other.transaction) &&
  (one.memo === null || other.memo === null || one.memo === other.memo) &&
  (one.identifier === null || other.identifier === null || one.identifier === other.identifier);

/** Reads one payment from its text: a header's value, or an argument of a tool. */
export function readPaymentText(text: string, network: NetworkNames): PresentedPayment | Problem {
  if (text.length > MAX_PAYMENT_HEADER_BYTES) return unreadable('too_long');
  const bytes = readTransactionText(text);
  if (!bytes || bytes.length === 0) return unreadable(text === '' ? 'empty' : 'not_base64');
  // A transaction starts with the number of its signatures; no JSON text starts with so low a byte.
  if (bytes.readUInt8(0) < 0x09) return { x402Version: null, transaction: bytes, memo: null, identifier: null };
  const value = parseJson(bytes);
  if (value === undefined) return unreadable('not_json');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return unreadable('not_an_object');
  return readEnvelope(value as Readonly<Record<string, unknown>>, network);
}

/** Reads one payment that came as an object, within the bounds that its text would have in a header. */
export function readPaymentObject(
  envelope: Readonly<Record<string, unknown>>,
  network: NetworkNames,
): PresentedPayment | Problem {
  const text = JSON.stringify(envelope);
  if (base64Length(Buffer.byteLength(text)) > MAX_PAYMENT_HEADER_BYTES) return unreadable('too_long');
  return nestingOf(text) > MAX_NESTING ? unreadable('not_json') : readEnvelope(envelope, network);
}

const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

function readEnvelope(envelope: Readonly<Record<string, unknown>>, network: NetworkNames): PresentedPayment | Problem {
  switch (envelope.x402Version) {
    case 2: {
      const { data } = PaymentPayloadV2Schema.safeParse(envelope);
      if (!data) return unreadable('schema');
      const { scheme, network: named, extra } = data.accepted;
      const read = readPaymentIdentifier(data.extensions);
      if ('unreadable' in read) return unreadable('payment_identifier', IDENTIFIER_RULE);
      const memo = typeof extra?.memo === 'string' ? extra.memo : null;
      return readTransaction(2, scheme, named, data.payload, { memo, identifier: read.identifier }, network);
    }
    case 1: {
      const { data } = PaymentPayloadV1Schema.safeParse(envelope);
      if (!data) return unreadable('schema');
      return readTransaction(1, data.scheme, data.network, data.payload, { memo: null, identifier: null }, network);
    }
    case undefined:
      return unreadable('schema');
    default:
      return rejectedPayment('invalid_x402_version');
  }
}

function readTransaction(
  x402Version: 1 | 2,
  scheme: string,
  named: string,
  payload: Readonly<Record<string, unknown>>,
  said: Pick<PresentedPayment, 'memo' | 'identifier'>,
  network: NetworkNames,
): PresentedPayment | Problem {
  if (scheme !== 'exact') return rejectedPayment('unsupported_scheme');
  // Nothing else in the client's copy of our terms is checked: the transaction is compared with the terms themselves.
  if (![network.caip2, network.v1, network.selfPaid].includes(named)) {
    return rejectedPayment('invalid_exact_svm_network_mismatch');
  }
  const text = payload.transaction;
  const transaction = typeof text === 'string' ? readTransactionText(text) : null;
  return transaction ? { x402Version, transaction, ...said } : unreadable('transaction_not_base64');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON value; undefined if the bytes are invalid or nested deeper than any payment. */
function parseJson(bytes: Buffer): unknown {
  try {
    const text = utf8.decode(bytes);
    return nestingOf(text) > MAX_NESTING ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The payment cannot be read at all. */
export const unreadable = (reason: string, hint?: string): Problem =>
  problem('invalid_payment', hint === undefined ? { reason } : { reason, hint });

/** The payment is readable but does not fit this service. */
export const rejectedPayment = (reason: PaymentRejection): Problem => problem('payment_rejected', { reason });
