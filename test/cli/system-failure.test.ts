import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { main } from '../../src/cli/main.ts';
import { systemFailureHint } from '../../src/cli/system-failure.ts';

/** The first start compiles the whole service from its sources, on a machine that may be busy. */
const STARTS_WITHIN_MS = 120_000;

let folder: string;
let taken: Server;
let takenPort: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'system-failure-'));
  taken = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  takenPort = String(typeof address === 'object' && address?.port);
});
afterAll(async () => {
  taken.close();
  await rm(folder, { recursive: true, force: true });
});

async function docket(argv: readonly string[], settings: Readonly<Record<string, string>>) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  // Each start has its own folder: one that is slow to end still holds its local chain.
  const own = await mkdtemp(join(folder, 'data-'));
  const environment = {
    PORT: '0',
    ADMIN_PORT: '0',
    SOLANA_LOCAL_PORT: '0',
    LOG_LEVEL: 'silent',
    DATA_DIR: own,
    ...settings,
  };
  const code = await main(argv, { environment, stdin: new PassThrough(), stdout, stderr, interactive: false });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe('errors of the operating system are explained, without a stack', () => {
  it.each(['PORT', 'ADMIN_PORT', 'SOLANA_LOCAL_PORT'])(
    '%s is taken',
    { timeout: STARTS_WITHIN_MS },
    async (variable) => {
      const { code, out, err } = await docket(['serve', '--json'], { [variable]: takenPort });
      expect(code).toBe(EXIT.unavailable);
      expect(JSON.parse(out).error.hint).toContain(variable);
      expect(err).toContain(takenPort);
      expect(err).not.toMatch(/Unexpected|\n\s+at /);
    },
  );

  it('HOST is not an address of this machine', { timeout: STARTS_WITHIN_MS }, async () => {
    const { code, err } = await docket(['serve'], { HOST: '203.0.113.1' });
    expect(code).toBe(EXIT.unavailable);
    expect(err).toMatch(/203\.0\.113\.1.*\nSet HOST and ADMIN_HOST to addresses of this machine/);
    expect(err).not.toMatch(/Unexpected|\n\s+at /);
  });

  it('the chain of the service is not there yet', { timeout: STARTS_WITHIN_MS }, async () => {
    // Something listens there that is no chain.
    const SOLANA_RPC_URL = `http://127.0.0.1:${takenPort}`;
    const { code, err } = await docket(['serve'], { SOLANA_NETWORK: 'local', SOLANA_RPC_URL });
    expect(code).toBe(EXIT.unavailable);
    expect(err).toContain('Check SOLANA_RPC_URL and the network');
    expect(err).not.toMatch(/Unexpected|\n\s+at /);
  });

  it.each([['serve'], ['import', join(import.meta.dirname, '../../fixtures/demo-before.json')]])(
    'DATA_DIR is a file: %s',
    async (...argv) => {
      const file = join(folder, 'file');
      await writeFile(file, '');
      const { code, err } = await docket(argv, { DATA_DIR: file });
      expect(code).toBe(EXIT.unavailable);
      expect(err).toContain('Set DATA_DIR to a folder');
      expect(err).not.toMatch(/Unexpected|\n\s+at /);
    },
  );

  it('does not treat our own errors as system errors', () => {
    expect(systemFailureHint(new TypeError('x is not a function'))).toBeNull();
    expect(systemFailureHint(Object.assign(new Error('x'), { code: 'toString' }))).toBeNull();
    expect(systemFailureHint('EADDRINUSE')).toBeNull();
  });
});

describe('a reader that leaves early', () => {
  it('is not an error: it has read what it wanted', async () => {
    const program = join(import.meta.dirname, '../../bin/docket.js');
    const child = spawn(process.execPath, [program, 'courts', 'list', '--country', 'US'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, err]).toEqual([EXIT.ok, '']);
  });
});
