/** The receipt of a settled payment, in the dialect of the payment. */
import type { JsonObject } from '../../events/event.ts';
import type { PaymentDialect } from '../../events/payment.ts';
import type { NetworkNames } from '../../solana/addresses.ts';

export interface Receipt {
  readonly dialect: PaymentDialect;
  readonly network: NetworkNames;
  readonly transaction: string;
  readonly payer: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** Why a broadcast payment did not settle; null if it did. */
  readonly failure: string | null;
}

/** Headers that tell a client the outcome of its payment. */
export function receiptHeaders(receipt: Receipt): Readonly<Record<string, string>> {
  const second = () => encode(receipt, receipt.network.caip2);
  const first = (name: string) => encode(receipt, name);
  switch (receipt.dialect) {
    case 'x402-v2':
      return { 'payment-response': second() };
    case 'x402-v1':
      return { 'x-payment-response': first(receipt.network.v1) };
    case 'self-paid':
      return { 'payment-response': second(), 'x-payment-response': first(receipt.network.selfPaid) };
  }
}

const encode = (receipt: Receipt, network: string): string =>
  Buffer.from(JSON.stringify(settlementResponse(receipt, network))).toString('base64');

/** x402's `SettlementResponse`. */
export function settlementResponse({ transaction, payer, amount, failure }: Receipt, network: string): JsonObject {
  const outcome = failure === null ? { success: true } : { success: false, errorReason: failure };
  return { ...outcome, transaction, network, payer, amount };
}
