/** Metrics of the public port: requests by route, and calls of MCP tools. */
import type { Registry } from 'prom-client';
import type { ErrorCode } from '../../../errors.ts';
import { Tally } from './tally.ts';
import { TimeHistogram } from './time-histogram.ts';

export interface AnsweredRequest {
  readonly method: string;
  /** The pattern of the route, never the path that a caller sent. */
  readonly route: string;
  readonly status: number;
  readonly code?: ErrorCode | undefined;
  readonly seconds: number;
}

/** What became of a tool call: `refused` is an answer with an error, `failed` an error of this service. */
export type ToolOutcome = 'answered' | 'refused' | 'failed';

export interface HttpMetrics {
  requestAnswered(request: AnsweredRequest): void;
  /** @param tool a name from the list of tools, never the one that a caller sent */
  toolCalled(tool: string, outcome: ToolOutcome, seconds: number): void;
}

/** Seconds; the last is that of a query that waits for its settlement. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function httpMetrics(registry: Registry): HttpMetrics {
  const requests = new TimeHistogram(registry, {
    name: 'docket_http_request_seconds',
    help: 'Duration of answered requests of the public port, by route pattern and outcome',
    labelNames: ['route', 'method', 'outcome'],
    buckets: REQUEST_SECONDS,
  });
  const errors = new Tally(registry, {
    name: 'docket_http_errors_total',
    help: 'REST answers with an error, by its code',
    labelNames: ['code'],
  });
  const tools = new TimeHistogram(registry, {
    name: 'docket_mcp_call_seconds',
    help: 'Duration of calls of MCP tools, by outcome',
    labelNames: ['tool', 'outcome'],
    buckets: REQUEST_SECONDS,
  });
  return {
    requestAnswered({ method, route, status, code, seconds }) {
      requests.observe(seconds, route, method, outcomeOf(status));
      if (code !== undefined) errors.add(1, code);
    },
    toolCalled: (tool, outcome, seconds) => tools.observe(seconds, tool, outcome),
  };
}

/** The label `outcome`. A 402 is no fault: it states the price, or why a payment was rejected. */
export function outcomeOf(status: number): string {
  if (status < 400) return 'ok';
  if (status === 402) return 'payment_required';
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'failed';
}
