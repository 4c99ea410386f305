/**
 * The supported revisions of MCP, and how a request selects one: revisions up to 2025-11-25 start with `initialize`,
 * and 2026-07-28 is named in every request (docs/design/mcp.md#revisions).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { failure, RPC, type RpcFailure } from './json-rpc.ts';

const MODERN_REVISION = '2026-07-28';
/** Newest first. */
export const LEGACY_REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
export const NEWEST_LEGACY_REVISION = '2025-11-25';
export const REVISIONS: readonly string[] = [MODERN_REVISION, ...LEGACY_REVISIONS];

export const META_KEYS = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** The two protocols differ only in the envelope; the tools are the same. */
export type Era = 'legacy' | 'modern';

export interface AddressedMessage {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The revision for answering a request, or why there is none. */
export function eraOf(message: AddressedMessage, headers: IncomingHttpHeaders): Era | RpcFailure {
  const meta = metaOf(message.params);
  const claimed = meta[META_KEYS.protocolVersion];
  if (claimed === undefined || (typeof claimed === 'string' && LEGACY_REVISIONS.includes(claimed))) {
    return legacyOr(message.method, headers['mcp-protocol-version']);
  }
  if (typeof claimed !== 'string') return incomplete([META_KEYS.protocolVersion]);
  if (claimed !== MODERN_REVISION) return unsupported(claimed);
  const capabilities = meta[META_KEYS.clientCapabilities];
  if (typeof capabilities !== 'object' || capabilities === null) return incomplete([META_KEYS.clientCapabilities]);
  return mismatch(message, headers) ?? 'modern';
}

/** The only revision with batches of messages; also assumed for clients that name no revision. */
const BATCH_REVISION = '2025-03-26';

export function takesBatches(headers: IncomingHttpHeaders): boolean {
  const named = headers['mcp-protocol-version']?.toString();
  return named === undefined || named === BATCH_REVISION;
}

/** Checks only whether a notification names a supported revision. */
export function refuseNotification(headers: IncomingHttpHeaders): RpcFailure | null {
  const named = headers['mcp-protocol-version']?.toString();
  return named === undefined || REVISIONS.includes(named) ? null : unsupported(named);
}

export function metaOf(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const meta = params._meta;
  return typeof meta === 'object' && meta !== null ? (meta as Readonly<Record<string, unknown>>) : {};
}

/**
 * Without the header the rules of 2025-03-26 apply. Any supported revision is accepted, regardless of what was
 * negotiated.
 */
function legacyOr(method: string, named: string | readonly string[] | undefined): Era | RpcFailure {
  if (named === undefined || method === 'initialize' || LEGACY_REVISIONS.includes(named.toString())) return 'legacy';
  if (named === MODERN_REVISION) return incomplete([META_KEYS.protocolVersion, META_KEYS.clientCapabilities]);
  return unsupported(named.toString());
}

const incomplete = (keys: readonly string[]): RpcFailure =>
  failure(
    RPC.invalidParams,
    `Each request of revision ${MODERN_REVISION} carries ${keys.join(' and ')} in params._meta.`,
    400,
    { missing: [...keys] },
  );

const unsupported = (requested: string): RpcFailure =>
  failure(RPC.unsupportedRevision, 'Unsupported protocol version', 400, {
    supported: [...REVISIONS],
    requested: requested.slice(0, 100),
  });

/** Gateways route by these headers, so a request whose body contradicts them is rejected. */
function mismatch({ method, params }: AddressedMessage, headers: IncomingHttpHeaders): RpcFailure | null {
  const pairs: [header: string, body: string][] = [
    ['MCP-Protocol-Version', MODERN_REVISION],
    ['Mcp-Method', method],
  ];
  if (method === 'tools/call' && typeof params.name === 'string') pairs.push(['Mcp-Name', params.name]);
  for (const [header, body] of pairs) {
    const sent = headers[header.toLowerCase()]?.toString();
    const value = sent !== undefined && header === 'Mcp-Name' ? decodedName(sent) : sent;
    if (value === body) continue;
    const says = sent === undefined ? 'is missing' : `is '${sent.slice(0, 100)}'`;
    return failure(
      RPC.headerMismatch,
      `Header mismatch: ${header} ${says}; the body says '${body.slice(0, 100)}'`,
      400,
    );
  }
  return null;
}

const ENCODED_NAME = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Decodes a name that no header can contain, sent as base64 of its UTF-8 bytes. */
function decodedName(sent: string): string {
  const encoded = ENCODED_NAME.exec(sent)?.[1];
  return encoded === undefined ? sent : Buffer.from(encoded, 'base64').toString('utf8');
}
