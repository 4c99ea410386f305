/** JSON-RPC 2.0 as MCP narrows it: one message a body, ids that are text or whole numbers. */
import { isUtf8 } from 'node:buffer';
import {
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResultResponseSchema,
} from '@modelcontextprotocol/core';
import type { Json } from '../../events/event.ts';
import { nestingOf } from '../nesting.ts';

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  unsupportedRevision: -32022,
} as const;

/** A refusal by the protocol itself. What a model can mend by itself is a tool's result instead. */
export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
  /** HTTP status that it leaves with. */
  readonly status: number;
}

export const failure = (code: number, message: string, status: number, data?: Json): RpcFailure =>
  data === undefined ? { code, message, status } : { code, message, status, data };

export type RpcId = string | number | null;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type Incoming =
  | RpcRequest
  | { readonly kind: 'notification'; readonly method: string }
  /** An answer to a request that we never sent. */
  | { readonly kind: 'response' }
  | { readonly kind: 'broken'; readonly id: RpcId; readonly failure: RpcFailure };

/** No argument of a tool is nested half as deep, and what is deeper could exhaust the stack of whoever looks at it. */
const MAX_NESTING = 200;

/** Reads the body of one POST. Never throws. */
export function readMessage(body: Buffer): Incoming {
  let value: unknown;
  try {
    if (!isUtf8(body)) return broken(null, RPC.parseError, 'The body is not UTF-8.');
    const text = body.toString('utf8').replace(/^\ufeff/, '');
    // A short text has no room to be deep.
    if (text.length > 2 * MAX_NESTING && nestingOf(text) > MAX_NESTING)
      return broken(null, RPC.invalidRequest, 'The body is nested too deeply.');
    value = JSON.parse(text);
  } catch {
    return broken(null, RPC.parseError, 'The body is not JSON.');
  }
  if (Array.isArray(value)) {
    return broken(null, RPC.invalidRequest, 'Send one JSON-RPC message in each request: there are no batches here.');
  }
  if (typeof value !== 'object' || value === null) return broken(null, RPC.invalidRequest, NO_MESSAGE);
  return classified(value as Readonly<Record<string, unknown>>);
}

const NO_MESSAGE = 'The body is no JSON-RPC 2.0 message: send {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}.';

function classified(value: Readonly<Record<string, unknown>>): Incoming {
  if (JSONRPCRequestSchema.safeParse(value).success) {
    const { id, method, params = {} } = value as unknown as RpcRequest & { readonly params?: RpcRequest['params'] };
    return { kind: 'request', id, method, params };
  }
  if (JSONRPCNotificationSchema.safeParse(value).success) return { kind: 'notification', method: String(value.method) };
  if (JSONRPCResultResponseSchema.safeParse(value).success || JSONRPCErrorResponseSchema.safeParse(value).success) {
    return { kind: 'response' };
  }
  const { id } = value;
  const known = typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null;
  return broken(known, RPC.invalidRequest, NO_MESSAGE);
}

const broken = (id: RpcId, code: number, message: string): Incoming => ({
  kind: 'broken',
  id,
  failure: failure(code, message, 400),
});

/** What stands around the member `result` of an answer. */
export const beforeResult = (id: RpcId): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
export const AFTER_RESULT = '}';

export const failureText = (id: RpcId, { code, message, data }: RpcFailure): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
