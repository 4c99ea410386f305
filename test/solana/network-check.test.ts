/**
 * Given an endpoint of another network, when the service starts, then it fails, regardless of the other endpoints in
 * the list.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/config/configuration-error.ts';
import { readConfig } from '../../src/config.ts';
import { Undo } from '../../src/runtime/undo.ts';
import { openPaymentChain } from '../../src/service/payment-chain.ts';
import { GENESIS_HASHES } from '../../src/solana/addresses.ts';
import { SolanaKey } from '../../src/solana/keys.ts';
import { silent } from '../http/serving.ts';

const TESTNET = '4uhcVJyU9pJkvQyS88uRDiswHXSGkY3zQawwpjk2NsNY';
const PRIVATE = '11111111111111111111111111111111';

const servers: Server[] = [];
const urls: Record<string, string> = {};
let directory: string;

/** An endpoint that knows only its genesis. */
async function endpoint(genesisHash: string): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const answer = ({ id, method }: { id: number; method: string }) =>
      method === 'getGenesisHash'
        ? { jsonrpc: '2.0', id, result: genesisHash }
        : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
    const asked = JSON.parse(text);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/secret-key`;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'network-check-'));
  for (const [name, hash] of Object.entries({ ...GENESIS_HASHES, testnet: TESTNET, private: PRIVATE })) {
    urls[name] = await endpoint(hash);
  }
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(directory, { recursive: true, force: true });
});

async function start(network: string, endpoints: readonly string[]): Promise<unknown> {
  const config = readConfig({
    DATA_DIR: directory,
    SOLANA_NETWORK: network,
    SOLANA_RPC_URL: endpoints.map((name) => urls[name] ?? name).join(','),
    PAY_TO: SolanaKey.generate().address,
    FEE_PAYER_KEY: JSON.stringify([...SolanaKey.generate().secretKey()]),
  });
  const undo = new Undo();
  try {
    await openPaymentChain(config, silent, undo);
    return null;
  } catch (error) {
    return error;
  } finally {
    await undo.run(1_000);
  }
}

it.each([
  ['mainnet', ['devnet'], 'endpoint 1 of 1 serves devnet, but SOLANA_NETWORK is mainnet'],
  ['mainnet', ['mainnet', 'testnet'], 'endpoint 2 of 2 serves testnet'],
  ['mainnet', ['private'], 'serves a private chain'],
  ['devnet', ['devnet', 'http://127.0.0.1:1', 'mainnet'], 'endpoint 3 of 3 serves mainnet'],
  ['local', ['devnet'], 'endpoint 1 of 1 serves devnet, but SOLANA_NETWORK is local'],
  ['local', ['testnet'], 'serves testnet'],
])('%s on %j', async (network, endpoints, told) => {
  const error = await start(network, endpoints);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(String(error)).toContain(told);
  expect(String(error)).not.toContain('secret-key');
});

it.each([
  ['mainnet', ['mainnet']],
  ['devnet', ['http://127.0.0.1:1', 'devnet']],
])('%s on %j starts', async (network, endpoints) => {
  expect(await start(network, endpoints)).toBeNull();
});
