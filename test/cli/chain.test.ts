import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { freePort, type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { ChainRpc } from '../support/rpc.ts';

let folder: string;
const running: RunningProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});

function docketChain(args: readonly string[], environment: NodeJS.ProcessEnv = {}): RunningProcess {
  const started = spawnDocket(['chain', '--data-dir', folder, ...args], environment);
  running.push(started);
  return started;
}

const exitCode = async (started: RunningProcess) => {
  await until('it ends', async () => started.child.exitCode !== null);
  return started.child.exitCode;
};

describe('docket chain', () => {
  it('prints its address, runs until SIGTERM, and keeps its state', async () => {
    const owner = Keypair.generate().publicKey;
    const account = tokenAccountOf(owner).toBase58();
    const first = docketChain(['--port', '0', '--json']);
    const said = () => JSON.parse(first.output().split('\n')[0] ?? '') as { url: string; port: number; pid: number };
    await until('it prints its address', async () => said().port > 0, { process: first });
    expect(said()).toEqual({ url: `http://127.0.0.1:${said().port}`, port: said().port, pid: first.child.pid });
    await new ChainRpc(said().url).fund(owner.toBase58(), account, 5n);
    expect(await first.stop()).toBe(0);

    const port = await freePort();
    const second = docketChain([], { SOLANA_LOCAL_PORT: String(port), SOLANA_LOCAL_SLOT_MS: '50' });
    const rpc = new ChainRpc(`http://127.0.0.1:${port}`);
    await until('it answers', async () => (await rpc.tokens(account)) === 5n, { process: second });
    const third = docketChain(['--port', '0']);
    expect(await exitCode(third)).toBe(3);
    expect(third.output()).toContain('already run by another process');
    expect(await second.stop()).toBe(0);
  });

  it('rejects production, a port in use and invalid options', async () => {
    const production = docketChain(['--port', '0'], { NODE_ENV: 'production' });
    const badSlot = docketChain(['--port', '0', '--slot-ms', '1']);
    const badPort = docketChain(['--port', '70000']);
    const codes = await Promise.all([production, badSlot, badPort].map(exitCode));
    expect(codes).toEqual([2, 2, 2]);
    expect(production.output()).toContain('NODE_ENV=production');
    expect(badPort.output()).toContain('0 to 65535');
    const port = await freePort();
    const rpc = new ChainRpc(`http://127.0.0.1:${port}`);
    const first = docketChain(['--port', String(port)]);
    await until('it answers', async () => (await rpc.call('getHealth')) === 'ok', { process: first });
    const second = spawnDocket(['chain', '--data-dir', join(folder, 'other'), '--port', String(port)], {});
    running.push(second);
    expect(await exitCode(second)).toBe(3);
    expect(second.output()).toContain('port is in use');
  });
});
