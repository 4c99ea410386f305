/**
 * How `getSignatureStatuses` is asked and read: for one signature from all endpoints, or for many pending ones in one
 * call.
 */
import { z } from 'zod';
import { inSpan } from '../tracing/span.ts';
import type { Commitment, SignatureStatus } from './chain.ts';
import type { Question, RpcEndpoints } from './rpc-endpoints.ts';

/** The maximum per call. */
const MOST_STATUSES = 256;

/** Longest accepted transaction error, as JSON. Errors are recorded, and the runtime's own are much shorter. */
const MOST_ERROR_CHARACTERS = 2_000;

/** The error of a transaction as the RPC returns it; null for success. */
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

/** What one endpoint reports, and its current slot. */
export interface StatusAnswer {
  readonly contextSlot: number;
  readonly statuses: readonly (SignatureStatus | null)[];
}

const ORDER: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const isConfirmed = (status: SignatureStatus | undefined): boolean =>
  status !== undefined && status.commitment !== 'processed';

/** Of two statuses of one transaction, the one with more progress. */
export const furthest = (a: SignatureStatus, b: SignatureStatus): SignatureStatus =>
  ORDER.indexOf(b.commitment) > ORDER.indexOf(a.commitment) ? b : a;

/** What is known about these signatures, history included. */
export function statusQuestion(signatures: readonly string[]): Question<StatusAnswer> {
  return {
    method: 'getSignatureStatuses',
    params: [signatures, { searchTransactionHistory: true }],
    // A call before its claim must not wait for calls that look for an outcome.
    lane: 'settlement',
    read: (result) => {
      const { context: at, value } = Statuses.parse(result);
      if (value.length !== signatures.length) throw new Error('not one status for each signature');
      return {
        contextSlot: at.slot,
        statuses: value.map((status) => {
          if (!status) return null;
          const { slot, err, confirmationStatus, confirmations } = status;
          // Old endpoints report only how many blocks have confirmed it; null has always meant enough to be final.
          const commitment = confirmationStatus ?? (confirmations === null ? 'finalized' : 'processed');
          return { slot, commitment, error: err === null ? null : JSON.stringify(err) };
        }),
      };
    },
  };
}

/** Also false if the error is nested too deeply to be serialized. */
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

/** Merges the signatures requested in one turn of the event loop into one call, since many payments wait at once. */
export class StatusBatches {
  readonly #endpoints: RpcEndpoints;
  #waiting: Waiting[] = [];

  constructor(endpoints: RpcEndpoints) {
    this.#endpoints = endpoints;
  }

  status(signature: string): Promise<SignatureStatus | null> {
    // The call that many payments share belongs to the trace of the first; the others show how long they waited for it.
    return inSpan(
      'look up signature',
      () =>
        new Promise((resolve, reject) => {
          if (this.#waiting.push({ signature, resolve, reject }) === 1) setImmediate(() => this.#askAll());
        }),
    );
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
        // One endpoint may not know what another does, so all are asked until each signature is confirmed by one.
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
