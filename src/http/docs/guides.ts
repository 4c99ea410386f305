/** The guides: the Markdown files in `docs`, filled in with the addresses of this service. */
import { readFileSync } from 'node:fs';
import { SANDBOX_KEY_ID, SANDBOX_SECRET } from '../../callbacks/sandbox-key.ts';
import type { NetworkNames } from '../../solana/addresses.ts';
import { callbackVectors } from './callback-vectors.ts';

export interface DocsFacts {
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** Where clients must reach the chain themselves if it is local; null on a public network. */
  readonly localRpcUrl: string | null;
  readonly network: NetworkNames;
}

const FOLDER = new URL('../../../docs/', import.meta.url);

/** In the order in which readers need them. */
export const GUIDES = [
  'index',
  'first-query',
  'monitoring',
  'sandbox',
  'payments',
  'results',
  'delta',
  'truncation',
  'callbacks',
  'mcp',
  'limits',
] as const;
export type GuideName = (typeof GUIDES)[number];

/** Text between these markers is shown only by a service on a local chain. */
const LOCAL_ONLY = /\{\{#local\}\}\n([\s\S]*?)\{\{\/local\}\}\n/g;

/** @throws Error if a guide uses an unknown placeholder */
export function guideText(name: GuideName, facts: DocsFacts): string {
  const { publicUrl, localRpcUrl, network } = facts;
  const values: Readonly<Record<string, string>> = {
    base_url: publicUrl,
    rpc_url: localRpcUrl ?? '',
    v2_rpc: localRpcUrl === null ? '' : `, { rpcUrl: '${localRpcUrl}' }`,
    v1_network: network.v1,
    usdc_mint: network.usdcMint,
    v1_rpc: localRpcUrl === null ? '' : `, undefined, { svmConfig: { rpcUrl: '${localRpcUrl}' } }`,
    sandbox_key_id: SANDBOX_KEY_ID,
    sandbox_secret: SANDBOX_SECRET,
    callback_vectors: callbackVectors(),
  };
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
    .replace(LOCAL_ONLY, (_whole, text: string) => (localRpcUrl === null ? '' : text))
    .replace(/\{\{(\w+)\}\}/g, (_whole, fact: string) => {
      const value = values[fact];
      if (value === undefined) throw new Error(`docs/${name}.md uses the unknown placeholder ${fact}`);
      return value;
    });
}
