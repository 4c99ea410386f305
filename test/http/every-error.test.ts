/** Every code of the catalogue, as a caller sees it: over a real socket, with its status and its place in the docs. */
import { randomUUID } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import { V1_ENDS } from '../../src/http/v1/sunset.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { dead } from '../payments/steering.ts';
import { altered, openWorld as openPayments, type World as Payments } from '../payments/world.ts';
import { type AnswerBody, rawRequest } from './raw-request.ts';
import { openWorld, type World } from './world.ts';

const CASE = '/v2/case?court_code=cand&case_id=4:25-cv-00777';
const docketOf = (number: string, entries: object[] = []) => ({
  court_id: 'cand',
  docket_number: number,
  case_name: 'Birch Hollow Mill v. Canal Street Salt',
  date_filed: '2025-02-03',
  docket_entries: entries,
});
const entry = (number: number) => ({
  document_number: number,
  date_filed: '2025-02-03',
  description: `NOTICE ${number}`,
});

let world: World;
/** The service with its own answers to what a test asks, on a chain that the test disturbs. */
let paying: Payments;
let wallet: Keypair;
let retired: World;
/** For calling version 1 after its end. */
let now: number | null = null;
beforeAll(async () => {
  [world, paying, retired] = await Promise.all([
    openWorld(),
    openPayments({ patience: { queryMs: 400 }, answer: steered }),
    openWorld({ clock: { now: () => now ?? systemClock.now() } }),
  ]);
  wallet = await paying.wallet();
  for (const number of ['4:25-cv-00777', '1:25-cv-00888', '3:25-cv-00888']) {
    await world.importDocket(docketOf(number, [entry(1)]));
  }
});
afterAll(() => Promise.all([world.close(), paying.close(), retired.close()]));

async function steered(question: string, { wallet: payer }: { readonly wallet: string }) {
  if (question === 'broken') throw new Error('the query failed');
  if (question === 'slow') return dead();
  return { body: Buffer.from(JSON.stringify({ payer, question })), answeredCases: 1 };
}

interface UnreadableDocket {
  readonly status: number;
  readonly json: AnswerBody;
}

const read = async (answer: Response): Promise<UnreadableDocket> => ({
  status: answer.status,
  json: (await answer.json()) as AnswerBody,
});
const get = async (target: string, init?: RequestInit) => read(await fetch(world.url + target, init));
const post = (body: string, type = 'application/json') =>
  get('/v2/cases/batch', { method: 'POST', headers: { 'content-type': type }, body });
const push = (query: string, token: string) =>
  get(`/ingest/dockets${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '[]',
  });
const bought = async (target: string, agent = world.agent()) => read(await (await agent)(world.url + target));

/** A baseline that was started and never completed: until it is complete, no query is answered. */
async function halfRecorded(number: string): Promise<void> {
  const entries = Array.from({ length: 4_000 }, (_, index) => entry(index + 1));
  const parsed = readJuriscraperDocket(docketOf(number, entries), {
    askedAt: toInstant(systemClock.now()),
    complete: true,
    source: 'file',
  });
  if (!('snapshot' in parsed)) throw new Error(parsed.refused);
  let appends = 0;
  const log = altered(world.storage.log, {
    async append(appended) {
      if (appended.stream.startsWith('docket-cand') && ++appends > 1) throw new Error('killed');
      return world.storage.log.append(appended);
    },
  });
  const sleep = () => Promise.reject(new Error('killed'));
  const ports = { ...world.storage, log, clock: systemClock, newId: randomUUID, sleep };
  const commandId = randomUUID();
  const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
  await expect(ingestDocket(ports, parsed.snapshot, context)).rejects.toThrow('killed');
}

const PRODUCERS: Readonly<Record<ErrorCode, () => Promise<UnreadableDocket>>> = {
  missing_required_parameter: () => get('/v2/case?court_code=cand'),
  invalid_parameter: () => get(`${CASE}&context=huge`),
  invalid_case_id: () => get('/v2/case?court_code=cand&case_id=nothing!'),
  invalid_timestamp: () => get(`${CASE}&last_checked=yesterday`),
  last_checked_in_future: () => get(`${CASE}&last_checked=2099-01-01T00:00:00Z`),
  invalid_batch_request: () => post('{"queries":[]}'),
  invalid_payment: () => get(CASE, { headers: { 'payment-signature': 'not base64!' } }),
  source_token_required: () => push('', 'dkt_push_none'),
  payment_required: () => get(CASE),
  payment_rejected: () => bought(CASE, world.agentOf(Keypair.generate())),
  async settlement_failed() {
    // Never sent, and then its blockhash has certainly expired.
    paying.disturb({ send: async () => ({ sent: true }), blockHeight: async () => Number.MAX_SAFE_INTEGER });
    try {
      return await paying.get('/v2/case?q=a', paying.pay(wallet));
    } finally {
      paying.disturb();
    }
  },
  async wallet_banned() {
    const banned = await paying.wallet();
    paying.banned.add(banned.publicKey.toBase58());
    return paying.get('/v2/case?q=a', paying.pay(banned));
  },
  court_not_allowed: async () => push('?court=nysd', await world.sourceToken('west', ['cand'])),
  case_not_found: () => bought('/v2/case?court_code=cand&case_id=4:25-cv-00001'),
  endpoint_not_found: () => get('/v2/nothing'),
  result_not_found: () => get(`/v2/results/${randomUUID()}`),
  method_not_allowed: () => get('/v2/case', { method: 'DELETE' }),
  async payment_already_used() {
    const payment = paying.pay(wallet);
    await paying.get('/v2/case?q=a', payment);
    return paying.get('/v2/case?q=a', payment);
  },
  async idempotency_conflict() {
    const identifier = randomUUID();
    await paying.get('/v2/case?q=a', paying.pay(wallet, {}, identifier));
    return paying.get('/v2/case?q=b', paying.pay(wallet, {}, identifier));
  },
  ambiguous_case_id: () => bought('/v2/case?court_code=cand&case_id=25-cv-00888'),
  async version_retired() {
    now = V1_ENDS;
    const answer = await read(await fetch(`${retired.url}/v1/case`));
    now = null;
    return answer;
  },
  async result_gone() {
    const answer = await paying.get('/v2/case?q=gone', paying.pay(wallet));
    const answered = (await paying.events()).findLast(({ type }) => type === 'QueryAnswered');
    await paying.storage.payloads.remove(answered?.data.answer as string);
    return paying.get(answer.headers.get('content-location') ?? '');
  },
  async result_damaged() {
    const answer = await paying.get('/v2/case?q=damaged', paying.pay(wallet));
    const answered = (await paying.events()).findLast(({ type }) => type === 'QueryAnswered');
    await paying.storage.damage(answered?.data.answer as string);
    return paying.get(answer.headers.get('content-location') ?? '');
  },
  batch_too_large: () => {
    const query = { court_code: 'cand', case_id: '4:25-cv-00777' };
    return post(JSON.stringify({ queries: Array.from({ length: 51 }, () => query) }));
  },
  payload_too_large: () => post(`{"queries":["${'x'.repeat(300_000)}"]}`),
  unsupported_media_type: () => post('queries', 'text/plain'),
  court_not_covered: () => get('/v2/case?court_code=qc_cs&case_id=500-17-123456-241'),
  async rate_limit_exceeded() {
    const eager = await paying.wallet(0n);
    const poor = () => paying.get('/v2/case?q=a', paying.pay(eager));
    // The chain rejects each for missing funds, which counts.
    const answers = await Promise.all(Array.from({ length: 61 }, poor));
    return answers.find(({ status }) => status === 429) ?? answers[0]!;
  },
  header_too_large: () => rawRequest(world.port, CASE, { headers: { 'x-long': 'x'.repeat(33_000) } }),
  internal_error: () => paying.get('/v2/case?q=broken', paying.pay(wallet)),
  async court_unavailable() {
    await halfRecorded('4:25-cv-00999');
    return bought('/v2/case?court_code=cand&case_id=4:25-cv-00999');
  },
  async service_unavailable() {
    paying.disturb({
      simulate: async () => {
        throw new ChainUnavailable('the chain is silent');
      },
    });
    try {
      return await paying.get('/v2/case?q=a', paying.pay(wallet));
    } finally {
      paying.disturb();
    }
  },
  query_timeout: () => paying.get('/v2/case?q=slow', paying.pay(wallet)),
};

describe('a caller can get the error', () => {
  it.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s', async (code) => {
    const page = await (await fetch(`${world.url}/docs/errors`)).text();
    const { status, json } = await PRODUCERS[code]();
    expect([status, json.error.code]).toEqual([ERROR_CATALOGUE[code].status, code]);
    expect(json.error.details).toMatchObject({ charged: false, hint: expect.stringMatching(/./) });
    const { pathname, hash } = new URL(json.error.documentation_url);
    expect(pathname).toBe('/docs/errors');
    expect(page).toContain(`id="${hash.slice(1)}"`);
  });
});
