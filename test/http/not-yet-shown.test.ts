/**
 * What a caller sees of a case that is recorded but not visible yet, while the projections pause or have halted: no
 * caller is told that the case does not exist, or is charged for an incomplete answer.
 */
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventSkipped, operatorStream, projectionSubject } from '../../src/events/operator.ts';
import { settledPayments } from '../../src/queries/settled-payments.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { contextOf } from '../storage/samples.ts';
import { callTool, paymentFor } from './mcp/client.ts';
import { openWorld, type World } from './world.ts';

const docket = (docket_number: string) => ({
  court_id: 'cand',
  docket_number,
  case_name: 'Alder Row Tenants v. Lantern Street Holdings',
  date_filed: '2025-02-03',
  docket_entries: [
    { document_number: 1, date_filed: '2025-02-03', description: 'COMPLAINT. Filed by Alder Row Tenants.' },
  ],
});
const SHOWN = '4:25-cv-00101';
const UNKNOWN = '4:25-cv-00109';
const target = (path: string, number: string) => `${path}?court_code=cand&case_id=${number}`;
const SINCE = '&last_checked=2025-03-01T00:00:00Z';

let world: World;
/** One for each test, since a wallet may not ask more than 60 times a minute. */
let wallets: Keypair[];
let wallet: Keypair;
let pay: typeof fetch;
// The calls of a wallet that is not known to have paid are answered one by one. While the projections are stopped, each
// takes so long that the payments of the last ones expire. So each wallet pays once before.
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(docket(SHOWN));
  wallets = await Promise.all(Array.from({ length: 6 }, () => world.wallet(60_000_000n)));
  const settled = settledPayments(world.storage.readStore);
  for (const one of wallets) {
    pay = await world.agentOf(one);
    expect(await ask(target('/v2/case', SHOWN))).toMatchObject({ status: 200 });
    await vi.waitUntil(async () => (await settled(one.publicKey.toBase58())) === 1);
  }
}, 60_000);
beforeEach(async () => {
  wallet = wallets.pop()!;
  pay = await world.agentOf(wallet, fetch, '$5');
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
type Json = any;

interface Asked {
  readonly status: number;
  readonly code: string | null;
  readonly details: Json;
  readonly retryAfter: string | null;
}

async function ask(path: string, init?: RequestInit): Promise<Asked> {
  const response = await pay(world.url + path, init);
  const json = (await response.json()) as Json;
  const { code = null, details = null } = json.error ?? {};
  return { status: response.status, code, details, retryAfter: response.headers.get('retry-after') };
}

/** Codes of the results of a batch. */
async function askBatch(...numbers: readonly string[]): Promise<readonly string[]> {
  const response = await pay(`${world.url}/v2/cases/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queries: numbers.map((case_id) => ({ court_code: 'cand', case_id })) }),
  });
  const { results } = (await response.json()) as Json;
  return results.map((result: Json) => result.error?.code ?? result.status);
}

async function askTool(tool: string, args: object): Promise<Json> {
  const { data: terms } = await callTool(`${world.url}/v2/mcp`, tool, args);
  const { data } = await callTool(`${world.url}/v2/mcp`, tool, { ...args, payment_tx: paymentFor(terms, wallet) });
  return data;
}

/** How much the wallet's balance decreased. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const before = await world.balance(wallet);
  await work();
  return before - (await world.balance(wallet));
}

const NOT_YET = {
  status: 503,
  code: 'service_unavailable',
  details: { charged: false, component: 'read_store', retry_after: 5 },
  retryAfter: '5',
};
const NONE = { status: 404, code: 'case_not_found', details: { charged: false, enqueued: false } };

describe('an imported case while the projections are stopped', () => {
  const imported = '4:25-cv-00102';
  const paths = ['/v2/case', '/v2/monitor', '/v1/case', '/v1/monitor'];
  const targets = (number: string) => paths.map((path) => target(path, number) + SINCE);

  it('is never denied, and neither is an unknown one', async () => {
    await world.runner.stop();
    await world.importDocket(docket(imported));
    const spent = await spentBy(async () => {
      const asked = [...targets(imported), ...targets(UNKNOWN)].map((one) => ask(one));
      const byTool = ['service_case_query', 'service_case_monitor'].map((tool) =>
        askTool(tool, { court_code: 'cand', case_id: imported, last_checked: '2025-03-01T00:00:00Z' }),
      );
      for (const answer of await Promise.all(asked)) expect(answer).toMatchObject(NOT_YET);
      for (const { error } of await Promise.all(byTool)) {
        expect(error).toMatchObject({ code: 'service_unavailable', details: { component: 'read_store' } });
        expect(JSON.stringify(error)).not.toContain('case_not_found');
      }
      const codes = ['service_unavailable', 'service_unavailable'];
      expect(await askBatch(imported, UNKNOWN)).toEqual(codes);
      const { results } = await askTool('service_case_batch', {
        queries: [imported, UNKNOWN].map((case_id) => ({ court_code: 'cand', case_id })),
      });
      expect(results.map(({ error }: Json) => error.code)).toEqual(codes);
    });
    expect(spent).toBe(0n);
  });

  it('does not delay a case that is shown', async () => {
    expect(await ask(target('/v2/case', SHOWN))).toMatchObject({ status: 200 });
    expect(await askBatch(SHOWN, imported)).toEqual(['success', 'service_unavailable']);
  });

  it('does not lead to an error for a caller with our own clock', async () => {
    // A time that nobody was given, as far as is shown: whether it was cannot be told.
    const ahead = `&last_checked=${toInstant(systemClock.now() + 3_600 * MICROS_PER_SECOND)}`;
    const queries = [{ court_code: 'cand', case_id: imported, last_checked: ahead.slice('&last_checked='.length) }];
    const batch = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ queries }),
    };
    const answers = await Promise.all([
      ...paths.map((path) => ask(target(path, imported) + ahead)),
      ask('/v2/cases/batch', batch),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(NOT_YET);
  });

  it('does not lead to an incomplete history of callbacks', async () => {
    expect(await spentBy(async () => expect(await ask('/v2/wallet/deliveries')).toMatchObject(NOT_YET))).toBe(0n);
  });

  it('is answered as soon as the projections resume, for the payment sent before', async () => {
    const sent: Request[] = [];
    const agent = await world.agentOf(wallet, async (input, init) => {
      const request = new Request(input, init);
      if (request.headers.has('payment-signature')) sent.push(request.clone());
      return fetch(request);
    });
    expect((await agent(world.url + target('/v2/case', imported))).status).toBe(503);
    await world.runner.start();
    await expect.poll(() => ask(target('/v2/case', UNKNOWN))).toMatchObject(NONE);
    const [paid] = sent;
    if (!paid) throw new Error('nothing was paid');
    const spent = await spentBy(async () => expect((await fetch(paid)).status).toBe(200));
    expect(spent).toBe(990_000n);
    expect(await askBatch(UNKNOWN, imported)).toEqual(['case_not_found', 'success']);
    expect(await ask('/v2/wallet/deliveries')).toMatchObject({ status: 200 });
  });
});

describe('a case behind an event that cannot be folded', () => {
  const broken = '4:25-cv-00103';
  const behind = '4:25-cv-00104';

  it('is not denied while the projection is halted, and is answered once the event is skipped', async () => {
    const { log, payloads } = world.storage;
    await world.runner.stop();
    await world.importDocket(docket(broken));
    const events = await log.read(`docket-cand-${broken}`);
    const unreadable = events.filter(({ type }) => type === 'FilingsRecorded');
    for (const { data } of unreadable) await payloads.remove(String(data.content));
    await world.importDocket(docket(behind));
    await world.runner.start();
    const state = async () => (await world.runner.status()).find(({ projection }) => projection === 'cases')?.state;
    await expect.poll(state).toBe('halted');

    for (const number of [behind, UNKNOWN]) expect(await ask(target('/v2/case', number))).toMatchObject(NOT_YET);
    expect(await ask(target('/v2/case', SHOWN))).toMatchObject({ status: 200 });

    const stream = operatorStream(projectionSubject('cases'));
    const skips = unreadable.map(({ position }) =>
      EventSkipped.of({ projection: 'cases', position, reason: 'its text is gone' }),
    );
    const context = contextOf();
    const recordedAt = toInstant(systemClock.now());
    await log.append(prepareAppend({ stream, head: NO_STREAM, events: skips, context, recordedAt }));
    const answered = () => ask(target('/v2/case', behind));
    await expect.poll(answered).toMatchObject({ status: 200 });
    expect(await ask(target('/v2/case', UNKNOWN))).toMatchObject(NONE);
  });
});
