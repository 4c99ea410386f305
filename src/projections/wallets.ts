/** Read model of wallets: what each has bought and paid, and when it was seen. */
import type { EventOf } from '../events/event.ts';
import { PaymentAuthorized, PaymentRolledBack, PaymentSettled, PaymentSettledLate } from '../events/payment.ts';
import { type Instant, latest } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const WALLETS = 'wallets';

export type WalletRecord = {
  /** Base58 address, which is the document's id. */
  readonly wallet: string;
  /** Calls that were paid and answered. */
  readonly answeredCalls: number;
  readonly answeredCases: number;
  /** The total that this wallet has paid, in base units, decimal. */
  readonly settled: string;
  readonly firstSeen: Instant;
  readonly lastSeen: Instant;
};

type WalletActivity =
  | EventOf<typeof PaymentAuthorized>
  | EventOf<typeof PaymentSettled>
  | EventOf<typeof PaymentSettledLate>
  | EventOf<typeof PaymentRolledBack>;

export const wallets: Projection<WalletActivity> = {
  name: WALLETS,
  events: [PaymentAuthorized, PaymentSettled, PaymentSettledLate, PaymentRolledBack],
  collections: [{ name: WALLETS, indexes: [['lastSeen']] }],

  targets: ({ event }) => [{ collection: WALLETS, id: event.data.wallet }],

  fold({ id }, document, { event, recorded }) {
    const at = recorded.metadata.recordedAt;
    const record = (document as WalletRecord | null) ?? {
      wallet: id,
      answeredCalls: 0,
      answeredCases: 0,
      settled: '0',
      firstSeen: at,
      lastSeen: at,
    };
    switch (event.type) {
      case 'PaymentAuthorized':
        return { ...record, lastSeen: latest(record.lastSeen, at) };
      case 'PaymentSettled':
      case 'PaymentSettledLate':
        return account(record, event.data, 1);
      case 'PaymentRolledBack':
        return account(record, event.data, -1);
    }
  },
};

function account(
  record: WalletRecord,
  { amount, answeredCases }: Pick<EventOf<typeof PaymentSettled>['data'], 'amount' | 'answeredCases'>,
  sign: 1 | -1,
): WalletRecord {
  return {
    ...record,
    answeredCalls: record.answeredCalls + sign,
    answeredCases: record.answeredCases + sign * answeredCases,
    settled: String(BigInt(record.settled) + BigInt(sign) * BigInt(amount)),
  };
}
