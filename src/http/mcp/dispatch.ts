/** The methods of MCP over one table of tools (docs/design/mcp.md#tools). */
import type { IncomingHttpHeaders } from 'node:http';
import { InitializeRequestParamsSchema } from '@modelcontextprotocol/core';
import type { Logger } from 'pino';
import type { Json, JsonObject } from '../../events/event.ts';
import { problemOf } from '../../failure-problem.ts';
import { currentTraceparent, inSpan } from '../../tracing/span.ts';
import type { HttpMetrics, ToolOutcome } from '../admin/metrics/http-metrics.ts';
import { nearestName } from '../nearest-name.ts';
import type { AnsweringService } from '../send-problem.ts';
import { failure, memberFault, RPC, type RpcFailure, type RpcRequest } from './json-rpc.ts';
import { inputSchemaOf } from './parameters.ts';
import { refusal } from './refusal.ts';
import { type Era, eraOf, LEGACY_REVISIONS, metaOf, NEWEST_LEGACY_REVISION, REVISIONS } from './revisions.ts';
import { INSTRUCTIONS, SERVER_INFO } from './server-info.ts';
import type { Tool, ToolCall } from './tool.ts';
import { protocolResult, type ToolResult } from './tool-result.ts';

/** The properties of a request besides its message. */
export interface Surroundings
  extends Pick<
    ToolCall,
    'requestId' | 'speaksX402' | 'sandbox' | 'address' | 'startedAt' | 'isAbandoned' | 'noteBought'
  > {
  readonly headers: IncomingHttpHeaders;
}

/** The member `result`, JSON, or why there is none. */
export type Outcome = Buffer | RpcFailure;

export type Dispatch = (request: RpcRequest, surroundings: Surroundings) => Outcome | Promise<Outcome>;

const NO_ARGUMENTS = Object.freeze({});

/** The list of tools changes only with a release of the service. */
const LIST_TTL_MS = 3_600_000;
const CACHING = { ttlMs: LIST_TTL_MS, cacheScope: 'public' } as const;

export function createDispatch(
  service: AnsweringService,
  logger: Pick<Logger, 'error'>,
  tools: readonly Tool[],
  metrics?: Pick<HttpMetrics, 'toolCalled'>,
): Dispatch {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = { tools: tools.map(definitionOf) };
  const list = {
    legacy: protocolResult(listed, 'legacy'),
    modern: protocolResult({ ...listed, ...CACHING }, 'modern'),
  };
  const nothing = protocolResult({}, 'legacy');
  const discovered = protocolResult(
    { supportedVersions: [...REVISIONS], capabilities: { tools: {} }, instructions: INSTRUCTIONS, ...CACHING },
    'modern',
  );

  const call = (params: RpcRequest['params'], around: Surroundings, era: Era): Outcome | Promise<Outcome> => {
    const { name, arguments: sent } = params;
    // Some clients send null for no arguments.
    const isObject = typeof sent === 'object' && !Array.isArray(sent);
    if (typeof name !== 'string' || (sent !== undefined && !isObject)) {
      const member = typeof name === 'string' ? 'params.arguments' : 'params.name';
      return invalid(`${member}: send {"name": "service_case_query", "arguments": {…}}.`, member);
    }
    const tool = byName.get(name);
    if (!tool) return invalid(unknownTool(name, [...byName.keys()]), 'params.name');
    const sentArguments = (sent ?? NO_ARGUMENTS) as ToolCall['sentArguments'];
    // Written out, because a spread would cost more than everything else here.
    const toolCall: ToolCall = {
      requestId: around.requestId,
      sentArguments,
      x402Payment: metaOf(params)['x402/payment'],
      speaksX402: around.speaksX402,
      sandbox: around.sandbox,
      headers: around.headers,
      address: around.address,
      startedAt: around.startedAt,
      isAbandoned: around.isAbandoned,
      noteBought: around.noteBought,
    };
    const began = performance.now();
    const ended = (outcome: ToolOutcome): void =>
      metrics?.toolCalled(name, outcome, (performance.now() - began) / 1000);
    const answered = (result: ToolResult): Buffer => {
      ended(result.parts.isError ? 'refused' : 'answered');
      return result.bytes(era);
    };
    const failed = (cause: unknown): Buffer => {
      ended('failed');
      logger.error({ err: cause, requestId: around.requestId, tool: name }, 'a tool failed');
      return refusal(service, { tool: name, requestId: around.requestId }, problemOf(cause)).bytes(era);
    };
    try {
      const result = ranInSpan(tool, toolCall);
      return result instanceof Promise ? result.then(answered, failed) : answered(result);
    } catch (error) {
      return failed(error);
    }
  };

  return ({ method, params }, around) => {
    const era = eraOf({ method, params }, around.headers);
    if (typeof era !== 'string') return era;
    switch (method) {
      case 'tools/list':
        return isFirstPage(params)
          ? list[era]
          : invalid('There is one page of tools: leave cursor out.', 'params.cursor');
      case 'tools/call':
        return call(params, around, era);
      case 'initialize':
        return era === 'legacy' ? initialize(params) : unknownMethod(method, era);
      case 'ping':
        return era === 'legacy' ? nothing : unknownMethod(method, era);
      case 'server/discover':
        return era === 'modern' ? discovered : unknownMethod(method, era);
      default:
        return unknownMethod(method, era);
    }
  };
}

/** A tool that answers at once needs no span of its own. */
function ranInSpan(tool: Tool, call: ToolCall): ReturnType<Tool['run']> {
  if (currentTraceparent() === undefined || !tool.paid) return tool.run(call);
  return inSpan(
    `tools/call ${tool.name}`,
    async () => tool.run(call),
    () => ({ attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool.name } }),
  );
}

function definitionOf({ name, title, description, parameters, queryParameters, outputSchema, paid }: Tool): JsonObject {
  return {
    name,
    title,
    description,
    inputSchema: inputSchemaOf(parameters, queryParameters),
    outputSchema,
    annotations: paid
      ? { title, readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }
      : { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function initialize(params: RpcRequest['params']): Outcome {
  const checked = InitializeRequestParamsSchema.safeParse(params);
  if (!checked.success) {
    const { member, rule } = memberFault(checked.error.issues, ['params']) ?? { member: 'params', rule: '' };
    const takes = 'initialize takes protocolVersion, capabilities and clientInfo {name, version}.';
    return invalid(`${member}: ${rule} ${takes}`, member);
  }
  const asked = String(params.protocolVersion);
  return protocolResult(
    {
      protocolVersion: LEGACY_REVISIONS.includes(asked) ? asked : NEWEST_LEGACY_REVISION,
      capabilities: { tools: {} },
      serverInfo: SERVER_INFO,
      instructions: INSTRUCTIONS,
    },
    'legacy',
  );
}

const isFirstPage = ({ cursor }: RpcRequest['params']): boolean =>
  cursor === undefined || cursor === null || cursor === '';

/** In the newer revision an unknown method is a 404, so that gateways see it. */
const unknownMethod = (method: string, era: Era): RpcFailure =>
  failure(
    RPC.methodNotFound,
    `There is no method ${method.slice(0, 100)} here.`,
    era === 'modern' ? 404 : 200,
    METHODS[era],
  );

const METHODS: Readonly<Record<Era, Json>> = {
  legacy: { methods: ['initialize', 'ping', 'tools/list', 'tools/call'] },
  modern: { methods: ['server/discover', 'tools/list', 'tools/call'] },
};

const invalid = (message: string, member: string): RpcFailure => failure(RPC.invalidParams, message, 200, { member });

function unknownTool(name: string, names: readonly string[]): string {
  const suggestion = nearestName(name, names);
  const meant = suggestion === null ? `There are ${names.join(', ')}.` : `Did you mean ${suggestion}?`;
  return `Unknown tool: ${name.slice(0, 100)}. ${meant}`;
}
