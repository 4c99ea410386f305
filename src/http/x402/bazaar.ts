/**
 * The extension `bazaar` of x402 v2: what a facilitator needs to list an endpoint, made from the same table as the OpenAPI
 * document. Clients send the whole 402 back in a header, and proxies limit all headers of an answer to 4 kB together, so
 * it is kept short.
 */
import type { Json, JsonObject } from '../../events/event.ts';
import { inlineSchema } from '../openapi/components.ts';
import type { Operation } from '../openapi/operation.ts';
import { OPERATIONS } from '../openapi/operations.ts';
import { PARAMETERS } from '../parameters/described-parameters.ts';

export const BAZAAR = 'bazaar';

type Method = 'GET' | 'POST';

const made = new Map<string, JsonObject | null>();

/** Null for a path that is not documented. */
export function discoveryOf(method: Method, path: string): JsonObject | null {
  const key = `${method} ${path}`;
  let discovery = made.get(key);
  if (discovery === undefined) {
    const operation = OPERATIONS.find((each) => each.path === path && each.method.toUpperCase() === method);
    discovery = operation ? write(operation, method) : null;
    made.set(key, discovery);
  }
  return discovery;
}

function write({ required = [], optional = [], body }: Operation, method: Method): JsonObject {
  const names = [...required, ...optional];
  const properties = Object.fromEntries(names.map((name) => [name, shortSchema(name)]));
  const example = Object.fromEntries(required.map((name) => [name, PARAMETERS[name].example]));
  const sent = body ? { bodyType: 'json', body: body.example as Json } : null;
  // A rotation has no body, but the extension allows no POST without one.
  const without = method === 'POST' ? { bodyType: 'json', body: {} } : null;
  const input = sent ?? without;
  return {
    info: {
      input: { type: 'http', method, ...input, ...(input ? {} : { queryParams: example }) },
      output: { type: 'json' },
    },
    schema: {
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { const: 'http' },
            method: { const: method },
            ...(input
              ? { bodyType: { const: 'json' }, body: { type: 'object' } }
              : {
                  queryParams: { type: 'object', properties, ...(required.length ? { required: [...required] } : {}) },
                }),
          },
          required: ['type', 'method', ...(input ? ['bodyType', 'body'] : [])],
        },
      },
      required: ['input'],
    },
  };
}

function shortSchema(name: keyof typeof PARAMETERS): JsonObject {
  const { type, enum: choices } = inlineSchema(PARAMETERS[name].schema);
  if (choices !== undefined) return { enum: choices };
  // Query parameters are strings by default.
  return type === undefined || type === 'string' ? {} : { type };
}
