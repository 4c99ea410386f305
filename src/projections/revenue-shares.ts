/** What one payment adds to the revenue: from the events of its stream, so that it can be added and taken away again. */
import bs58 from 'bs58';
import { type PaymentEvent, PaymentRolledBack } from '../events/payment.ts';
import type { Instant } from '../runtime/instant.ts';
import { networkFeeOf } from '../solana/network-fee.ts';
import { decodeTransaction } from '../solana/verify-transaction-wire.ts';

/** Counts, and exact amounts: USDC in base units, fees in lamports. */
export interface Figures {
  /** Payments that settled, and how many of them late. */
  readonly payments: number;
  readonly late: number;
  /** Cases, or other queries, that were answered for them. */
  readonly answers: number;
  readonly usdc: bigint;
  /** What our fee payer paid to the network for them. */
  readonly fees: bigint;
  /** Payments that settled and were rolled back by the chain. */
  readonly rolledBack: number;
  readonly rolledBackUsdc: bigint;
  /** Payments that failed on the chain or expired, and what our fee payer paid for those on the chain. */
  readonly failed: number;
  readonly failedFees: bigint;
  /** Queries that had no answer: their payment was never sent. */
  readonly failedQueries: number;
}

export const NO_FIGURES: Figures = {
  payments: 0,
  late: 0,
  answers: 0,
  usdc: 0n,
  fees: 0n,
  rolledBack: 0,
  rolledBackUsdc: 0n,
  failed: 0,
  failedFees: 0n,
  failedQueries: 0,
};

/** Why nothing was earned: the code of a failed query, or the reason of a failed or rolled back payment. */
export type Refusal = {
  readonly of: 'query' | 'payment';
  readonly reason: string;
};

export interface Share {
  /** The UTC day on which it was earned or lost: of the settlement, also if it was rolled back later. */
  readonly day: string;
  readonly wallet: string;
  readonly endpoint: string;
  readonly courts: readonly CourtPart[];
  readonly figures: Figures;
  readonly refusal: Refusal | null;
}

export interface CourtPart {
  readonly court: string;
  readonly cases: number;
}

/** For answers of earlier versions, whose events do not name the court. */
export const NOT_RECORDED = '(not recorded)';
/** For calls that concern no case, and for queries that had no answer. */
export const NO_COURT = '(none)';

export interface RecordedPaymentEvent {
  readonly event: PaymentEvent;
  readonly at: Instant;
}

interface Request {
  readonly wallet: string;
  readonly endpoint: string;
  readonly courts: readonly CourtPart[];
  /** The signed transaction, base64; null before the submission. */
  readonly wire: string | null;
  readonly outcome: Pick<Share, 'day' | 'figures' | 'refusal'> | null;
}

/** Total on any order of events: what is missing in a broken stream counts as not recorded. */
export function sharesOf(history: readonly RecordedPaymentEvent[]): readonly Share[] {
  const shares: Share[] = [];
  let request: Request | null = null;
  for (const { event, at } of history) {
    if (event.type === 'PaymentAuthorized') {
      if (request) shares.push(...outcomeOf(request));
      const { wallet, endpoint } = event.data;
      request = { wallet, endpoint, courts: [{ court: NO_COURT, cases: 1 }], wire: null, outcome: null };
    } else if (event.type === 'QueryFailed' && request) {
      const figures = { ...NO_FIGURES, failedQueries: 1 };
      const refusal = { of: 'query', reason: event.data.code } as const;
      shares.push(...outcomeOf({ ...request, outcome: { day: dayOf(at), figures, refusal } }));
    } else request = changed(request, event, at);
  }
  return request ? [...shares, ...outcomeOf(request)] : shares;
}

const outcomeOf = ({ outcome, wallet, endpoint, courts }: Request): readonly Share[] =>
  outcome === null ? [] : [{ wallet, endpoint, courts, ...outcome }];

function changed(known: Request | null, event: PaymentEvent, at: Instant): Request | null {
  switch (event.type) {
    case 'QueryAnswered':
      return known && { ...known, courts: courtsOf(event.data.courts) };
    case 'PaymentSubmitted':
      return known && { ...known, wire: event.data.wire };
    case 'PaymentSettled':
    case 'PaymentSettledLate': {
      const request = known ?? unknownRequest(event.data.wallet);
      const figures = {
        ...NO_FIGURES,
        payments: 1,
        late: event.type === 'PaymentSettledLate' ? 1 : 0,
        answers: event.data.answeredCases,
        usdc: BigInt(event.data.amount),
        fees: sponsoredFee(request),
      };
      return { ...request, outcome: { day: dayOf(at), figures, refusal: null } };
    }
    case 'PaymentFailed': {
      const request = known ?? unknownRequest(event.data.wallet);
      const { reason } = event.data;
      const figures = {
        ...NO_FIGURES,
        failed: 1,
        failedFees: reason === 'on_chain_error' ? sponsoredFee(request) : 0n,
      };
      return { ...request, outcome: { day: dayOf(at), figures, refusal: { of: 'payment', reason } } };
    }
    case PaymentRolledBack.type: {
      const request = known ?? unknownRequest(event.data.wallet);
      const { reason, amount } = event.data;
      const figures = {
        ...NO_FIGURES,
        rolledBack: 1,
        rolledBackUsdc: BigInt(amount),
        // A transaction that is on no finalized block cost nothing.
        failedFees: reason === 'failed_on_the_finalized_chain' ? sponsoredFee(request) : 0n,
      };
      const day = request.outcome?.day ?? dayOf(at);
      return { ...request, outcome: { day, figures, refusal: { of: 'payment', reason } } };
    }
    default:
      return known;
  }
}

const unknownRequest = (wallet: string): Request => ({
  wallet,
  endpoint: NOT_RECORDED,
  courts: [{ court: NOT_RECORDED, cases: 1 }],
  wire: null,
  outcome: null,
});

export const dayOf = (at: Instant): string => at.slice(0, 10);

function courtsOf(courts: readonly CourtPart[] | undefined): readonly CourtPart[] {
  if (courts === undefined) return [{ court: NOT_RECORDED, cases: 1 }];
  return courts.length === 0 ? [{ court: NO_COURT, cases: 1 }] : courts;
}

/** What our fee payer pays for a transaction on the chain; 0 if the wallet pays it. */
function sponsoredFee({ wire, wallet }: Request): bigint {
  if (wire === null) return 0n;
  const bytes = Buffer.from(wire, 'base64');
  const transaction = decodeTransaction(bytes);
  if ('fault' in transaction) return 0n;
  const [payer] = transaction.accounts;
  return payer === undefined || bs58.encode(payer) === wallet ? 0n : networkFeeOf(bytes);
}

export const added = (one: Figures, other: Figures, sign: 1 | -1 = 1): Figures => {
  const big = BigInt(sign);
  return {
    payments: one.payments + sign * other.payments,
    late: one.late + sign * other.late,
    answers: one.answers + sign * other.answers,
    usdc: one.usdc + big * other.usdc,
    fees: one.fees + big * other.fees,
    rolledBack: one.rolledBack + sign * other.rolledBack,
    rolledBackUsdc: one.rolledBackUsdc + big * other.rolledBackUsdc,
    failed: one.failed + sign * other.failed,
    failedFees: one.failedFees + big * other.failedFees,
    failedQueries: one.failedQueries + sign * other.failedQueries,
  };
};

/**
 * Divides a share among its courts by their cases, exactly: the parts of amounts and answers add up to the whole. The
 * payment itself counts in each court.
 */
export function byCourt({ courts, figures }: Pick<Share, 'courts' | 'figures'>): ReadonlyMap<string, Figures> {
  const all = courts.reduce((sum, { cases }) => sum + cases, 0);
  const parts = new Map<string, Figures>();
  let before = 0;
  for (const { court, cases } of courts) {
    const part = (whole: bigint): bigint =>
      (whole * BigInt(before + cases)) / BigInt(all) - (whole * BigInt(before)) / BigInt(all);
    const own = {
      ...figures,
      answers: Number(part(BigInt(figures.answers))),
      usdc: part(figures.usdc),
      fees: part(figures.fees),
      rolledBackUsdc: part(figures.rolledBackUsdc),
      failedFees: part(figures.failedFees),
    };
    before += cases;
    const known = parts.get(court);
    // The same court twice is still one payment.
    parts.set(court, known ? { ...added(known, own), ...countsOf(figures) } : own);
  }
  return parts;
}

const countsOf = ({ payments, late, rolledBack, failed, failedQueries }: Figures) => ({
  payments,
  late,
  rolledBack,
  failed,
  failedQueries,
});
