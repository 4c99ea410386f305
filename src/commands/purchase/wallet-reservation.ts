/**
 * What one request takes in advance of its wallet: a place in its minute, a case of its day, and the reservation of its
 * payment's amount. Taken together before anything costs, and given back as far as it turns out not to be due.
 */
import type { BaseLogger } from 'pino';
import { isProblem, type Problem } from '../../errors.ts';
import { associatedTokenAddress } from '../../solana/addresses.ts';
import type { VerifiedTransaction } from '../../solana/verify-transaction.ts';
import { isUnwritten } from '../../storage/storage-failure.ts';
import {
  giveBack,
  giveBackLater,
  type Patience,
  type ReservationPorts,
  type Reserved,
  reservation,
  reserve,
  reservedBy,
} from './reservation.ts';
import {
  type Admission,
  admit,
  countCases,
  type Presented,
  type RateLimitState,
  uncount,
  type WindowEnds,
} from './wallet-limits.ts';

export interface WalletReservationPorts extends ReservationPorts {
  readonly logger: Pick<BaseLogger, 'warn'>;
}

export interface ReservationRequest {
  readonly requestId: string;
  readonly transaction: Pick<VerifiedTransaction, 'wallet' | 'source' | 'messageHash'>;
  readonly mint: string;
  /** Base units. */
  readonly amount: bigint;
}

/** A failure to give something back is logged and never thrown: it must not cost the caller an answer. */
export class WalletReservation {
  readonly #ports: WalletReservationPorts;
  readonly #request: ReservationRequest;
  #admission: Admission | null = null;
  /** Whether the amount is reserved, and to be given back if the payment is never submitted. */
  #reserved: Reserved | null = null;

  constructor(ports: WalletReservationPorts, request: ReservationRequest) {
    this.#ports = ports;
    this.#request = request;
  }

  /** What remains of the wallet's limits; null where the request was not counted. */
  get limits(): RateLimitState | null {
    return this.#admission?.state ?? null;
  }

  /** @returns why nothing more may be done for this request; null where all of it is taken */
  async take(patience: Patience): Promise<NotTaken | null> {
    const { transaction, mint, amount } = this.#request;
    const { wallet, source } = transaction;
    // A payment that finds others waiting joins their line.
    const along = this.#ports.lines.has(wallet) ? [] : [reservation(wallet, amount, this.#ports.clock.now())];
    const admission = await admit(this.#ports, this.#presented(), along);
    if (isProblem(admission)) return { because: 'limits', problem: admission };
    this.#admission = admission;
    const [taken] = admission.along;
    const own = () => source === associatedTokenAddress(wallet, mint);
    const begun = taken ? reservedBy(admission.failures, taken) : null;
    const reserved = await reserve(this.#ports, { wallet, source, own, amount }, patience, begun);
    if (isProblem(reserved)) return { because: 'funds', problem: reserved };
    this.#reserved = reserved;
    return null;
  }

  /** Nothing was submitted: the request keeps its place in the minute, and took nothing else. */
  async takeBack(): Promise<void> {
    await this.countCases(0);
    await this.giveBackReserved();
  }

  /** The wallet was not shown to have sent this request, so its limits are as they were before. */
  uncount(): Promise<void> {
    return this.#uncount((ends) => ends);
  }

  /**
   * Another request has bought with this payment, and took the day that is due. The payment counts once against the
   * minute, whichever of the two it was counted with.
   */
  uncountUsed(): Promise<void> {
    return this.#uncount((ends) => ({ ...ends, first: null }));
  }

  async #uncount(due: (ends: WindowEnds) => WindowEnds): Promise<void> {
    if (!this.#admission) return;
    const { ends } = this.#admission;
    this.#admission = null;
    try {
      await uncount(this.#ports, this.#presented(), due(ends));
    } catch (error) {
      this.#warn(error, 'a request counts that should not');
    }
  }

  /**
   * Corrects the day: a request takes as many cases as were answered. A count that cannot be corrected costs a wallet
   * one case of its day.
   */
  async countCases(cases: number): Promise<void> {
    if (!this.#admission) return;
    try {
      await countCases(this.#ports, this.#request.transaction.wallet, cases, this.#admission.ends);
    } catch (error) {
      this.#warn(error, 'the day of a wallet is miscounted');
    }
  }

  /** What is reserved, now that the payment will not be submitted. (Of a submitted one its outcome gives it back.) */
  async giveBackReserved(): Promise<void> {
    if (!this.#reserved) return;
    const { until } = this.#reserved;
    this.#reserved = null;
    const { transaction, amount } = this.#request;
    try {
      await giveBack(this.#ports, transaction.wallet, amount, until);
      this.#ports.lines.nudge(transaction.wallet);
    } catch (error) {
      this.#warn(error, 'a reservation was not given back yet');
      if (isUnwritten(error)) void giveBackLater(this.#ports, transaction.wallet, amount, until);
    }
  }

  #presented(): Presented {
    const { wallet, messageHash } = this.#request.transaction;
    return { wallet, payment: messageHash };
  }

  #warn(error: unknown, message: string): void {
    const { requestId, transaction } = this.#request;
    this.#ports.logger.warn({ err: error, requestId, wallet: transaction.wallet }, message);
  }
}

export interface NotTaken {
  /** Whether the wallet asked too often, or may not have what it would pay. */
  readonly because: 'limits' | 'funds';
  readonly problem: Problem;
}
