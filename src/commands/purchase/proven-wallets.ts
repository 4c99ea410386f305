/** Wallets whose settled payments have paid for their failures (docs/design/payments.md#first-payments). */
import { remember } from '../../runtime/remember.ts';
import { isProvenBy } from './allowance.ts';
import { failuresWithinAYear, type LimitPorts } from './wallet-limits.ts';

/** A wallet may fail at most three times an hour, so an outdated entry is off by only a few failures. */
const REMEMBERED_MS = 600_000;
const MOST_REMEMBERED = 10_000;

export interface ProvenWalletsPorts extends LimitPorts {
  /** How many payments of a wallet have settled, as far as known. */
  settledPayments(wallet: string): Promise<number>;
}

export class ProvenWallets {
  readonly #ports: ProvenWalletsPorts;
  /** Until when each wallet counts as proven without a lookup, by the monotonic clock, milliseconds. */
  readonly #proven = new Map<string, number>();

  constructor(ports: ProvenWalletsPorts) {
    this.#ports = ports;
  }

  /** @throws StorageFailure */
  async isProven(wallet: string): Promise<boolean> {
    const now = performance.now();
    if ((this.#proven.get(wallet) ?? 0) > now) return true;
    const settled = await this.#ports.settledPayments(wallet);
    if (settled <= 0 || !isProvenBy(settled, await failuresWithinAYear(this.#ports, wallet))) return false;
    remember(this.#proven, wallet, now + REMEMBERED_MS, MOST_REMEMBERED);
    return true;
  }
}
