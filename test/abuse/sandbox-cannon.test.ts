/**
 * The attack: free sandbox calls with a `callback_url` on ever new names that all resolve to one victim, from several
 * clients and through several nodes, each asking for the largest docket.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createOutbound } from '../../src/callbacks/outbound/guarded-outbound.ts';
import type { Outbound, PostOutcome } from '../../src/callbacks/outbound/outbound.ts';
import { siteOf } from '../../src/http/address-limit.ts';
import {
  createSandboxCallbacks,
  SANDBOX_CALLBACKS_IN_ALL,
  SANDBOX_CALLBACKS_PER_MINUTE,
} from '../../src/http/sandbox/sandbox-callbacks.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { silent } from '../http/serving.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { openTestStorage } from '../support/storage.ts';
import { startFreeService } from './free-service.ts';

const VICTIM = '127.0.0.1';
/** Maximum bytes on the wire of one callback, including headers and envelope. */
const SMALL = 4_096;

let directory: string;
let storage: Awaited<ReturnType<typeof openTestStorage>>;
let dns: DnsServer;
let victim: Server;
let received = 0;
let posts = 0;
const outcomes: PostOutcome[] = [];
const nodes: { port: number; close(): Promise<void> }[] = [];
const outbounds: Outbound[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-cannon-'));
  storage = await openTestStorage(directory);
  dns = await startDnsServer((name, family) =>
    family === 4 && name.endsWith('.cannon.example') ? [VICTIM] : 'NXDOMAIN',
  );
  victim = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (part) => {
      received += part.length;
      posts += part.toString('latin1').split('POST /').length - 1;
      if (part.toString('latin1').endsWith('}}')) socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    });
  });
  await new Promise<void>((listening) => victim.listen(0, VICTIM, listening));
  for (let node = 0; node < 2; node++) {
    const outbound = createOutbound({ dnsServers: [dns.address], isPublic: (address) => address === VICTIM });
    outbounds.push(outbound);
    const counted: Pick<Outbound, 'post'> = {
      async post(sent) {
        const outcome = await outbound.post(sent);
        outcomes.push(outcome);
        return outcome;
      },
    };
    const dependencies = {
      counters: storage.readStore,
      clock: systemClock,
      logger: silent,
      userAgent: 'DocketMonitor/test',
    };
    nodes.push(
      await startFreeService({ sandboxCallbacks: createSandboxCallbacks({ outbound: counted, ...dependencies }) }),
    );
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close();
  for (const outbound of outbounds) await outbound.close();
  await new Promise((closed) => victim.close(closed));
  await dns.close();
  await storage.close();
  await rm(directory, { recursive: true });
});

/** Returns the size of the request in bytes. */
function shoot(shot: number, context: string): Promise<number> {
  const { port: victimPort } = victim.address() as { port: number };
  const url = encodeURIComponent(`http://v${shot}.cannon.example:${victimPort}/`);
  const path = `/v2/case?test=1&court_code=jpml&case_id=MDL%203047&context=${context}&callback_url=${url}`;
  const node = nodes[shot % nodes.length];
  return new Promise((done, failed) => {
    const sent = request({ port: node?.port, host: '127.0.0.1', path, localAddress: `127.0.1.${(shot % 6) + 1}` });
    sent.on('response', (response) => {
      response.resume().on('end', () => done(sent.socket?.bytesWritten ?? 0));
    });
    sent.on('error', failed);
    sent.end();
  });
}

it('a victim gets ten small callbacks a minute, regardless of names, clients and nodes', async () => {
  const shots = 24;
  let spent = 0;
  for (let shot = 0; shot < shots; shot++) spent += await shoot(shot, 'full');
  await vi.waitFor(() => expect(outcomes).toHaveLength(shots), { timeout: 15_000 });
  expect(posts).toBe(SANDBOX_CALLBACKS_PER_MINUTE);
  expect(outcomes.filter(({ responseCode }) => responseCode === 204)).toHaveLength(SANDBOX_CALLBACKS_PER_MINUTE);
  expect(outcomes.filter(({ failureClass }) => failureClass === 'interrupted')).toHaveLength(
    shots - SANDBOX_CALLBACKS_PER_MINUTE,
  );
  expect(received).toBeLessThan(SANDBOX_CALLBACKS_PER_MINUTE * SMALL);
  // It was 8,900 times.
  expect(received / spent).toBeLessThan(16);
});

it('above the limit of all nodes together no callback is sent', async () => {
  const minute = 60 * MICROS_PER_SECOND;
  const all = 'sandbox-callbacks in all';
  const { count } = await storage.readStore.increment(all, 0, SANDBOX_CALLBACKS_IN_ALL, systemClock.now(), minute);
  await storage.readStore.increment(
    all,
    SANDBOX_CALLBACKS_IN_ALL - count,
    SANDBOX_CALLBACKS_IN_ALL,
    systemClock.now(),
    minute,
  );
  const before = [dns.asked.length, outcomes.length];
  await shoot(100, 'basic');
  await shoot(101, 'basic');
  await vi.waitFor(async () => {
    const next = await storage.readStore.increment(all, 1, SANDBOX_CALLBACKS_IN_ALL, systemClock.now(), minute);
    expect(next.allowed).toBe(false);
  });
  expect([dns.asked.length, outcomes.length]).toEqual(before);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2::9', '2001:db8:1'],
  ['2001:db8:1:ffff::9', '2001:db8:1'],
])('%s is counted as %s', (address, site) => expect(siteOf(address)).toBe(site));
