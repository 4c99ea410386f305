/** The callbacks that each payment owes once it settles. Only payments that may still change are remembered. */
import { type PaymentEvent, QueryAnswered } from '../../events/payment.ts';
import { ownEvent } from '../export/own-events.ts';
import type { ReadableLog } from '../readable-log.ts';

export interface OwedCallback {
  readonly deliveryId: string;
  readonly requestId: string;
  readonly wallet: string;
  readonly origin: string;
}

export class OwedCallbacks {
  readonly #log: Pick<ReadableLog, 'read'>;
  readonly #wallets = new Map<string, string>();
  readonly #owed = new Map<string, readonly OwedCallback[]>();

  constructor(log: Pick<ReadableLog, 'read'>) {
    this.#log = log;
  }

  note(stream: string, event: PaymentEvent): void {
    switch (event.type) {
      case 'PaymentAuthorized':
        this.#wallets.set(stream, event.data.wallet);
        break;
      case 'QueryAnswered': {
        const owed = owedBy(event, this.#wallets.get(stream));
        if (owed.length > 0) this.#owed.set(stream, owed);
        this.#wallets.delete(stream);
        break;
      }
      // What happens after these is rare, and is then read from the stream.
      case 'PaymentReleased':
      case 'PaymentFailed':
      case 'PaymentFinalized':
        this.#wallets.delete(stream);
        this.#owed.delete(stream);
        break;
    }
  }

  async of(stream: string): Promise<readonly OwedCallback[]> {
    const known = this.#owed.get(stream);
    if (known) return known;
    let wallet: string | undefined;
    let owed: readonly OwedCallback[] = [];
    for (const recorded of await this.#log.read(stream)) {
      const event = ownEvent(recorded)?.event as PaymentEvent | undefined;
      if (event?.type === 'PaymentAuthorized') wallet = event.data.wallet;
      else if (event?.type === QueryAnswered.type) owed = owedBy(event, wallet);
    }
    return owed;
  }
}

const owedBy = (
  { data }: Extract<PaymentEvent, { type: 'QueryAnswered' }>,
  wallet: string | undefined,
): readonly OwedCallback[] =>
  data.callbacks.map(({ deliveryId, origin }) => ({
    deliveryId,
    origin,
    requestId: data.requestId,
    wallet: wallet ?? '',
  }));
