/** A tool as the dispatcher sees it: one row of a table. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PurchaseOutcome } from '../../commands/purchase/contract.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Parameters } from './parameters.ts';
import type { ToolResult } from './tool-result.ts';

/** One `tools/call`, of any revision of the protocol. */
export interface ToolCall {
  /** UUIDv4 of the HTTP request. */
  readonly requestId: string;
  /** As sent; empty if there were none. */
  readonly sentArguments: Readonly<Record<string, unknown>>;
  /** The value of `_meta["x402/payment"]`; undefined if absent. */
  readonly x402Payment: unknown;
  /** Whether the caller requested errors in x402's form. */
  readonly speaksX402: boolean;
  /** Whether the caller requested fixtures, which are free. */
  readonly sandbox: boolean;
  readonly headers: IncomingHttpHeaders;
  /** The client's address; null if only a proxy's is known. */
  readonly address: string | null;
  /** `performance.now()` at the arrival of the request. */
  readonly startedAt: number;
  /** Whether the caller has disconnected. */
  isAbandoned(): boolean;
  /**
   * Call it with the outcome of each purchase.
   * @param requestId the request id of the purchase
   */
  noteBought(requestId: string, outcome: PurchaseOutcome): void;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** What it does, when not to use it, its price and its result. */
  readonly description: string;
  readonly parameters: Parameters;
  /** The parameters of each query, if the tool accepts a list of queries. */
  readonly queryParameters?: Parameters;
  /** An open object, because answers, payment instructions and errors must all match it. */
  readonly outputSchema: JsonObject;
  /** Free tools only read. Paid tools move money but delete nothing. */
  readonly paid: boolean;
  run(call: ToolCall): ToolResult | Promise<ToolResult>;
}
