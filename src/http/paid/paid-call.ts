/** What a paid endpoint is to the rest of the HTTP layer: parameters in, a priced answer out. */
import type { QueryAnswer, RequestedCallback, UnchargedAnswer } from '../../commands/purchase/query-run.ts';
import type { GivenProof } from '../../commands/signing-key/sign-in.ts';
import type { Problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { SentRequest } from '../parameters/request-parameters.ts';
import type { PurposeWord } from '../x402/purpose.ts';

/** What a paid answer may know of the call that pays for it. */
export interface PaidCallContext {
  readonly requestId: string;
  /** The paying wallet: base58 address. */
  readonly wallet: string;
  /** The call's price in US dollars, exact cents, for `meta.query_cost_usd`. */
  readonly costUsd: number;
  /** `X-Service-Tag`, checked. */
  readonly tag: string | null;
  /** Message hash of the payment. */
  readonly payment: string;
  /** Whether its memo names this call. */
  readonly isBound: boolean;
  /** The wallet's signed message, checked; null where none came. */
  readonly proof: GivenProof | null;
  /** Aborts at the query deadline. */
  readonly signal: AbortSignal;
}

/** What an answer from fixtures may know of its call, which is free. */
export type SandboxCallContext = Pick<PaidCallContext, 'requestId' | 'tag'>;

/** The whole answer to each call with the same parameters, `meta` included. */
export interface SandboxAnswer {
  (call: SandboxCallContext): string;
  /** The same bytes for a call without a tag, faster; null where they are not kept. Left out where they never are. */
  untagged?(requestId: string): Buffer | null;
}

/** A callback of the sandbox. */
export interface SandboxCallback extends RequestedCallback {
  /** What is pushed: the answer with `context=basic`, even if more was asked for, since it is free. */
  payload(call: SandboxCallContext): Promise<string>;
}

/** One paid endpoint. Payment, limits, settlement and errors are the same for all: `sell` and what it calls. */
export interface PaidRoute<Parameters> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What is bought, in one word, for the memo of its payment. */
  readonly word: PurposeWord;
  /**
   * Of a call that a payment alone must not open for ever: what its signed message says, and whether a payment without a
   * memo of ours is refused before anything else. Left out where a proof is not read.
   */
  readonly signIn?: { readonly statement: string; readonly needsBound: boolean };
  /** One line for the payment terms and the docs. */
  readonly description: string;
  /** Order of checks, steps 2 and 3: every fault at once. Runs before any payment is asked for. */
  parse(request: SentRequest): Parameters | Problem;
  /** A second look at a request that `parse` refuses, where the clock and the request alone do not decide. */
  reconsider?(request: SentRequest, refusal: Problem): Promise<Parameters | Problem>;
  /**
   * The answer to a free call: one in the sandbox, from fixtures (docs/design/interface.md#sandbox), or
   * one of which nothing can be answered. Null for a call that is sold. At once where the answer lies ready.
   */
  sandbox(parameters: Parameters): SandboxAnswer | Promise<SandboxAnswer> | null;
  /** The callback that a call in the sandbox asks for; left out where an endpoint has no callbacks. */
  sandboxCallbacks?(parameters: Parameters): readonly SandboxCallback[];
  /**
   * What a caller should know before it pays, as members of the 402's details and of payment instructions: whether the
   * case is known. Never fails, and never waits long. Left out where there is nothing to say.
   */
  beforePayment?(parameters: Parameters): Promise<JsonObject>;
  /** Whether the answer to a paid call is pushed too, as a callback; left out where an endpoint has none. */
  pushes?(parameters: Parameters): boolean;
  /** Base units of USDC. */
  price(parameters: Parameters): bigint;
  /** The canonical request, for payment identifiers: equal text means the same request. */
  fingerprint(parameters: Parameters): string;
  answer(parameters: Parameters, call: PaidCallContext): Promise<QueryAnswer | UnchargedAnswer | Problem>;
}

/** The price of one query: 0.99 USDC in base units (docs/design/interface.md#1). */
export const PRICE_BASE_UNITS = 990_000n;

/** Price in US dollars of an amount in base units, to the nearest double. */
export const costInUsd = (amount: bigint): number => Number(usdcText(amount));
