/** What a tool is to the dispatch: one row of a table. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PurchaseOutcome } from '../../commands/purchase/contract.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Parameters } from './parameters.ts';
import type { ToolResult } from './tool-result.ts';

/** One `tools/call`, of any revision of the protocol. */
export interface ToolCall {
  /** UUIDv4 of the HTTP request. */
  readonly requestId: string;
  /** As sent; none where nothing was. */
  readonly sentArguments: Readonly<Record<string, unknown>>;
  /** What `_meta["x402/payment"]` holds; undefined where it is not there. */
  readonly x402Payment: unknown;
  /** Whether the caller asked for refusals in the form of x402. */
  readonly speaksX402: boolean;
  /** Whether fixtures are asked for, which cost nothing. */
  readonly sandbox: boolean;
  readonly headers: IncomingHttpHeaders;
  /** The client's address; null where only a proxy's is known. */
  readonly address: string | null;
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  /** Whether the caller has broken off. */
  isAbandoned(): boolean;
  /**
   * To be called with what became of each purchase of the call.
   * @param requestId that it was made with
   */
  noteBought(requestId: string, outcome: PurchaseOutcome): void;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** What it does, when not to use it, the price, what comes back. */
  readonly description: string;
  readonly parameters: Parameters;
  /** Of each query, where the tool takes a list of them. */
  readonly queryParameters?: Parameters;
  /** An open object: it admits answers, payment instructions and refusals alike. */
  readonly outputSchema: JsonObject;
  /** Free tools only read; paid ones move money, and destroy nothing. */
  readonly paid: boolean;
  run(call: ToolCall): ToolResult | Promise<ToolResult>;
}
