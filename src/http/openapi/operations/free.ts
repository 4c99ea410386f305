/** The endpoints that cost nothing, and MCP. */
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { BatchAnswer } from '../schemas/batch.ts';
import { CaseAnswer, MonitorAnswer } from '../schemas/case.ts';
import { StatusAnswer } from '../schemas/status.ts';
import { V1CaseAnswer, V1MonitorAnswer } from '../schemas/v1.ts';
import { DeliveriesAnswer, KeysAnswer, RotationAnswer } from '../schemas/wallet.ts';
import { ANYWHERE } from './codes.ts';

export const statusOperation: Operation = {
  method: 'get',
  path: '/v2/status',
  id: 'getStatus',
  tag: 'Free',
  summary: 'Courts and health',
  description:
    'Every court with its code, the form of its case numbers and its coverage; the health of each part. Never limited, never from the sandbox. Each live court names the `source` of its dockets, the number of cases known and when the source was last read. `meta` is that of this answer.',
  price: null,
  success: { description: 'The status.', headers: ['ETag'], content: { schema: StatusAnswer } },
  cached: true,
  errors: ANYWHERE,
};

export const resultOperation: Operation = {
  method: 'get',
  path: '/v2/results/{result_id}',
  id: 'getResult',
  tag: 'Free',
  summary: 'A paid answer again',
  description:
    'The same bytes as the answer that was paid for, for 30 days. While its payment is pending the `202` again; a payment that failed is a `402` without terms. The secret of a key is handed out here once at most.',
  price: null,
  inPath: {
    result_id:
      'A secret of its buyer, and no `request_id`: the `Content-Location` of the paid answer and `payment.result_url` end in it.',
  },
  success: {
    description: 'The answer, as it was given.',
    headers: ['Content-Location', 'ETag'],
    content: {
      schemas: [
        CaseAnswer,
        MonitorAnswer,
        BatchAnswer,
        KeysAnswer,
        RotationAnswer,
        DeliveriesAnswer,
        V1CaseAnswer,
        V1MonitorAnswer,
      ],
    },
  },
  pending: true,
  cached: true,
  errors: [
    ...ANYWHERE,
    'rate_limit_exceeded',
    'settlement_failed',
    'result_not_found',
    'result_gone',
    'result_damaged',
  ],
  terms: false,
};

const JsonRpc = z.record(z.string(), z.unknown());

export const mcpOperation: Operation = {
  method: 'post',
  path: '/v2/mcp',
  id: 'postMcp',
  tag: 'Agents',
  summary: 'The same service for models: MCP over Streamable HTTP',
  description:
    'JSON-RPC 2.0, stateless. Three free tools and four that are paid for by an argument; `tools/list` describes all of them. Refusals of a tool are results with `isError`. Notifications are answered without a body. In revision 2025-03-26, or where no revision is named, up to 20 messages may come as a JSON array.',
  price: null,
  optional: ['test'],
  otherwise: [
    {
      name: 'payment',
      required: false,
      description: 'With `x402`, a call without payment is answered in the form that x402 gives refusals over MCP.',
      schema: z.literal('x402'),
      example: 'x402',
    },
  ],
  requestHeaders: ['X-Service-Tag', 'X-Service-Test'],
  body: { schema: JsonRpc, example: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  success: { description: 'The JSON-RPC answer.', headers: [], content: { schema: JsonRpc } },
  errors: [...ANYWHERE, 'unsupported_media_type', 'method_not_allowed'],
};

const page = (path: string, id: string, summary: string, type: string, description: string): Operation => ({
  method: 'get',
  path,
  id,
  tag: 'Documentation',
  summary,
  description,
  price: null,
  success: { description: summary, headers: ['ETag'], content: { type } },
  cached: true,
  errors: ANYWHERE,
});

export const DOCUMENTATION: readonly Operation[] = [
  page(
    '/openapi.json',
    'getOpenApi',
    'This document',
    'application/json',
    'OpenAPI 3.1, written from the tables that check requests.',
  ),
  page(
    '/docs',
    'getDocs',
    'The documentation, for people',
    'text/html',
    'Guides and reference as one page. With `Accept: text/markdown` the same text as Markdown.',
  ),
  {
    ...page(
      '/docs/{page}',
      'getDocsPage',
      'One page of it; with `.md` at the end its Markdown',
      'text/html',
      'One guide, the reference or the errors. With `Accept: text/markdown` the same text as Markdown.',
    ),
    inPath: { page: 'Name of the page.' },
    errors: [...ANYWHERE, 'endpoint_not_found'],
  },
  page(
    '/llms.txt',
    'getLlmsTxt',
    'What a model needs to begin',
    'text/plain',
    'A summary of the service with links to the guides, as plain text.',
  ),
  page(
    '/.well-known/x402',
    'getWellKnownX402',
    'What is sold here, for crawlers of x402',
    'application/json',
    'Each paid endpoint with its terms of payment.',
  ),
];
