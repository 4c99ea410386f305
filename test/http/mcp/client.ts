/** What tests of the MCP endpoint share: raw messages, the official client, and a wallet that follows instructions. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { build, memo } from '../../solana/payment-transactions.ts';

export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
  readonly json: any;
}

/** Sends one body unchanged. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === '' ? null : JSON.parse(text) };
}

export const MODERN = '2026-07-28';

/** A request of the newer revision, with the headers that it requires. */
export function postModern(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const named: Record<string, string> = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  return post(
    url,
    { jsonrpc: '2.0', id: 1, method, params: { _meta, ...params } },
    { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...named, ...headers },
  );
}

export interface ToolAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
  readonly data: any;
  readonly isError: boolean;
  readonly text: string;
  readonly notes: readonly string[];
  readonly meta: Record<string, unknown>;
}

/** One `tools/call` without a handshake. */
export async function callTool(
  url: string,
  name: string,
  args: unknown = {},
  { meta, headers }: { meta?: Record<string, unknown>; headers?: Record<string, string> } = {},
): Promise<ToolAnswer> {
  const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
  const { json } = await post(url, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, headers);
  return unpacked(json.result);
}

// biome-ignore lint/suspicious/noExplicitAny: as it came from a client
export function unpacked(result: any): ToolAnswer {
  const [first, ...others] = result.content as { text: string }[];
  return {
    data: result.structuredContent,
    isError: result.isError === true,
    text: first?.text ?? '',
    notes: others.map(({ text }) => text),
    meta: result._meta ?? {},
  };
}

/** The SDK's own client, version 1. */
export async function sdkClient(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never);
  return client;
}

export interface Instructions {
  readonly asset: string;
  readonly recipient: string;
  readonly recipient_token_account: string;
  readonly amount_base_units: string;
  readonly recent_blockhash: string;
  readonly memo: string;
}

/** Does what payment instructions say, and nothing else. */
export function paymentFor(instructions: Instructions, wallet: Keypair): string {
  const mint = new PublicKey(instructions.asset);
  const transfer = createTransferCheckedInstruction(
    getAssociatedTokenAddressSync(mint, wallet.publicKey),
    mint,
    new PublicKey(instructions.recipient_token_account),
    wallet.publicKey,
    BigInt(instructions.amount_base_units),
    6,
  );
  return build({
    instructions: [transfer, memo(instructions.memo)],
    payer: wallet.publicKey,
    signers: [wallet],
    blockhash: instructions.recent_blockhash,
  }).toString('base64');
}
