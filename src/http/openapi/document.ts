/** `GET /openapi.json`: OpenAPI 3.1, written from the tables that check requests and the schemas of the answers. */
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

const DESCRIPTION = `Court dockets for agents, paid per query: 0.99 USDC on Solana by x402 in the same call. No account, no key.
A refusal never costs anything: \`error.details.charged\` is false in every one, \`error.details.hint\` says what to do. ${BATCH_CHARGING}
Every \`GET\` address answers \`HEAD\` with the same status and headers and no body; on a paid one that is the \`402\` with its terms, and no payment is read.
Every address answers \`405\` to other methods and every other address \`404\`, both with this service's error object.
Answers may gain members; pass over those that you do not know.`;

const TAGS: readonly (readonly [name: Operation['tag'], description: string])[] = [
  ['Cases', 'Cases, their filings and what is new.'],
  ['Wallet', 'What belongs to the paying wallet: keys and deliveries of its callbacks.'],
  ['Free', 'Costs nothing and needs nothing.'],
  ['Agents', 'The same service for models.'],
  ['Documentation', 'This service, described.'],
  ['Version 1', 'Ends on 2027-04-28.'],
];

/** A payment is the only proof of who calls; any one of these is one. */
const SECURITY_SCHEMES: JsonObject = {
  x402_v2: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description:
      'x402 v2: base64 or base64url of JSON with the transaction that the wallet signed, by the terms of `PAYMENT-REQUIRED`.',
  },
  x402_v1: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'x402 v1: base64 or base64url of JSON with the transaction that the wallet signed, by the terms in the body of the 402.',
  },
  self_paid: {
    type: 'apiKey',
    in: 'header',
    name: 'X402-Payment',
    description:
      'Base64, base64url or base58 of a fully signed transfer, by the terms of `X-Payment-Requirements`. Do not send it to the chain.',
  },
};
/** The last one is no payment at all: the sandbox, or the question for the terms. */
const PAID_SECURITY: Json = [{ x402_v2: [] }, { x402_v1: [] }, { self_paid: [] }, {}];

/** @param publicUrl without a slash at the end */
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
      summary: 'US and Canadian court dockets, and what is new in them',
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

/** What a receiver is sent (docs/design/interface.md#6). */
const CALLBACK: JsonObject = {
  operationId: 'receiveCaseQueryComplete',
  summary: 'A signed copy of an answer, pushed to its callback_url',
  description: 'Verify the signature over the raw body, deduplicate by Idempotency-Key, answer 2xx quickly.',
  parameters: (
    [
      ['X-Service-Signature', '`sha256=` and the hex HMAC-SHA256 of the raw body.'],
      ['X-Service-Signature-Key-Id', 'Which key signed.'],
      ['X-Service-Timestamp', 'Unix seconds of this attempt: refuse what is older than 300 s.'],
      ['Idempotency-Key', 'The same on every attempt of one delivery.'],
      ['webhook-id', 'Standard Webhooks: id of the delivery.'],
      ['webhook-timestamp', 'Standard Webhooks: Unix seconds.'],
      ['webhook-signature', 'Standard Webhooks: `v1,` and base64, one for each valid key.'],
    ] as const
  ).map(([name, description]) => ({ name, in: 'header', required: true, ...signed(description) })),
  requestBody: { required: true, content: { 'application/json': { schema: refTo(CallbackEnvelope) } } },
  responses: {
    '2XX': { description: 'Acknowledged. Anything else is tried again, seven times in all.' },
  },
  security: [],
};
