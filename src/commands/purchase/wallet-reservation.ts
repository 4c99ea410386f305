/**
 * What a request takes from its wallet's limits in advance: one request of its minute, one case of its day, and the
 * reservation of its amount. Taken together before any cost arises, and given back as far as it was not needed.
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

/** A failed give-back is logged and never thrown, because it must not cost the caller an answer. */
export class WalletReservation {
  readonly #ports: WalletReservationPorts;
  readonly #request: ReservationRequest;
  #admission: Admission | null = null;
  /** The reservation of the amount, to be released if the payment is never submitted; null if there is none. */
  #reserved: Reserved | null = null;

  constructor(ports: WalletReservationPorts, request: ReservationRequest) {
    this.#ports = ports;
    this.#request = request;
  }

  /** The remainder of the wallet's limits; null if the request was not counted. */
  get limits(): RateLimitState | null {
    return this.#admission?.state ?? null;
  }

  /** @returns why the request is rejected; null if everything was taken */
  async take(patience: Patience): Promise<NotTaken | null> {
    const { transaction, mint, amount } = this.#request;
    const { wallet, source } = transaction;
    // If others wait, the payment joins their queue instead of reserving directly.
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

  /** Nothing was submitted: the request keeps its count in the minute and gives back the rest. */
  async takeBack(): Promise<void> {
    await this.countCases(0);
    await this.giveBackReserved();
  }

  /** The request did not prove its wallet, so the wallet's limits are restored. */
  uncount(): Promise<void> {
    return this.#uncount((ends) => ends);
  }

  /**
   * Another request has bought with this payment and keeps the daily count. The payment counts once against the minute,
   * whichever of the two counted it.
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

  /** Corrects the daily count to the number of answered cases. If this fails, the wallet loses one case of its day. */
  async countCases(cases: number): Promise<void> {
    if (!this.#admission) return;
    try {
      await countCases(this.#ports, this.#request.transaction.wallet, cases, this.#admission.ends);
    } catch (error) {
      this.#warn(error, 'the day of a wallet is miscounted');
    }
  }

  /**
   * Releases the reservation of a payment that will not be submitted. A submitted payment is released with its outcome.
   */
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
  /** `limits`: the wallet asked too often. `funds`: it may not have enough for its pending payments. */
  readonly because: 'limits' | 'funds';
  readonly problem: Problem;
}
