/** JSON-RPC 2.0 as MCP narrows it: ids are text or whole numbers, and only revision 2025-03-26 has batches. */
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

/** A protocol error. Errors that a model can correct are tool results instead. */
export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
  /** The HTTP status of the response. */
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
  /** A response to a request that we never sent. */
  | { readonly kind: 'response' }
  | { readonly kind: 'broken'; readonly id: RpcId; readonly failure: RpcFailure };

/** Several messages in one body, each parsed separately. */
export interface IncomingBatch {
  readonly kind: 'batch';
  readonly messages: readonly Incoming[];
}

/** Twice the depth of any tool's arguments. Deeper values could exhaust the stack of recursive code. */
const MAX_NESTING = 200;

/** Maximum messages per batch. */
const MAX_BATCH_MESSAGES = 20;

/** Reads the body of one POST. Never throws. */
export function readMessage(body: Buffer): Incoming | IncomingBatch {
  let value: unknown;
  try {
    if (!isUtf8(body)) return broken(null, RPC.parseError, 'The body is not UTF-8.');
    const text = body.toString('utf8').replace(/^\ufeff/, '');
    // A short text cannot be deeply nested.
    if (text.length > 2 * MAX_NESTING && nestingOf(text) > MAX_NESTING)
      return broken(null, RPC.invalidRequest, 'The body is nested too deeply.');
    value = JSON.parse(text);
  } catch {
    return broken(null, RPC.parseError, 'The body is not JSON.');
  }
  return Array.isArray(value) ? readBatch(value) : classified(value);
}

function readBatch(values: readonly unknown[]): Incoming | IncomingBatch {
  if (values.length === 0) return broken(null, RPC.invalidRequest, 'A batch has at least one message.');
  if (values.length > MAX_BATCH_MESSAGES) {
    return broken(null, RPC.invalidRequest, `A batch has at most ${MAX_BATCH_MESSAGES} messages.`);
  }
  return { kind: 'batch', messages: values.map(classified) };
}

const NO_MESSAGE = 'The body is no JSON-RPC 2.0 message: send {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}.';

function classified(sent: unknown): Incoming {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return broken(null, RPC.invalidRequest, NO_MESSAGE);
  }
  const value = withoutNulls(sent as Readonly<Record<string, unknown>>);
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
  const fault = faultOf(value);
  return broken(known, RPC.invalidRequest, `${fault.member}: ${fault.rule} ${NO_MESSAGE}`, { member: fault.member });
}

/** Some clients write null for omitted members. */
function withoutNulls(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { params, ...others } = value;
  if (params === null) return others;
  if (typeof params !== 'object' || (params as { readonly _meta?: unknown })._meta !== null) return value;
  const { _meta: _, ...rest } = params as Readonly<Record<string, unknown>>;
  return { ...value, params: rest };
}

/** The first invalid member of a message, and its rule. */
function faultOf(value: Readonly<Record<string, unknown>>): { readonly member: string; readonly rule: string } {
  const schema = 'method' in value ? ('id' in value ? JSONRPCRequestSchema : JSONRPCNotificationSchema) : null;
  const answer = 'error' in value ? JSONRPCErrorResponseSchema : 'result' in value ? JSONRPCResultResponseSchema : null;
  const issues = (schema ?? answer)?.safeParse(value).error?.issues ?? [];
  return memberFault(issues) ?? { member: 'method', rule: 'A request names its method.' };
}

interface SchemaIssue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/**
 * The first error in a message, with the path of its member.
 * @param within path of the checked value
 */
export function memberFault(
  issues: readonly SchemaIssue[],
  within: readonly string[] = [],
): { readonly member: string; readonly rule: string } | null {
  const [first] = issues;
  if (!first) return null;
  const path = [...within, ...first.path.map(String), ...(first.keys?.slice(0, 1) ?? [])];
  return { member: path.join('.').slice(0, 200), rule: `${first.message.slice(0, 200)}.` };
}

const broken = (id: RpcId, code: number, message: string, data?: Json): Incoming => ({
  kind: 'broken',
  id,
  failure: failure(code, message, 400, data),
});

/** The text around the member `result` of an answer. */
export const beforeResult = (id: RpcId): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
export const AFTER_RESULT = '}';

export const failureText = (id: RpcId, { code, message, data }: RpcFailure): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
