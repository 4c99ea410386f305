/** `GET /openapi.json`: OpenAPI 3.1, generated from the tables that check requests and the schemas of the answers. */
import type { Json, JsonObject } from '../../events/event.ts';
import { BATCH_CHARGING } from '../paid/batch-charging.ts';
import { PARAMETERS, type ParameterName, REQUEST_HEADERS } from '../parameters/described-parameters.ts';
import { API_VERSION } from '../v2/status.ts';
import { componentSchemas, inlineSchema, refTo } from './components.ts';
import { RESPONSE_HEADERS } from './headers.ts';
import type { Operation, OtherParameter } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { referenced } from './referenced.ts';
import { ONE_OR_SEVERAL, responsesOf } from './responses.ts';
import { CallbackEnvelope } from './schemas/wallet.ts';

const DESCRIPTION = `Court dockets for agents, paid per query: 0.99 USDC on Solana through x402 in the same call. No account, no API key.
Errors are never charged: \`error.details.charged\` is false in every error response, and \`error.details.hint\` says what to do. ${BATCH_CHARGING}
Every path that accepts \`GET\` also answers \`HEAD\`, with the same status and headers but no body. On a paid path, \`HEAD\` returns the \`402\` with its terms and ignores any payment.
Other methods return \`405\` and unknown paths \`404\`, both with the error object of this service.
Answers may gain members; ignore members that you do not recognize.`;

const TAGS: readonly (readonly [name: Operation['tag'], description: string])[] = [
  ['Cases', 'Cases, their filings and what is new.'],
  ['Wallet', 'Signing keys and callback deliveries of the paying wallet.'],
  ['Free', 'Free, without payment or authentication.'],
  ['Agents', 'The same service as MCP tools.'],
  ['Documentation', 'Documentation of this service.'],
  ['Version 1', 'Ends on 2027-04-28.'],
];

/** A payment is the only proof of identity; any of these schemes carries one. */
const SECURITY_SCHEMES: JsonObject = {
  x402_v2: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description:
      'x402 v2: base64 or base64url of JSON with the transaction that the wallet signed, following the terms in `PAYMENT-REQUIRED`.',
  },
  x402_v1: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'x402 v1: base64 or base64url of JSON with the transaction that the wallet signed, following the terms in the body of the 402.',
  },
  self_paid: {
    type: 'apiKey',
    in: 'header',
    name: 'X402-Payment',
    description:
      'Base64, base64url or base58 of a fully signed transfer, following the terms in `X-Payment-Requirements`. Do not send it to the chain.',
  },
};
/** The last entry is no payment: a sandbox call, or a request for the terms. */
const PAID_SECURITY: Json = [{ x402_v2: [] }, { x402_v1: [] }, { self_paid: [] }, {}];

/** @param publicUrl without a trailing slash */
export function openApiDocument(publicUrl: string): JsonObject {
  const paths = new Map<string, JsonObject>();
  for (const operation of OPERATIONS) {
    paths.set(operation.path, { ...paths.get(operation.path), [operation.method]: operationObject(operation) });
  }
  const operations = { paths: Object.fromEntries(paths), webhooks: { case_query_complete: { post: CALLBACK } } };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Docket Monitor',
      version: API_VERSION,
      summary: 'US and Canadian court dockets and their new filings',
      description: DESCRIPTION,
      contact: { name: 'Docket Monitor', url: `${publicUrl}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    externalDocs: { url: `${publicUrl}/docs`, description: 'Guides, reference and errors' },
    servers: [{ url: publicUrl }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
    ...operations,
    components: {
      ...referenced(operations, { schemas: componentSchemas(), headers: RESPONSE_HEADERS }),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationObject(operation: Operation): JsonObject {
  const { id, tag, summary, description, price, deprecated, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    ...(deprecated ? { deprecated } : {}),
    parameters: parametersOf(operation),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: id === 'postMcp' ? ONE_OR_SEVERAL : refTo(body.schema),
                example: body.example as Json,
              },
            },
          },
        }
      : {}),
    responses: responsesOf(operation),
    ...(price === null
      ? { security: [] }
      : { security: PAID_SECURITY, 'x-payment-info': { protocols: ['x402'], pricingMode: 'fixed', price } }),
  };
}

function parametersOf({
  required = [],
  optional = [],
  otherwise = [],
  requestHeaders = [],
  inPath = {},
}: Operation): Json {
  return [
    ...Object.entries(inPath).map(([name, description]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    ...required.map((name) => queryParameter(name, true)),
    ...optional.map((name) => queryParameter(name, false)),
    ...otherwise.map(otherParameter),
    ...requestHeaders.map((name) => {
      const { description, schema, example } = REQUEST_HEADERS[name];
      return { name, in: 'header', required: false, description, schema: inlineSchema(schema), example };
    }),
  ];
}

function queryParameter(name: ParameterName, required: boolean): JsonObject {
  const { description, schema, example } = PARAMETERS[name];
  const written = inlineSchema(schema);
  return {
    name,
    in: 'query',
    required,
    description,
    schema: written,
    example: written.type === 'integer' ? Number(example) : example,
  };
}

function otherParameter({ name, required, description, schema, example, repeated }: OtherParameter): JsonObject {
  const one = inlineSchema(schema);
  return {
    name,
    in: 'query',
    required,
    description,
    schema: repeated ? { type: 'array', items: one } : one,
    ...(repeated ? { style: 'form', explode: true } : {}),
    example: example as Json,
  };
}

const signed = (description: string): JsonObject => ({ description, schema: { type: 'string' } });

/** The callback request (docs/design/interface.md#6). */
const CALLBACK: JsonObject = {
  operationId: 'receiveCaseQueryComplete',
  summary: 'A signed copy of an answer, sent to its callback_url',
  description: 'Verify the signature over the raw body, deduplicate by Idempotency-Key, answer 2xx quickly.',
  parameters: (
    [
      ['X-Service-Signature', '`sha256=` and the hex HMAC-SHA256 of the raw body.'],
      ['X-Service-Signature-Key-Id', 'Id of the key that signed.'],
      ['X-Service-Timestamp', 'Unix seconds of this attempt. Reject requests older than 300 s.'],
      ['Idempotency-Key', 'The same on every attempt of one delivery.'],
      ['webhook-id', 'Standard Webhooks: id of the delivery.'],
      ['webhook-timestamp', 'Standard Webhooks: Unix seconds.'],
      ['webhook-signature', 'Standard Webhooks: `v1,` and base64, one for each valid key.'],
    ] as const
  ).map(([name, description]) => ({ name, in: 'header', required: true, ...signed(description) })),
  requestBody: { required: true, content: { 'application/json': { schema: refTo(CallbackEnvelope) } } },
  responses: {
    '2XX': { description: 'Acknowledged. Any other outcome is retried, up to seven attempts in total.' },
  },
  security: [],
};
