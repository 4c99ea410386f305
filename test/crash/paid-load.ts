/**
 * Paid load against a service that is killed again and again, with the chain in a separate process. The test remembers
 * what every caller sent and was told; at the end the chain, the log and the callers must agree.
 */
import { randomInt } from 'node:crypto';
import { Keypair, PublicKey } from '@solana/web3.js';
import { PAYMENT_IDENTIFIER } from '../../src/http/x402/payment-identifier.ts';
import { build, limit, memo, type Parties, price, tokenAccountOf, transfer } from '../solana/payment-transactions.ts';
import { freePort, type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { ChainRpc } from '../support/rpc.ts';

export const SLOT_MS = 50;
/** What each wallet starts with, base units. */
export const FUNDS = 500_000_000n;

/** One payment that a caller made, and its outcome as far as the caller was told. */
export interface Attempt {
  readonly wallet: string;
  readonly requestPath: string;
  status: number | 'under way' | 'connection lost';
  requestId: string | null;
}

export interface Stage {
  readonly dataDirectory: string;
  readonly chain: RunningProcess;
  readonly rpc: ChainRpc;
  readonly url: string;
  readonly adminUrl: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly wallets: readonly Keypair[];
  /** The command prefix that runs a program where the service runs; omitted: none. */
  readonly within?: readonly string[];
}

/** Starts the chain alone, and defines how the service is started with it. */
export async function setStage(directory: string, walletCount: number): Promise<Stage> {
  const [port, adminPort, chainPort] = [await freePort(), await freePort(), await freePort()];
  const rpc = new ChainRpc(`http://127.0.0.1:${chainPort}`);
  const chain = spawnDocket(
    ['chain', '--port', String(chainPort), '--data-dir', `${directory}/chain-alone`, '--slot-ms', String(SLOT_MS)],
    {},
  );
  await until('the chain answers', async () => (await rpc.call('getHealth')) === 'ok', { process: chain });
  const wallets = Array.from({ length: walletCount }, () => Keypair.generate());
  await Promise.all(
    wallets.map(({ publicKey }) => rpc.fund(publicKey.toBase58(), tokenAccountOf(publicKey).toBase58(), FUNDS)),
  );
  return {
    dataDirectory: `${directory}/service`,
    chain,
    rpc,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    environment: {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DATA_DIR: `${directory}/service`,
      SOLANA_NETWORK: 'local',
      SOLANA_RPC_URL: rpc.url,
      LOG_LEVEL: 'warn',
    },
    wallets,
  };
}

/** On a shared machine a start may take long. */
const READY_WITHIN_MS = 120_000;

export async function startService(stage: Stage): Promise<RunningProcess> {
  const service = spawnDocket(['serve'], stage.environment, stage.within);
  const ready = async () => (await fetch(`${stage.adminUrl}/readyz`)).status === 200;
  await until('the service is ready', ready, { process: service, within: READY_WITHIN_MS });
  return service;
}

/** Longer than a wallet that has used up its requests of a minute must wait. */
const UNDER_LOAD_WITHIN_MS = 120_000;

/** The terms that the service asks for. */
async function termsOf(url: string, method: string): Promise<{ required: Record<string, unknown>; parties: Parties }> {
  const response = await fetch(url, { method });
  const header = response.headers.get('payment-required');
  await response.arrayBuffer();
  if (!header) throw new Error(`no terms, status ${response.status}`);
  const required = JSON.parse(Buffer.from(header, 'base64').toString());
  const [accept] = required.accepts;
  return {
    required,
    parties: { feePayer: new PublicKey(accept.extra.feePayer), payTo: new PublicKey(accept.payTo) },
  };
}

/**
 * A payment for one call, as the headers that carry it.
 * @param identifier by which a repeat of the call gets the answer that the payment has bought
 */
export async function paymentFor(
  stage: Pick<Stage, 'url' | 'rpc'>,
  wallet: Keypair,
  path: string,
  { method = 'GET', identifier }: { readonly method?: 'GET' | 'POST'; readonly identifier?: string } = {},
): Promise<Record<string, string>> {
  const { required, parties } = await termsOf(stage.url + path, method);
  const [accepted] = required.accepts as [{ extra: { memo: string } }];
  const wire = build({
    // As clients of x402 v2 do: the memo of the terms binds the payment to this call.
    instructions: [limit(), price(), transfer(parties, wallet.publicKey), memo(accepted.extra.memo)],
    payer: parties.feePayer,
    signers: [wallet],
    blockhash: await stage.rpc.latestBlockhash(),
  });
  const header = Buffer.from(
    JSON.stringify({
      x402Version: 2,
      resource: required.resource,
      accepted,
      payload: { transaction: wire.toString('base64') },
      ...(identifier && { extensions: { [PAYMENT_IDENTIFIER]: { info: { required: false, id: identifier } } } }),
    }),
  ).toString('base64');
  return { 'payment-signature': header };
}

/** One caller: asks, pays, and remembers what it was told, until `stopped`. */
export async function pay(
  stage: Stage,
  wallet: Keypair,
  path: string,
  attempts: Attempt[],
  stopped: () => boolean,
  { method = 'GET', told = () => {} }: { method?: 'GET' | 'POST'; told?: (status: number, body: unknown) => void } = {},
): Promise<void> {
  while (!stopped()) {
    const attempt: Attempt = {
      wallet: wallet.publicKey.toBase58(),
      requestPath: path,
      status: 'under way',
      requestId: null,
    };
    try {
      const headers = await paymentFor(stage, wallet, path, { method });
      attempts.push(attempt);
      const answer = await fetch(stage.url + path, { method, headers });
      const body = (await answer.json()) as { meta?: { request_id?: string } };
      attempt.requestId = body.meta?.request_id ?? null;
      attempt.status = answer.status;
      told(answer.status, body);
      if (answer.status === 429) await new Promise((done) => setTimeout(done, 1_000));
    } catch {
      // The service is down: the caller retries.
      attempt.status = 'connection lost';
      await new Promise((done) => setTimeout(done, 20 + randomInt(80)));
    }
  }
}

/**
 * One settled purchase of each wallet, while nothing is killed. A process that dies during the first query of a wallet
 * keeps it out for up to two minutes, which may be longer than the test (docs/design/payments.md#first-payments).
 */
export async function proveWallets(stage: Stage, path: string, attempts: Attempt[], wallets = stage.wallets) {
  const prove = async (wallet: Keypair) => {
    const mine: Attempt[] = [];
    await pay(stage, wallet, path, mine, () => mine.some(({ status }) => status === 200));
    attempts.push(...mine);
  };
  await Promise.all(wallets.map(prove));
}

/**
 * Waits for a random number of further paid answers, and then until a caller has a payment under way: a kill right
 * after that interrupts it, however fast or slow the machine is.
 * @param most upper limit of that number
 */
export async function untilUnderWay(service: RunningProcess, attempts: readonly Attempt[], most: number) {
  const answered = () => attempts.filter(({ status }) => status === 200).length;
  const goal = answered() + randomInt(most + 1);
  const options = { process: service, within: UNDER_LOAD_WITHIN_MS };
  await until('callers are answered', async () => answered() >= goal, options);
  await new Promise((done) => setTimeout(done, randomInt(100)));
  const waits = async () => attempts.some(({ status }) => status === 'under way');
  await until('a payment is under way', waits, { ...options, every: 1 });
}
