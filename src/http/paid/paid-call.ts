/** The interface between paid endpoints and the rest of the HTTP layer: parameters in, a priced answer out. */
import type { QueryAnswer, RequestedCallback, UnchargedAnswer } from '../../commands/purchase/query-run.ts';
import type { GivenProof } from '../../commands/signing-key/sign-in.ts';
import type { Problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { SentRequest } from '../parameters/request-parameters.ts';
import type { PurposeWord } from '../x402/purpose.ts';

/** What a paid answer can use from its call. */
export interface PaidCallContext {
  readonly requestId: string;
  /** The paying wallet: base58 address. */
  readonly wallet: string;
  /** The network of the caller's address; null if that is unknown or inside. */
  readonly site: string | null;
  /** The call's price in US dollars, exact cents, for `meta.query_cost_usd`. */
  readonly costUsd: number;
  /** `X-Service-Tag`, checked. */
  readonly tag: string | null;
  /** Message hash of the payment. */
  readonly payment: string;
  /** Whether its memo names this call. */
  readonly isBound: boolean;
  /** The wallet's signed message, verified; null if none was sent. */
  readonly proof: GivenProof | null;
  /** Aborts at the query deadline. */
  readonly signal: AbortSignal;
}

/** What an answer from fixtures can use from its call, which is free. */
export type SandboxCallContext = Pick<PaidCallContext, 'requestId' | 'tag'>;

/** The complete answer to every call with the same parameters, including `meta`. */
export interface SandboxAnswer {
  (call: SandboxCallContext): string;
  /** The same bytes for a call without a tag, faster; null if they are not cached. Omitted if they never are. */
  untagged?(requestId: string): Buffer | null;
}

/** A callback of the sandbox. */
export interface SandboxCallback extends RequestedCallback {
  /** The pushed content: the free answer with `context=basic`, even if the call requested more. */
  payload(call: SandboxCallContext): Promise<string>;
}

/** One paid endpoint. Payment, limits, settlement and errors are handled by `sell` for all of them. */
export interface PaidRoute<Parameters> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The purpose, in one word, for the memo of its payment. */
  readonly word: PurposeWord;
  /**
   * For a call that a payment alone must not open forever: the statement of its signed message, and whether a payment
   * without our memo is rejected before anything else. Omitted if the call reads no proof.
   */
  readonly signIn?: { readonly statement: string; readonly needsBound: boolean };
  /** One line for the payment terms and the docs. */
  readonly description: string;
  /** Steps 2 and 3 of the order of checks: reports all errors at once. Runs before any payment is requested. */
  parse(request: SentRequest): Parameters | Problem;
  /** A second check of a request that `parse` rejects, if more than the clock and the request decides. */
  reconsider?(request: SentRequest, refusal: Problem): Promise<Parameters | Problem>;
  /**
   * The answer to a free call: one in the sandbox, from fixtures (docs/design/interface.md#sandbox), or one of which no
   * part can be answered. Null for a call that is sold. Synchronous if the answer is cached.
   */
  sandbox(parameters: Parameters): SandboxAnswer | Promise<SandboxAnswer> | null;
  /** The callbacks that a sandbox call requests; omitted if the endpoint has none. */
  sandboxCallbacks?(parameters: Parameters): readonly SandboxCallback[];
  /**
   * What a caller should know before it pays, e.g. whether the case is known: members of the 402's details and of
   * payment instructions. Never fails or waits long. Omitted if there is nothing to report.
   */
  beforePayment?(parameters: Parameters): Promise<JsonObject>;
  /** Whether the answer to a paid call is also pushed as a callback; omitted if the endpoint has no callbacks. */
  pushes?(parameters: Parameters): boolean;
  /** How many queries the call is charged for: its price is theirs, and both are recorded. */
  queries(parameters: Parameters): number;
  /** The canonical request, for payment identifiers: equal text means the same request. */
  fingerprint(parameters: Parameters): string;
  answer(parameters: Parameters, call: PaidCallContext): Promise<QueryAnswer | UnchargedAnswer | Problem>;
}

/** Price in US dollars of an amount in base units, to the nearest double. */
export const costInUsd = (amount: bigint): number => Number(usdcText(amount));
