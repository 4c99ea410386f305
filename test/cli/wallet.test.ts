import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Keypair, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { parseKey } from '../../src/solana/keys.ts';
import { openFaultyRpc } from '../solana/faulty-rpc.ts';
import { openChain, type TestChain } from '../solana/local/harness.ts';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { freePort } from '../support/processes.ts';

let chain: TestChain;
let folder: string;
beforeAll(async () => {
  chain = await openChain({ slotMs: 50 });
  folder = mkdtempSync(join(tmpdir(), 'wallet-'));
});
afterAll(async () => {
  await chain.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `docket wallet …` and returns its output. */
async function wallet(args: readonly string[], environment: NodeJS.ProcessEnv = { SOLANA_RPC_URL: chain.url }) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await main(['wallet', ...args], { environment, stdin, stdout, stderr, interactive: false });
  const text = (stream: PassThrough) => String(stream.read() ?? '');
  const out = text(stdout);
  return { code, out, err: text(stderr), json: () => JSON.parse(out) };
}

const newAddress = () => Keypair.generate().publicKey.toBase58();

describe('docket wallet new', () => {
  it('writes a key that tools can read, only for its owner, and never overwrites a file', async () => {
    const file = join(folder, 'wallet.json');
    const made = await wallet(['new', '--out', file, '--json']);
    expect(made.code).toBe(0);
    expect(made.json()).toEqual({ address: parseKey(readFileSync(file, 'utf8')).address, file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await wallet(['new', '--out', file]);
    expect(again.code).toBe(2);
    expect(again.err).toContain('never overwritten');
    expect((await wallet(['new', '--out', join(folder, 'wallet.json', 'x')])).code).toBe(2);
  });

  it('prints the key without a file', async () => {
    const { address, secret_key: secret } = (await wallet(['new', '--json'])).json();
    expect(Keypair.fromSecretKey(Uint8Array.from(secret)).publicKey.toBase58()).toBe(address);
    const [shown = '', key = ''] = (await wallet(['new'])).out.split('\n');
    expect(parseKey(key).address).toBe(shown);
  });
});

describe('docket wallet fund', () => {
  it('gives exactly the requested amount, and returns when it has arrived', async () => {
    const address = newAddress();
    const given = await wallet(['fund', address, '--usdc', '1000000.000001', '--sol', '0.05', '--json']);
    expect(given.code).toBe(0);
    expect(given.json()).toMatchObject({ address, usdc: '1000000.000001', sol: '0.05' });
    const { transactions } = given.json();
    const statuses = await chain.connection.getSignatureStatuses(transactions);
    expect(statuses.value.map((status) => status?.err)).toEqual([null, null]);
    const more = await wallet(['fund', address, '--usdc', '0.5']);
    expect(more.out).toBe(`${address} now holds 1000000.500001 USDC and 0.05 SOL.\n`);
  });

  it('rejects an invalid amount, an invalid address and no amount at all', async () => {
    const address = newAddress();
    for (const args of [
      ['fund', address],
      ['fund', address, '--usdc', '0'],
      ['fund', address, '--usdc', '1e6'],
      ['fund', address, '--usdc', '0.0000001'],
      ['fund', address, '--sol', '-1'],
      ['fund', 'nobody', '--usdc', '1'],
      ['fund'],
      ['found', address],
    ]) {
      const { code, err } = await wallet(args);
      expect([code, err.length > 0], args.join(' ')).toEqual([2, true]);
    }
    expect((await wallet(['fund', address, '--sol', '90000000'])).code).toBe(1);
  });

  it('says what to do without a local chain', async () => {
    const port = await freePort();
    const alone = await wallet(['fund', newAddress(), '--usdc', '1'], { SOLANA_LOCAL_PORT: String(port) });
    expect([alone.code, alone.err]).toEqual([3, expect.stringContaining('docket serve')]);
    const other = await openFaultyRpc(null, () => ({ type: 'error', code: -32601 }));
    const elsewhere = await wallet(['fund', newAddress(), '--usdc', '1'], { SOLANA_RPC_URL: `${other.url}/key-hush` });
    expect([elsewhere.code, elsewhere.err]).toEqual([3, expect.stringContaining('not the local chain')]);
    expect(elsewhere.err).not.toContain('hush');
    await other.close();
    expect((await wallet(['fund', newAddress(), '--usdc', '1'], { SOLANA_RPC_URL: 'ftp://x' })).code).toBe(2);
  });
});

describe('docket wallet balance', () => {
  it('shows zero for an unknown address, and finds the chain by its port', async () => {
    const address = newAddress();
    const shown = await wallet(['balance', address, '--json'], { SOLANA_LOCAL_PORT: String(chain.port) });
    expect(shown.json()).toEqual({
      address,
      token_account: tokenAccountOf(new PublicKey(address)).toBase58(),
      usdc: '0',
      sol: '0',
    });
    await wallet(['fund', address, '--usdc', '3.1', '--sol', '1']);
    expect((await wallet(['balance', address])).out).toBe('3.1 USDC\n1 SOL\n');
    const strange = { SOLANA_RPC_URL: chain.url, SOLANA_NETWORK: 'moon' };
    expect((await wallet(['balance', address], strange)).code).toBe(2);
  });

  it.each(['devnet', 'mainnet'])('never mistakes %s for the local chain', async (network) => {
    const asked = { SOLANA_NETWORK: network, SOLANA_LOCAL_PORT: String(chain.port) };
    const { code, out, err } = await wallet(['balance', newAddress()], asked);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('SOLANA_RPC_URL')]);
    const funded = await wallet(['fund', newAddress(), '--usdc', '1'], asked);
    expect([funded.code, funded.out, funded.err]).toEqual([2, '', expect.stringContaining('Nothing was given')]);
  });

  it('has help with examples', async () => {
    for (const command of [['--help'], ['new', '--help'], ['fund', '--help'], ['balance', '--help']]) {
      const { code, out } = await wallet(command);
      expect([code, out.includes('Examples:')], command.join(' ')).toEqual([0, true]);
    }
  });
});
