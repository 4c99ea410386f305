/** A whole paid service for tests: real storage, a real local chain, real sockets, and endpoints that a test steers. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair, PublicKey } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import type { PurchasePorts, Purchasing } from '../../src/commands/purchase/contract.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import type { QueryAnswer } from '../../src/commands/purchase/query-run.ts';
import { type Problem, problem } from '../../src/errors.ts';
import type { AddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddresses } from '../../src/http/client-address.ts';
import type { PaidCallContext } from '../../src/http/paid/paid-call.ts';
import { resultPath } from '../../src/http/paid/paid-result.ts';
import { type PaidRouteDependencies, registerPaidRoute } from '../../src/http/paid/paid-route.ts';
import { makeServer } from '../../src/http/server.ts';
import { registerResults } from '../../src/http/v2/results.ts';
import { registerBodilessRoute, rotateKeyRoute, walletKeysRoute } from '../../src/http/v2/wallet-keys.ts';
import { newMemos, type Purpose } from '../../src/http/x402/purpose.ts';
import { createPaymentRecovery, type PaymentRecovery } from '../../src/processes/payment-recovery/payment-recovery.ts';
import { createFreshness } from '../../src/projections/freshness.ts';
import { payments } from '../../src/projections/payments.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { wallets } from '../../src/projections/wallets.ts';
import { settledPayments } from '../../src/queries/settled-payments.ts';
import { type Clock, systemClock } from '../../src/runtime/instant.ts';
import { associatedTokenAddress, NETWORKS } from '../../src/solana/addresses.ts';
import { createBlockhashWatch } from '../../src/solana/blockhash-watch.ts';
import type { Chain } from '../../src/solana/chain.ts';
import { SolanaKey } from '../../src/solana/keys.ts';
import { startLocalChain } from '../../src/solana/local/start-local-chain.ts';
import { createRpcChain } from '../../src/solana/rpc-chain.ts';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { NO_TRACES, type Tracer } from '../../src/tracing/tracer.ts';
import { allOf, judge } from '../audit/rules/judge.ts';
import { openFaultyRpc } from '../solana/faulty-rpc.ts';
import { build, limit, MINT, memo, price, transfer } from '../solana/payment-transactions.ts';
import { clockWithV1 } from '../support/clock-with-v1.ts';
import { newTestMasterKeys, testKeyCalls, testResultIds } from '../support/key-calls.ts';
import { freePort } from '../support/processes.ts';
import { ChainRpc } from '../support/rpc.ts';
import { openTestStorage } from '../support/storage.ts';
import { answersByOwnRoutes } from '../support/watched-answers.ts';

/** What only the whole service keeps: here neither the log nor its master key is introduced. */
const NOT_HERE: ReadonlySet<string> = new Set(['master_key_introduced', 'paid_to_the_receiver']);

const network = NETWORKS.local;
export const USDC = 1_000_000n;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly json: any;
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text ? JSON.parse(text) : null };
}

/** A port of which some methods are others. */
export function altered<Port extends object>(port: Port, methods: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      const method = (methods as never)[name] ?? (target as never)[name];
      return typeof method === 'function' ? (method as CallableFunction).bind(target) : method;
    },
  });
}

export interface WorldOptions {
  readonly slotMs?: number;
  readonly patience?: PurchasePorts['patience'];
  /** So many RPC endpoints that a test may spoil, between the service and the chain; 0: the chain's own alone. */
  readonly endpoints?: number;
  /** Calls to one endpoint in a second, as an operator configures it. */
  readonly callsPerSecond?: number;
  /** Whether all wallets have paid before, so that several of their payments may be under way. */
  readonly paidBefore?: boolean;
  /** What must be there before anybody can pay; left out by tests of what happens without. */
  readonly endow?: { readonly feePayer?: boolean; readonly account?: boolean };
  /** Traces requests and recovery; omitted: nothing is traced. */
  readonly tracer?: Tracer;
  /** How an endpoint answers: by the query string's `q`, see `answerFor`. */
  readonly answer?: (question: string, call: PaidCallContext) => Promise<QueryAnswer | Problem>;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld({
  slotMs = 50,
  patience,
  endow = {},
  endpoints = 0,
  callsPerSecond,
  paidBefore = false,
  answer = answerFor,
  tracer = NO_TRACES,
}: WorldOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'payments-'));
  /** Lines of the log that operators must see. */
  const alarms: { readonly alarm?: string }[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => alarms.push(JSON.parse(line)) });
  const local = await startLocalChain({
    directory: join(directory, 'chain'),
    port: 0,
    slotMs,
    logger,
    environment: {},
    lighthouseStandIn: true,
  });
  const rpc = new ChainRpc(local.url);
  const spoilt = await Promise.all(Array.from({ length: endpoints }, () => openFaultyRpc(local.url)));
  const chain = createRpcChain({
    urls: endpoints ? spoilt.map(({ url }) => url) : [local.url],
    // Silence is noticed soon, so that a test need not wait for it.
    ...(endpoints && callsPerSecond === undefined && { timeoutMs: 250 }),
    callsPerSecond,
    logger,
  });
  const blockhashes = createBlockhashWatch({ chain, intervalMs: callsPerSecond === undefined ? 100 : 1_000 });
  const storage = await openTestStorage(join(directory, 'data'));
  const feePayer = SolanaKey.generate();
  const payTo = SolanaKey.generate();
  const destination = associatedTokenAddress(payTo.address, network.usdcMint);
  if (endow.feePayer ?? true) await rpc.call('requestAirdrop', feePayer.address, 1_000_000_000);
  if (endow.account ?? true) await rpc.call('requestTokenAirdrop', payTo.address, '0');
  await blockhashes.refresh();

  const runner = createProjectionRunner({
    ...storage,
    projections: [payments as unknown as Projection, wallets as unknown as Projection],
    clock: systemClock,
    logger,
    owner: 'test',
  });
  await runner.start();

  const parties = { feePayer: new PublicKey(feePayer.address), payTo: new PublicKey(payTo.address) };
  const draining = new AbortController();
  /** Wallets that nothing is sold to. */
  const banned = new Set<string>();
  const masterKeys = newTestMasterKeys();
  const ports: PurchasePorts = {
    ...storage,
    clock: systemClock,
    chain,
    blockhashes,
    keyCalls: testKeyCalls({ ...storage, clock: systemClock, masterKeys }),
    settledPayments: paidBefore ? async () => 1 : settledPayments(storage.readStore),
    resultIds: testResultIds(masterKeys),
    newDeliveryId: randomUUID,
    feePayer,
    payee: { network: network.caip2, mint: network.usdcMint, payTo: payTo.address, destination },
    draining: draining.signal,
    isBanned: (address) => banned.has(address),
    logger,
    ...(patience && { patience }),
  };
  /** The chain as purchases and recovery see it: a test may put a fault in between. */
  let fault: Partial<Chain> = {};
  const faultyChain = altered<Chain>(chain, new Proxy({}, { get: (_target, name) => (fault as never)[name] }));
  const purchasing = createPurchasing({ ...ports, chain: faultyChain });
  /** Recovery as a process has it that was started just now, by clocks of its own. */
  const recoverBy = (clock: Clock, steady?: Clock, readStore = storage.readStore): PaymentRecovery =>
    createPaymentRecovery({
      owner: randomUUID(),
      ...ports,
      ...storage,
      readStore,
      clock,
      ...(steady && { steady }),
      chain: faultyChain,
      logger,
      underway: purchasing.underway,
      secondLookMs: 2 * slotMs,
      tracer,
    });
  /** The same, where the clock is later. */
  const recoverLater = (laterMicros = 0): PaymentRecovery => recoverBy({ now: () => systemClock.now() + laterMicros });

  const merchant = { network, payTo: payTo.address, feePayer: feePayer.address };
  const asked: string[] = [];
  const servers: FastifyInstance[] = [];

  /** Where the whole service is reached: at its first node. */
  let servicesUrl = '';

  /** Another node of the same service. */
  async function serve(
    over: Purchasing = purchasing,
    addressLimit?: AddressLimit,
    more: Partial<PaidRouteDependencies> = {},
  ) {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    servicesUrl ||= publicUrl;
    const app = makeServer({ publicUrl, clock: clockWithV1 }, logger, { tracer });
    const paying = {
      // One service, whatever the node: payments are bound to it.
      merchant: { ...merchant, publicUrl: servicesUrl },
      purchasing: over,
      newestBlockhash: blockhashes.latest,
      clock: systemClock,
      clientAddresses: createClientAddresses(),
      addressLimit,
      ...more,
    };
    for (const path of ['/v2/case', '/v2/monitor', '/v1/case', '/v2/cases/batch']) {
      registerPaidRoute(app, paying, {
        method: path.endsWith('batch') ? 'POST' : 'GET',
        path,
        word: path.endsWith('batch') ? 'batch' : path.endsWith('monitor') ? 'monitor' : 'case',
        description: 'A question and its answer',
        parse: (request: FastifyRequest) => {
          const { q = null, case_id = q } = request.query as { q?: string; case_id?: string };
          return case_id ? { q: case_id } : problem('missing_required_parameter', { parameters: ['q'] });
        },
        sandbox: () => null,
        queries: ({ q }) => (q.startsWith('batch') ? 2 : 1),
        fingerprint: ({ q }) => q,
        answer: ({ q }, call) => {
          asked.push(q);
          return answer(q, call);
        },
      });
    }
    const keys = { ...storage, clock: systemClock, masterKeys };
    registerPaidRoute(app, paying, walletKeysRoute(keys));
    registerBodilessRoute(app, paying, rotateKeyRoute(keys));
    const freshness = createFreshness({ ...storage, runner, projection: payments.name });
    registerResults(app, {
      ...storage,
      freshness,
      clock: systemClock,
      keyCalls: ports.keyCalls,
      resultIds: ports.resultIds,
    });
    answersByOwnRoutes(app.server);
    await app.listen({ port, host: '127.0.0.1' });
    servers.push(app);
    return publicUrl;
  }

  const url = await serve();
  const tokens = (owner: PublicKey) => rpc.tokens(associatedTokenAddress(owner.toBase58(), network.usdcMint));

  async function wallet(usdc = 20n * USDC): Promise<Keypair> {
    const keypair = Keypair.generate();
    const address = keypair.publicKey.toBase58();
    await rpc.fund(address, associatedTokenAddress(address, network.usdcMint), usdc);
    return keypair;
  }

  /** `@x402/fetch` with `@x402/svm`, unchanged. */
  async function agent(keypair: Keypair, cap = '$60'): Promise<typeof fetch> {
    const client = new x402Client();
    client.register(
      'solana:*',
      new ExactSvmScheme(await createKeyPairSignerFromBytes(keypair.secretKey), { rpcUrl: local.url }),
    );
    client.setSpendControls({ maxAmountPerPayment: cap });
    return wrapFetchWithPayment(fetch, client);
  }

  const get = async (path: string, headers: Record<string, string> = {}, base = url) =>
    read(await fetch(base + path, { headers }));

  /** A sound payment of this wallet, as an x402 v2 client sends it; `over` changes its transaction. */
  function pay(
    keypair: Keypair,
    over: Partial<Parameters<typeof build>[0]> = {},
    identifier?: string,
    purpose?: Omit<Purpose, 'publicUrl'>,
  ): Record<string, string> {
    const named = purpose && newMemos({ ...purpose, publicUrl: servicesUrl }).short;
    const wire = build({
      instructions: [limit(), price(), transfer(parties, keypair.publicKey), memo(named)],
      payer: parties.feePayer,
      signers: [keypair],
      blockhash: blockhashes.latest()!.blockhash,
      ...over,
    });
    return header(wire, {}, identifier);
  }

  /** The header of x402 v2 around wire bytes. */
  const header = (wire: Buffer, accepted: object = {}, identifier?: string): Record<string, string> => ({
    'payment-signature': Buffer.from(
      JSON.stringify({
        x402Version: 2,
        ...(identifier && { extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } }),
        accepted: {
          scheme: 'exact',
          network: network.caip2,
          amount: '990000',
          asset: network.usdcMint,
          payTo: payTo.address,
          maxTimeoutSeconds: 60,
          extra: {},
          ...accepted,
        },
        payload: { transaction: wire.toString('base64') },
      }),
    ).toString('base64'),
  });

  /** Types of the events of the payment that a request presented, oldest first. */
  async function eventTypesOf(requestId: string): Promise<readonly string[]> {
    const all = await events();
    const stream = all.find(({ data }) => data.requestId === requestId)?.stream;
    return all.filter((event) => event.stream === stream).map(({ type }) => type);
  }

  async function events(): Promise<readonly RecordedEvent[]> {
    const all: RecordedEvent[] = [];
    for await (const batch of storage.log.readAll(null, { by: 'all' })) all.push(...batch.events);
    return all;
  }

  /** Runs something and gives what it moved out of a wallet and into ours. */
  async function moved<T>(keypair: Keypair, work: () => Promise<T>) {
    const [before, ours] = [await tokens(keypair.publicKey), await tokens(parties.payTo)];
    const result = await work();
    return {
      result,
      spent: before - (await tokens(keypair.publicKey)),
      received: (await tokens(parties.payTo)) - ours,
    };
  }

  return {
    url,
    directory,
    masterKeys,
    logger,
    receiver: { payTo: payTo.address, feePayer: feePayer.address, mint: network.usdcMint },
    rpc,
    rpcUrl: local.url,
    chain,
    storage,
    runner,
    ports,
    banned,
    purchasing,
    recoverBy,
    recoverLater,
    alarms,
    faultyChain,
    endpoints: spoilt,
    parties,
    merchant,
    asked,
    draining,
    blockhashes,
    mint: MINT,
    serve,
    wallet,
    agent,
    get,
    pay,
    header,
    tokens,
    moved,
    /** Where the answer to a request lies, as its buyer was told. */
    resultPath: (requestId: string): string =>
      resultPath(ports.resultIds.idOf({ requestId, resultKey: ports.resultIds.newest })),
    events,
    eventTypesOf,
    /** From now on these methods of the chain answer otherwise. */
    disturb(methods: Partial<Chain> = {}) {
      fault = methods;
    },
    /** @param planted the test itself wrote events that break the rules */
    async close({ planted = false } = {}) {
      draining.abort();
      // A request that died never ends its connection.
      for (const app of servers) app.server.closeAllConnections();
      await Promise.all(servers.map((app) => app.close()));
      await runner.stop();
      blockhashes.close();
      chain.close();
      const breaches = judge(await allOf(storage.log)).breaches.filter(({ rule }) => !NOT_HERE.has(rule));
      await storage.close();
      await Promise.all(spoilt.map((endpoint) => endpoint.close()));
      await local.close();
      // Whatever a test does to the service, what it records keeps the rules.
      if (breaches.length > 0 && !planted) throw new Error(JSON.stringify(breaches, null, 2));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What the test endpoints do: the question says it. */
export async function answerFor(q: string, call: PaidCallContext): Promise<QueryAnswer | Problem> {
  if (q.startsWith('unknown')) return problem('case_not_found', { enqueued: false });
  if (q.startsWith('throws')) throw new Error('the query broke');
  if (q.startsWith('full disk')) throw new StorageFailure('storage_full', 'the query broke');
  if (q.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 300));
  const body = {
    meta: { request_id: call.requestId, query_cost_usd: call.costUsd, tag: call.tag },
    answer: `for ${call.wallet}`,
    question: q,
  };
  return { body: Buffer.from(JSON.stringify(body)), answeredCases: 1 };
}
