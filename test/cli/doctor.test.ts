import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { dataFolderId } from '../../src/service/data-folder-id.ts';

let directory: string;
let admin: Server;
/** What the running service reports about itself. */
let readiness: object;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'doctor-'));
  admin = createServer((_, response) => response.end(JSON.stringify(readiness)));
  await new Promise<void>((done) => admin.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  admin.closeAllConnections();
  await new Promise((done) => admin.close(done));
  await rm(directory, { recursive: true });
});

async function doctor(...argv: string[]) {
  return doctorOf(directory, argv);
}

async function doctorOf(dataDirectory: string, argv: readonly string[] = [], more: NodeJS.ProcessEnv = {}) {
  const said: string[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        said.push(String(chunk));
        done();
      },
    });
  const { port } = admin.address() as AddressInfo;
  const environment = { DATA_DIR: dataDirectory, HOST: '127.0.0.1', ADMIN_PORT: String(port), ...more };
  const code = await main(['doctor', ...argv], {
    environment,
    stdin: process.stdin,
    stdout: sink(),
    stderr: sink(),
    interactive: false,
  });
  return { code, said: said.join('') };
}

it('shows the hint of the running service for a part, or else where to look', async () => {
  readiness = {
    ready: false,
    parts: {
      event_log: { status: 'down', reason: 'EROFS: read-only', code: 'storage_read_only', hint: 'Make it writable.' },
      chain: { status: 'degraded', reason: 'the blockhash is old' },
      callbacks: { status: 'nominal', reason: null },
    },
  };
  const { code, said } = await doctor();
  expect(code).toBe(1);
  expect(said).toMatch(/WRONG service: event_log +down: EROFS: read-only\n +Make it writable\.\n/);
  expect(said).toMatch(/WRONG service: chain +degraded: the blockhash is old\n +The reason names the cause/);
  expect(said).toMatch(/ok +service: callbacks +nominal\n/);
  const { checks } = JSON.parse((await doctor('--json')).said.split('\n')[0] as string);
  expect(checks).toContainEqual(expect.objectContaining({ part: 'service: event_log', hint: 'Make it writable.' }));
});

it('creates nothing: a missing folder stays missing, and an impossible one is reported', async () => {
  readiness = { ready: true, parts: {} };
  const coming = join(directory, 'not', 'yet');
  const first = await doctorOf(coming);
  expect(first.said).toMatch(/ok +data folder +.*does not exist yet; the first start creates it/);
  expect(existsSync(join(directory, 'not'))).toBe(false);
  await writeFile(join(directory, 'file'), '');
  const never = await doctorOf(join(directory, 'file', 'below'));
  expect([never.code, never.said]).toEqual([1, expect.stringMatching(/WRONG data folder +.*file is not a folder/)]);
});

it('does not report the health of a service with another DATA_DIR', async () => {
  const parts = { chain: { status: 'down', reason: 'unreachable' } };
  const other = join(directory, 'other');
  await mkdir(other);
  readiness = { ready: false, data_folder_id: dataFolderId(other), parts };
  const { code, said } = await doctor();
  expect(code).toBe(1);
  expect(said).toMatch(/WRONG service +the service on port \d+ serves another DATA_DIR\n/);
  expect(said).not.toContain('service: chain');
  // The same folder by another path.
  const link = join(directory, 'link');
  await symlink(other, link);
  expect((await doctorOf(link)).said).toMatch(/WRONG service: chain +down: unreachable/);
});

it('says that an https address needs a proxy, and which setting is missing', async () => {
  const proxied = { PUBLIC_URL: 'https://dockets.example' };
  expect((await doctorOf(directory, [], proxied)).said).toMatch(/WRONG proxies .+\n.+Set TRUSTED_PROXIES/);
  const trusting = { ...proxied, TRUSTED_PROXIES: '10.0.0.0/8' };
  expect((await doctorOf(directory, [], trusting)).said).toMatch(/ok +proxies +trusted: 10\.0\.0\.0\/8/);
  expect((await doctorOf(directory)).said).not.toContain('proxies');
});

it('reports an unreadable certificate file of EVENTSTORE_URL', async () => {
  readiness = { ready: true, parts: {} };
  const file = join(directory, 'missing-ca.pem');
  const { code, said } = await doctorOf(directory, [], {
    EVENTSTORE_URL: `esdb://127.0.0.1:1?tls=true&tlsCAFile=${file}`,
    MONGODB_URL: 'mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=100',
  });
  expect(code).toBe(1);
  expect(said).toMatch(/WRONG EventStoreDB +the file that tlsCAFile in EVENTSTORE_URL names cannot be read\n/);
  expect(said).toMatch(/WRONG master key +not checked: no event log\n/);
});
