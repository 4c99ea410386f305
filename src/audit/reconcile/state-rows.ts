/** The tables of a reconciliation's state, and what their rows mean. */
import type { LandedTransaction } from '../../solana/chain-history.ts';
import type { LoggedPayment } from './logged-payment.ts';

export const VERSION = 1;
/** "dkrc": marks the file, so that no other database is taken for one. */
export const APPLICATION_ID = 0x646b7263;

/** How far one account's transactions were listed: from the newest one back to `until`, the newest of the pass before. */
export interface Listing {
  readonly account: string;
  /** Newest signature of the current pass; null before its first page. */
  readonly top: string | null;
  /** Oldest signature so far. */
  readonly cursor: string | null;
  readonly until: string | null;
  readonly complete: boolean;
  /** From which slot the endpoints kept the history when it was listed. */
  readonly keptFrom: number;
}

/** The result of asking for a transaction that is not listed, or whose content was not given. */
export type Outcome = 'listed' | 'fetched' | 'not_final' | 'missing';

export interface SignatureRow {
  readonly signature: string;
  readonly slot: number | null;
  readonly outcome: Outcome;
  readonly listed: boolean;
  readonly failed: boolean;
  readonly transaction: LandedTransaction | null;
  readonly keptFrom: number;
}

export interface RawSignature {
  readonly signature: string;
  readonly slot: number | null;
  readonly outcome: Outcome;
  readonly listed: number;
  readonly failed: number;
  readonly content: string | null;
  readonly kept_from: number | null;
}

export interface PaymentRow {
  readonly payment: LoggedPayment;
  /** Null if its transaction was neither listed nor asked for. */
  readonly found: SignatureRow | null;
}

export interface UnlistedPayment {
  readonly stream: string;
  readonly signature: string;
  readonly slot: number | null;
}

export const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE payments (
    stream TEXT PRIMARY KEY, tx TEXT, status TEXT NOT NULL, slot INTEGER, content TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX payments_by_transaction ON payments (tx);
  CREATE TABLE listings (
    account TEXT PRIMARY KEY, top TEXT, cursor TEXT, until TEXT, complete INTEGER NOT NULL, kept_from REAL NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE signatures (
    signature TEXT PRIMARY KEY, slot INTEGER, failed INTEGER NOT NULL, listed INTEGER NOT NULL, outcome TEXT NOT NULL,
    content TEXT, kept_from REAL
  ) WITHOUT ROWID;
  CREATE INDEX signatures_to_fetch ON signatures (outcome, failed);
  CREATE INDEX signatures_in_order ON signatures (slot, signature) WHERE listed = 1;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/** JSON has no big integers. */
export const packed = (transaction: LandedTransaction): string =>
  JSON.stringify(transaction, (_, value) => (typeof value === 'bigint' ? String(value) : value));

function unpacked(content: string): LandedTransaction {
  const stored = JSON.parse(content);
  const units = (text: string | null) => (text === null ? null : BigInt(text));
  return {
    ...stored,
    fee: BigInt(stored.fee),
    changes: stored.changes.map((change: { before: string | null; after: string | null }) => ({
      ...change,
      before: units(change.before),
      after: units(change.after),
    })),
  };
}

export const rowOf = ({ content, kept_from, listed, failed, ...row }: RawSignature): SignatureRow => ({
  ...row,
  listed: listed === 1,
  failed: failed === 1,
  transaction: content === null ? null : unpacked(content),
  keptFrom: kept_from ?? 0,
});
