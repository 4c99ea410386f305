/** How `getSignatureStatuses` is asked and read: for one signature of all endpoints, or for many that wait by one call. */
import { z } from 'zod';
import type { Commitment, SignatureStatus } from './chain.ts';
import type { Question, RpcEndpoints } from './rpc-endpoints.ts';

/** What it takes at once. */
const MOST_STATUSES = 256;

/** Longest error of a transaction that is believed, as JSON: it is recorded, and the runtime's own are far shorter. */
const MOST_ERROR_CHARACTERS = 2_000;

/** The error of a transaction as the RPC gives it; null for success. */
export const TransactionError = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullable()
  .refine(isShort);

const count = z.int().nonnegative();
const Statuses = z.object({
  context: z.object({ slot: count }),
  value: z.array(
    z
      .object({
        slot: count,
        err: TransactionError,
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
        confirmations: count.nullish(),
      })
      .nullable(),
  ),
});

/** What one endpoint says, and at which slot it is. */
export interface StatusAnswer {
  readonly contextSlot: number;
  readonly statuses: readonly (SignatureStatus | null)[];
}

const ORDER: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const isConfirmed = (status: SignatureStatus | undefined): boolean =>
  status !== undefined && status.commitment !== 'processed';

/** Of two that were told of one transaction, the one that is further on its way. */
export const furthest = (a: SignatureStatus, b: SignatureStatus): SignatureStatus =>
  ORDER.indexOf(b.commitment) > ORDER.indexOf(a.commitment) ? b : a;

/** What is known of these signatures, history included. */
export function statusQuestion(signatures: readonly string[]): Question<StatusAnswer> {
  return {
    method: 'getSignatureStatuses',
    params: [signatures, { searchTransactionHistory: true }],
    // Whoever is still before its claim must not wait for those who look for theirs.
    lane: 'settlement',
    read: (result) => {
      const { context: at, value } = Statuses.parse(result);
      if (value.length !== signatures.length) throw new Error('not one status for each signature');
      return {
        contextSlot: at.slot,
        statuses: value.map((status) => {
          if (!status) return null;
          const { slot, err, confirmationStatus, confirmations } = status;
          // Old endpoints say only how many blocks have confirmed it; null has always meant all that are needed.
          const commitment = confirmationStatus ?? (confirmations === null ? 'finalized' : 'processed');
          return { slot, commitment, error: err === null ? null : JSON.stringify(err) };
        }),
      };
    },
  };
}

/** Also where it is nested so deeply that it cannot be written. */
function isShort(error: unknown): boolean {
  try {
    return JSON.stringify(error).length <= MOST_ERROR_CHARACTERS;
  } catch {
    return false;
  }
}

interface Waiting {
  readonly signature: string;
  resolve(status: SignatureStatus | null): void;
  reject(error: unknown): void;
}

/** Asks for all signatures that are asked for in one turn of the event loop by one call: many payments wait at once. */
export class StatusBatches {
  readonly #endpoints: RpcEndpoints;
  #waiting: Waiting[] = [];

  constructor(endpoints: RpcEndpoints) {
    this.#endpoints = endpoints;
  }

  status(signature: string): Promise<SignatureStatus | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ signature, resolve, reject }) === 1) setImmediate(() => this.#askAll());
    });
  }

  #askAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; from += MOST_STATUSES)
      this.#ask(waiting.slice(from, from + MOST_STATUSES));
  }

  async #ask(waiting: readonly Waiting[]): Promise<void> {
    try {
      const found = new Map<string, SignatureStatus>();
      await this.#endpoints.ask({
        ...statusQuestion(waiting.map(({ signature }) => signature)),
        // An endpoint may not know what another does: all are asked until each signature is confirmed by one.
        settles: ({ statuses }) => {
          statuses.forEach((status, index) => {
            const { signature } = waiting[index] as Waiting;
            const before = found.get(signature);
            if (status) found.set(signature, before ? furthest(before, status) : status);
          });
          return waiting.every(({ signature }) => isConfirmed(found.get(signature)));
        },
      });
      for (const { signature, resolve } of waiting) resolve(found.get(signature) ?? null);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
