/** The chain's history over Solana's JSON-RPC. Each call is a request of its own, so that a budget counts them exactly. */
import { z } from 'zod';
import { addressBytes } from './addresses.ts';
import type { CallBudget, Pacing } from './call-budget.ts';
import { systemPacing } from './call-budget.ts';
import { ChainUnavailable } from './chain.ts';
import type { ChainHistory, LandedTransaction, SignaturePage, TransactionLookup } from './chain-history.ts';
import { landedTransaction, TransactionAnswer } from './landed-transaction.ts';
import { EndpointFailure, HttpRefusal } from './rpc-connections.ts';
import { RpcEndpoint, RpcRefusal } from './rpc-endpoint.ts';
import { TransactionError } from './rpc-signature-status.ts';

export interface RpcHistoryOptions {
  /** In order of preference. They may contain credentials; no error repeats them. */
  readonly urls: readonly string[];
  readonly budget: CallBudget;
  readonly timeoutMs?: number;
  readonly pacing?: Pacing;
}

/** A search of the history takes longer than an answer from memory. */
const DEFAULT_TIMEOUT_MS = 20_000;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
const SIGNATURES_PER_PAGE = 1_000;

/** RPC errors that say that the node is busy or behind, so that asking again may help. */
const PASSING: readonly number[] = [-32004, -32005, -32014, -32016, -32429];
/** RPC errors that say that this node has no such history, or that the transaction is of a version unknown to us. */
const NOT_GIVEN: readonly number[] = [-32001, -32007, -32009, -32011, -32015, -32019];
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMETERS = -32602;

const count = z.int().nonnegative();
const Genesis = z.string().refine((text) => addressBytes(text));
const Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);
const Listed = z.array(z.object({ signature: Signature, slot: count, err: TransactionError })).max(SIGNATURES_PER_PAGE);
const Balance = z.object({
  context: z.object({ slot: count }),
  value: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
});

interface Question<Answer> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly read: (result: unknown) => Answer;
  /** Reads an error that is an answer; undefined for any other. */
  readonly readRefusal?: (refusal: RpcRefusal) => Answer | undefined;
}

interface Member {
  readonly endpoint: RpcEndpoint;
  /** The first slot of its history, when it was last asked; null before. */
  keptFrom: number | null;
  /** Whether its last call failed: then it is asked last, and each call once. */
  failing: boolean;
}

export class RpcHistory implements ChainHistory {
  readonly #members: readonly Member[];
  readonly #budget: CallBudget;
  readonly #timeoutMs: number;
  readonly #pacing: Pacing;

  constructor({ urls, budget, timeoutMs = DEFAULT_TIMEOUT_MS, pacing = systemPacing }: RpcHistoryOptions) {
    if (urls.length === 0) throw new RangeError('at least one endpoint is needed');
    this.#members = urls.map((url) => ({ endpoint: new RpcEndpoint(url), keptFrom: null, failing: false }));
    this.#budget = budget;
    this.#timeoutMs = timeoutMs;
    this.#pacing = pacing;
  }

  async genesisHash(): Promise<string> {
    const question = { method: 'getGenesisHash', params: [], read: (result: unknown) => Genesis.parse(result) };
    const hashes = new Set<string>();
    let failure: unknown;
    for (const member of this.#members) {
      try {
        hashes.add(await this.#ask(member, question));
      } catch (error) {
        failure = failureOf(error);
      }
    }
    const [first, ...others] = hashes;
    if (first === undefined) throw unavailable('getGenesisHash', failure);
    if (others.length) throw new ChainUnavailable('the chain endpoints serve different chains');
    return first;
  }

  signatures(account: string, { before, until }: { readonly before: string | null; readonly until: string | null }) {
    const settings = {
      commitment: 'finalized',
      limit: SIGNATURES_PER_PAGE,
      ...(before && { before }),
      ...(until && { until }),
    };
    return this.#first('getSignaturesForAddress', async (member): Promise<SignaturePage> => {
      const listed = await this.#ask(member, {
        method: 'getSignaturesForAddress',
        params: [account, settings],
        read: (result) => Listed.parse(result),
      });
      const signatures = listed.map(({ signature, slot, err }) => ({ signature, slot, failed: err !== null }));
      if (new Set(signatures.map(({ signature }) => signature)).size < signatures.length)
        throw new EndpointFailure('the answer names a signature twice', true);
      // Asked after the page: a node drops old history while it answers.
      return { signatures, keptFrom: await this.#keptFrom(member) };
    });
  }

  async transaction(
    signature: string,
    { slot, commitment }: { readonly slot: number | null; readonly commitment: 'confirmed' | 'finalized' },
  ): Promise<TransactionLookup> {
    let keptFrom: number | null = null;
    let failure: unknown;
    for (const member of await this.#farthestFirst()) {
      // An endpoint keeps less and less, so what it did not keep then it does not keep now.
      if (slot !== null && member.keptFrom !== null && slot < member.keptFrom) {
        keptFrom = Math.min(keptFrom ?? Number.POSITIVE_INFINITY, member.keptFrom);
        continue;
      }
      try {
        const given = await this.#ask(member, transactionQuestion(signature, commitment));
        if (typeof given === 'object') return { found: true, transaction: given };
        const from = given === 'not_kept' ? Number.POSITIVE_INFINITY : await this.#keptFrom(member);
        keptFrom = Math.min(keptFrom ?? Number.POSITIVE_INFINITY, from);
      } catch (error) {
        failure = failureOf(error);
      }
    }
    if (keptFrom === null) throw unavailable('getTransaction', failure);
    return { found: false, keptFrom };
  }

  tokenBalance(account: string) {
    return this.#first('getTokenAccountBalance', (member) =>
      this.#ask(member, {
        method: 'getTokenAccountBalance',
        params: [account, { commitment: 'finalized' }],
        read: (result): { amount: bigint; slot: number } | null => {
          const { context, value } = Balance.parse(result);
          return { amount: BigInt(value.amount), slot: context.slot };
        },
        readRefusal: ({ code }) => (code === INVALID_PARAMETERS ? null : undefined),
      }),
    );
  }

  close(): void {
    for (const { endpoint } of this.#members) endpoint.close();
  }

  /** The endpoints, those that keep the longest history first. One that does not say, or that fails, comes last. */
  async #farthestFirst(): Promise<readonly Member[]> {
    for (const member of this.#members) {
      if (member.keptFrom !== null || member.failing || this.#members.length === 1) continue;
      try {
        await this.#keptFrom(member);
      } catch (error) {
        failureOf(error);
      }
    }
    const rank = ({ keptFrom, failing }: Member) => (failing ? null : keptFrom) ?? Number.POSITIVE_INFINITY;
    return [...this.#members].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
  }

  /** An endpoint that does not know the method keeps an unknown part: nothing that is missing there is proven. */
  async #keptFrom(member: Member): Promise<number> {
    member.keptFrom = await this.#ask(member, {
      method: 'getFirstAvailableBlock',
      params: [],
      read: (result) => count.parse(result),
      readRefusal: ({ code }) => (code === UNKNOWN_METHOD ? Number.POSITIVE_INFINITY : undefined),
    });
    return member.keptFrom;
  }

  /** The answer of the first endpoint that gives one. */
  async #first<Answer>(method: string, ask: (member: Member) => Promise<Answer>): Promise<Answer> {
    let failure: unknown;
    for (const member of await this.#farthestFirst()) {
      try {
        return await ask(member);
      } catch (error) {
        failure = failureOf(error);
      }
    }
    throw unavailable(method, failure);
  }

  async #ask<Answer>(member: Member, question: Question<Answer>): Promise<Answer> {
    const attempts = member.failing ? 1 : ATTEMPTS;
    for (let attempt = 1; ; attempt++) {
      await this.#budget.take();
      try {
        const answer = await this.#once(member, question);
        member.failing = false;
        return answer;
      } catch (error) {
        if (attempt < attempts && mayPass(error)) {
          await this.#pacing.pause(pauseAfter(error, attempt));
          continue;
        }
        member.failing = true;
        throw error;
      }
    }
  }

  async #once<Answer>({ endpoint }: Member, { method, params, read, readRefusal }: Question<Answer>): Promise<Answer> {
    let result: unknown;
    try {
      result = await endpoint.call(method, params, { timeoutMs: this.#timeoutMs, alone: true });
    } catch (error) {
      const answer = error instanceof RpcRefusal ? readRefusal?.(error) : undefined;
      if (answer !== undefined) return answer;
      throw error;
    }
    try {
      return read(result);
    } catch {
      throw new UnexpectedShape();
    }
  }
}

/** Asking again would give the same. */
class UnexpectedShape extends EndpointFailure {
  constructor() {
    super('the answer does not have the expected shape', true);
  }
}

/** `unknown`: it has no such transaction. `not_kept`: it has lost what became of it, or cannot give it. */
const transactionQuestion = (
  signature: string,
  commitment: string,
): Question<LandedTransaction | 'unknown' | 'not_kept'> => ({
  method: 'getTransaction',
  params: [signature, { encoding: 'base64', commitment, maxSupportedTransactionVersion: 0 }],
  read: (result) => {
    const answer = TransactionAnswer.parse(result);
    return answer === null ? 'unknown' : (landedTransaction(answer, signature) ?? 'not_kept');
  },
  readRefusal: ({ code }) => (NOT_GIVEN.includes(code) ? 'not_kept' : undefined),
});

/** Whether asking the same endpoint again may help. */
function mayPass(error: unknown): boolean {
  if (error instanceof RpcRefusal) return PASSING.includes(error.code);
  if (error instanceof HttpRefusal) return error.status === 429 || error.status >= 500;
  return error instanceof EndpointFailure && !(error instanceof UnexpectedShape);
}

function pauseAfter(error: unknown, attempt: number): number {
  const asked = error instanceof EndpointFailure ? error.retryAfterMs : null;
  return Math.min(LONGEST_PAUSE_MS, asked ?? FIRST_PAUSE_MS * 2 ** (attempt - 1));
}

/** Passes on a failure of an endpoint, so that the next one is asked. Anything else ends the run. */
function failureOf(error: unknown): EndpointFailure | RpcRefusal {
  if (error instanceof EndpointFailure || error instanceof RpcRefusal) return error;
  throw error;
}

/** An endpoint's own message may repeat the request, so of an RPC error only the code is shown. */
const unavailable = (method: string, failure: unknown): ChainUnavailable => {
  const reason = failure instanceof RpcRefusal ? `RPC error ${failure.code}` : (failure as Error | undefined)?.message;
  return new ChainUnavailable(`no chain endpoint answers ${method}: ${reason ?? 'none was asked'}`);
};
