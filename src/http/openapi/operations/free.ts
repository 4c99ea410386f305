/** The free endpoints, and MCP. */
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { BatchAnswer } from '../schemas/batch.ts';
import { CaseAnswer, MonitorAnswer } from '../schemas/case.ts';
import { ReceiptAnswer } from '../schemas/payment.ts';
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
    'Every court with its code, the form of its case numbers and its coverage, and the health of each part. Has no rate limit and no sandbox. Each live court lists the `source` of its dockets, the number of known cases and when the source was last read. `meta` describes this answer.',
  price: null,
  success: { description: 'The status.', headers: ['ETag'], content: { schema: StatusAnswer } },
  cached: true,
  errors: ANYWHERE,
};

const RESULT_ID = {
  result_id:
    'A secret of the buyer, not the `request_id`. The `Content-Location` of the paid answer and `payment.result_url` end in it.',
};

export const resultOperation: Operation = {
  method: 'get',
  path: '/v2/results/{result_id}',
  id: 'getResult',
  tag: 'Free',
  summary: 'Fetch a paid answer again',
  description:
    'The same bytes as the paid answer, for 30 days. While the payment is pending, returns the `202` again; after a failed payment, a `402` without terms. Returns the secret of a key at most once.',
  price: null,
  inPath: RESULT_ID,
  success: {
    description: 'The original answer.',
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

export const receiptOperation: Operation = {
  method: 'get',
  path: '/v2/results/{result_id}/receipt',
  id: 'getReceipt',
  tag: 'Free',
  summary: 'Fetch the receipt of a paid answer',
  description:
    'What the request was charged, its transfer on the chain, and the recorded events that prove it; nothing of the answer. Stays available after the answer has expired. While the payment is pending, returns the `202`; after a failed payment, a `402` without terms.',
  price: null,
  inPath: RESULT_ID,
  success: { description: 'The receipt.', headers: [], content: { schema: ReceiptAnswer } },
  pending: true,
  errors: [...ANYWHERE, 'rate_limit_exceeded', 'settlement_failed', 'result_not_found'],
  terms: false,
};

const JsonRpc = z.record(z.string(), z.unknown());

export const mcpOperation: Operation = {
  method: 'post',
  path: '/v2/mcp',
  id: 'postMcp',
  tag: 'Agents',
  summary: 'The same service over MCP (Streamable HTTP)',
  description:
    'JSON-RPC 2.0, stateless. Three tools are free; four are paid through an argument; `tools/list` describes all of them. Errors of a tool are results with `isError`. Notifications are answered without a body. With revision 2025-03-26, or without a revision, up to 20 messages may be sent as a JSON array.',
  price: null,
  optional: ['test'],
  otherwise: [
    {
      name: 'payment',
      required: false,
      description: 'With `x402`, a call without payment gets the payment-required result that x402 defines for MCP.',
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
    'OpenAPI 3.1, generated from the tables that check requests.',
  ),
  page(
    '/docs',
    'getDocs',
    'The documentation for people',
    'text/html',
    'Guides and reference as one page. With `Accept: text/markdown`, the same text as Markdown.',
  ),
  {
    ...page(
      '/docs/{page}',
      'getDocsPage',
      'One page of the documentation; append `.md` for its Markdown',
      'text/html',
      'One guide, the reference or the errors. With `Accept: text/markdown`, the same text as Markdown.',
    ),
    inPath: { page: 'Name of the page.' },
    errors: [...ANYWHERE, 'endpoint_not_found'],
  },
  page(
    '/llms.txt',
    'getLlmsTxt',
    'What a model needs to get started',
    'text/plain',
    'A summary of the service with links to the guides, as plain text.',
  ),
  page(
    '/.well-known/x402',
    'getWellKnownX402',
    'What this service sells, for x402 crawlers',
    'application/json',
    'Each paid endpoint with its payment terms.',
  ),
];
