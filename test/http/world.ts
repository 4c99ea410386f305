/** The whole public port on real storage and a real local chain, with dockets, wallets and a reference client. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair, PublicKey } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Logger } from 'pino';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { handleWithRetry } from '../../src/commands/handle.ts';
import type { PurchasePorts } from '../../src/commands/purchase/contract.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { sourceToken } from '../../src/commands/source-token/source-token.ts';
import { newSourceToken, sourceTokenHash } from '../../src/commands/source-token/token.ts';
import { operatorStream, sourceSubject } from '../../src/events/operator.ts';
import { buildApp } from '../../src/http/app.ts';
import { createOperatorActs, type OperatorActs } from '../../src/processes/operator-acts.ts';
import { cases } from '../../src/projections/cases.ts';
import { courtRecords } from '../../src/projections/court-records.ts';
import { deliveries } from '../../src/projections/deliveries.ts';
import { operatorActs } from '../../src/projections/operator-acts.ts';
import { payments } from '../../src/projections/payments.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { wallets } from '../../src/projections/wallets.ts';
import { settledPayments } from '../../src/queries/settled-payments.ts';
import { type Clock, toInstant } from '../../src/runtime/instant.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { associatedTokenAddress, NETWORKS } from '../../src/solana/addresses.ts';
import { createBlockhashWatch } from '../../src/solana/blockhash-watch.ts';
import { SolanaKey } from '../../src/solana/keys.ts';
import { startLocalChain } from '../../src/solana/local/start-local-chain.ts';
import { createRpcChain } from '../../src/solana/rpc-chain.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import type { AskableSource } from '../../src/sources/source.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { openRefreshing } from '../sources/refreshing.ts';
import { clockWithV1 } from '../support/clock-with-v1.ts';
import { newTestMasterKeys, testKeyCalls, testResultIds } from '../support/key-calls.ts';
import { ChainRpc } from '../support/rpc.ts';
import { openTestStorage } from '../support/storage.ts';
import { listen, silent } from './serving.ts';

const network = NETWORKS.local;

export type World = Awaited<ReturnType<typeof openWorld>>;

/** @param clock of the service; the chain has its own */
export async function openWorld({
  clock = clockWithV1,
  slotMs = 50,
  unknownTokensPerMinute = null,
  webhookSecret = null,
  logger = silent,
  sources,
  lookMs,
}: {
  readonly clock?: Clock;
  readonly slotMs?: number;
  /** Requests without a valid token that one address may push in a minute. */
  readonly unknownTokensPerMinute?: number | null;
  /** The last part of the path of CourtListener's webhooks; null: there is none. */
  readonly webhookSecret?: string | null;
  /** Of the public port. */
  readonly logger?: Logger;
  /** Live sources that paid queries ask; none if left out. */
  readonly sources?: (parts: { readonly storage: Storage; readonly clock: Clock }) => readonly AskableSource[];
  /** How long a query waits for them, milliseconds. */
  readonly lookMs?: number;
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'http-world-'));
  const local = await startLocalChain({
    directory: join(directory, 'chain'),
    port: 0,
    slotMs,
    logger: silent,
    environment: {},
  });
  const rpc = new ChainRpc(local.url);
  const chain = createRpcChain({ urls: [local.url], logger: silent });
  const blockhashes = createBlockhashWatch({ chain, intervalMs: 100 });
  const feePayer = SolanaKey.generate();
  const payTo = SolanaKey.generate().address;
  const destination = associatedTokenAddress(payTo, network.usdcMint);
  await rpc.call('requestAirdrop', feePayer.address, 1_000_000_000);
  await rpc.call('requestTokenAirdrop', payTo, '0');
  await blockhashes.refresh();

  const storage = await openTestStorage(join(directory, 'data'));
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases, courtRecords, payments, wallets, deliveries, operatorActs],
    clock,
    logger: silent,
    owner: `test-${randomUUID()}`,
  });
  await runner.start();
  const acts = createOperatorActs({ ...storage, logger: silent });
  const stopping = new AbortController();
  const following = acts.run(stopping.signal);
  const masterKeys = newTestMasterKeys();
  const keyCalls = testKeyCalls({ ...storage, clock, masterKeys });
  const resultIds = testResultIds(masterKeys);
  const draining = new AbortController();
  const purchasePorts: PurchasePorts = {
    ...storage,
    clock,
    chain,
    blockhashes,
    keyCalls,
    settledPayments: settledPayments(storage.readStore),
    resultIds,
    newDeliveryId: randomUUID,
    feePayer,
    payee: { network: network.caip2, mint: network.usdcMint, payTo, destination },
    draining: draining.signal,
    logger: silent,
  };
  const refreshing = sources && openRefreshing({ storage, runner, clock }, sources({ storage, clock }), lookMs);
  const service = { publicUrl: 'https://dockets.example', clock };
  const apps: ReturnType<typeof buildApp>[] = [];
  /** Another node of the same service. */
  async function serve(more: Partial<PurchasePorts> = {}, known: OperatorActs = acts): Promise<number> {
    const app = buildApp({
      service,
      logger,
      health: () => ({}),
      merchant: { network, payTo, feePayer: feePayer.address, publicUrl: service.publicUrl },
      purchasing: createPurchasing({ ...purchasePorts, ...more }),
      keyCalls,
      resultIds,
      masterKeys,
      newestBlockhash: () => blockhashes.latest(),
      storage,
      runner,
      localRpcUrl: local.url,
      mcpOrigins: { allowed: [], loopback: true },
      webhooks: webhookSecret === null ? undefined : { secret: webhookSecret },
      refresh: refreshing?.refresh,
      push: { sources: known, folder: join(directory, 'pushed'), unknownTokensPerMinute, steadyClock },
    });
    apps.push(app);
    return listen(app);
  }
  const urlOf = (of: number) => `http://127.0.0.1:${of}`;
  const port = await serve();

  /** A new wallet with test SOL and this much test USDC. */
  async function wallet(usdc = 20_000_000n): Promise<Keypair> {
    const keypair = Keypair.generate();
    const address = keypair.publicKey.toBase58();
    await rpc.fund(address, associatedTokenAddress(address, network.usdcMint), usdc);
    return keypair;
  }

  /** `@x402/fetch`, unmodified, with this wallet, which pays at most this much for one call. */
  async function agentOf(keypair: Keypair, send: typeof fetch = fetch, most = '$1'): Promise<typeof fetch> {
    const signer = await createKeyPairSignerFromBytes(keypair.secretKey);
    const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: local.url }));
    client.setSpendControls({ maxAmountPerPayment: most });
    return wrapFetchWithPayment(send, client);
  }

  return {
    port,
    chain,
    storage,
    runner,
    masterKeys,
    rpcUrl: local.url,
    parties: { feePayer: new PublicKey(feePayer.address), payTo: new PublicKey(payTo) },
    newestBlockhash: () => rpc.latestBlockhash(),
    wallet,
    /** Base units that a wallet has. */
    balance: (owner: Keypair) => rpc.tokens(associatedTokenAddress(owner.publicKey.toBase58(), network.usdcMint)),
    url: urlOf(port),
    /** Starts another node of the same service, and returns its address. */
    node: async (more: Partial<PurchasePorts> = {}, known?: OperatorActs) => urlOf(await serve(more, known)),
    resultIds,
    /** Base units that we were paid so far. */
    received: () => rpc.tokens(destination),
    /** `@x402/fetch` with a new wallet of 20 USDC, unmodified, over the given `fetch`. */
    agent: async (send: typeof fetch = fetch) => agentOf(await wallet(), send),
    agentOf,
    acts,
    /** Issues a token to a source that pushes, and waits until every node knows it. */
    async sourceToken(source: string, courts: string[] | null = null): Promise<string> {
      const token = newSourceToken();
      const tokenHash = sourceTokenHash(token);
      const issued = { source, tokenHash, courts, by: 'Ann Lee', reason: 'agreed' };
      const commandId = randomUUID();
      const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
      const stream = operatorStream(sourceSubject(source));
      await handleWithRetry({ ...storage, clock }, sourceToken, stream, { type: 'Issue', issued }, context);
      while (acts.sourceOf(tokenHash) === null) await sleep(5);
      return token;
    },
    /** Revokes every token of a source. */
    async revokeSource(source: string): Promise<void> {
      const commandId = randomUUID();
      const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
      const command = { type: 'Revoke', source, tokenId: null, by: 'Ann Lee', reason: 'sold' } as const;
      const stream = operatorStream(sourceSubject(source));
      await handleWithRetry({ ...storage, clock }, sourceToken, stream, command, context);
    },
    async importDocket(docket: object): Promise<void> {
      const read = readJuriscraperDocket(docket, {
        askedAt: toInstant(clock.now()),
        complete: true,
        source: 'file',
      });
      if (!('snapshot' in read)) throw new Error(read.refused);
      const commandId = randomUUID();
      const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
      const ports = { ...storage, clock, newId: randomUUID, sleep: (ms: number) => sleep(ms) };
      const outcome = await ingestDocket(ports, read.snapshot, context);
      if ('refused' in outcome) throw new Error(outcome.refused);
    },
    async close(): Promise<void> {
      draining.abort();
      stopping.abort();
      await refreshing?.close();
      await following;
      await Promise.all(apps.map((app) => app.close()));
      await runner.stop();
      blockhashes.close();
      chain.close();
      await storage.close();
      await local.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
