/** The responses of one endpoint, by status. */
import type { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode, statusOf } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { refTo } from './components.ts';
import { headerRef, type ResponseHeaderName } from './headers.ts';
import type { Operation } from './operation.ts';
import {
  ERROR_ENVELOPES,
  PaymentRequiredAnswer,
  V1_ERROR_ENVELOPES,
  V1PaymentRequiredAnswer,
} from './schemas/errors.ts';
import { PendingPayment, V1PendingPayment } from './schemas/payment.ts';

const JSON_TYPE = 'application/json';
const TERMS: readonly ResponseHeaderName[] = ['PAYMENT-REQUIRED', 'X-Payment-Requirements'];
/** Statuses whose answers say when to retry. */
const COME_BACK: ReadonlySet<number> = new Set([202, 404, 409, 429, 503]);

/** In the form of OpenAPI. */
export function responsesOf(operation: Operation): JsonObject {
  const responses = new Map<number, Json>();
  const { success } = operation;
  responses.set(200, response(success.description, success.headers, contentOf(operation)));
  if (operation.id === 'postMcp') {
    responses.set(202, response('A notification or a response of the client was accepted.', [], null));
    responses.set(204, response('`notifications/initialized` was accepted.', [], null));
    responses.set(403, response('Web pages of this origin may not call this endpoint.', [], jsonRpcError));
    responses.set(404, response('Unknown method in this revision of MCP.', [], jsonRpcError));
  }
  if (operation.pending) {
    const pending = json(pendingOf(operation));
    responses.set(202, response('The payment is not settled yet: retry later.', ['Retry-After'], pending));
  }
  if (operation.cached) responses.set(304, response('Not modified since the answer with this `ETag`.', [], null));
  for (const [status, codes] of byStatus(operation.errors)) responses.set(status, refusal(operation, status, codes));
  return Object.fromEntries([...responses].sort(([a], [b]) => a - b).map(([status, value]) => [String(status), value]));
}

/** A JSON-RPC message, or several in revision 2025-03-26 of MCP. */
export const ONE_OR_SEVERAL: JsonObject = {
  anyOf: [{ type: 'object' }, { type: 'array', minItems: 1, items: { type: 'object' } }],
};

const jsonRpcError: JsonObject = { [JSON_TYPE]: { schema: { type: 'object' } } };

const json = (schema: JsonObject): JsonObject => ({ [JSON_TYPE]: { schema } });

function contentOf({ path, success: { content } }: Operation): JsonObject {
  if ('schema' in content) return json(path === '/v2/mcp' ? ONE_OR_SEVERAL : refTo(content.schema));
  if ('schemas' in content) return json({ anyOf: content.schemas.map(refTo) });
  const schema = content.type === JSON_TYPE ? { type: 'object' } : { type: 'string' };
  const also = path.startsWith('/docs') ? { 'text/markdown': { schema: { type: 'string' } } } : {};
  return { [content.type]: { schema }, ...also };
}

function refusal(operation: Operation, status: number, codes: readonly ErrorCode[]): JsonObject {
  const terms = status === 402 && (operation.terms ?? operation.price !== null);
  const envelopes: Readonly<Record<ErrorCode, z.ZodType>> = isV1(operation) ? V1_ERROR_ENVELOPES : ERROR_ENVELOPES;
  const paymentRequired = isV1(operation) ? V1PaymentRequiredAnswer : PaymentRequiredAnswer;
  const schemas = terms ? [refTo(paymentRequired)] : codes.map((code) => refTo(envelopes[code]));
  const [only = {}] = schemas;
  const own: JsonObject =
    operation.path === '/v2/mcp' ? { type: 'object' } : schemas.length === 1 ? only : { anyOf: schemas };
  const description = codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].message}`).join('\n\n');
  const headers: readonly ResponseHeaderName[] = [
    ...(terms ? TERMS : []),
    ...(status === 405 ? (['Allow'] as const) : []),
    ...(COME_BACK.has(status) ? (['Retry-After'] as const) : []),
    ...(isV1(operation) ? (['Deprecation', 'Sunset', 'Link'] as const) : []),
  ];
  return response(description, headers, json(own));
}

const pendingOf = (operation: Operation): JsonObject => {
  if (operation.id === 'getResult') return { anyOf: [refTo(PendingPayment), refTo(V1PendingPayment)] };
  return refTo(isV1(operation) ? V1PendingPayment : PendingPayment);
};

const isV1 = ({ path }: Operation): boolean => path.startsWith('/v1/');

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[]) {
    if (!codes.includes(code)) continue;
    const status = statusOf(code);
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

function response(description: string, headers: readonly ResponseHeaderName[], content: JsonObject | null): JsonObject {
  const all: readonly ResponseHeaderName[] = ['X-Request-Id', ...headers];
  return {
    description,
    headers: Object.fromEntries(all.map((name) => [name, headerRef(name)])),
    ...(content === null ? {} : { content }),
  };
}
