/** The local chain, the service on it, and wallets that can pay: what every benchmark of paid calls needs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { docket, query } from './docket.mjs';
import { DIALECTS, newWallet } from './payments.mjs';
import { DOCKET, freePort, runNode, SERVER_OPTIONS, until } from './processes.mjs';
import { inParallel, rpcClient } from './rpc.mjs';

/** The mint of the local chain. */
export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

/** Each wallet's SOL for network fees: 5,000 lamports a payment, plus the minimum balance of an account. */
const LAMPORTS = 50_000_000;

/** Starts the local chain alone. */
export async function startChain(start, folder) {
  const port = await freePort();
  const started = start([DOCKET, 'chain', '--port', String(port), '--data-dir', join(folder, 'chain')]);
  const url = `http://127.0.0.1:${port}`;
  const call = rpcClient(url);
  await until('the local chain', async () => Boolean(await call('getLatestBlockhash')), { process: started });
  return { url, call, pid: started.pid };
}

/**
 * Starts the service on a chain, with these dockets in it.
 * @param dockets a file of them, or a folder of files
 * @param more environment of the service in addition to what every benchmark sets
 */
export async function startService(start, folder, chain, dockets, more = {}) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = {
    SOLANA_NETWORK: 'local',
    SOLANA_RPC_URL: chain.url,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DATA_DIR: join(folder, 'service'),
    ...more,
  };
  await runNode([DOCKET, 'import', dockets], environment);
  const started = start([...SERVER_OPTIONS, ...profiling(), DOCKET, 'serve'], environment);
  const ready = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status === 200;
  await until('the service', ready, { process: started });
  return { url: `http://127.0.0.1:${port}`, pid: started.pid };
}

/** Starts the service with one docket, as the selling side. @param more as of `startService` */
export async function startOurs(start, folder, chain, more = {}) {
  const file = join(folder, 'docket.json');
  await writeFile(file, JSON.stringify(docket));
  const { url, pid } = await startService(start, folder, chain, file, more);
  return priced({ name: 'ours', url: `${url}/v2/case?${query}`, pid }, 'x402 v2');
}

/** With `BENCH_PROFILE=FOLDER`, node writes a CPU profile of the service there when it ends. */
function profiling() {
  const folder = process.env.BENCH_PROFILE;
  return folder ? ['--cpu-prof', '--cpu-prof-dir', folder] : [];
}

/** Makes an unpaid call, as a client does, and reads from the 402 how to pay in a dialect. */
export async function priced(side, dialect) {
  const response = await fetch(side.url);
  const text = await response.text();
  if (response.status !== 402) throw new Error(`${side.name} returned ${response.status} to an unpaid call: ${text}`);
  try {
    // Only x402 v1 puts its terms in the body; not every seller's body is JSON.
    const body = dialect === 'x402 v1' ? JSON.parse(text) : null;
    return { ...side, dialect, ...DIALECTS[dialect].read(response.headers, body) };
  } catch (error) {
    throw new Error(`${side.name} does not say how to pay by ${dialect}: ${text}`, { cause: error });
  }
}

/** Makes the header that pays: signed with the blockhash of a fresh 402 if it names one, otherwise with the chain's. */
export async function payment(side, chain) {
  const { sign, blockhash: named } = await priced(side, side.dialect);
  const blockhash = named ?? (await chain.call('getLatestBlockhash', { commitment: 'confirmed' })).value.blockhash;
  const { header } = DIALECTS[side.dialect];
  return (wallet) => ({ [header]: sign(wallet, blockhash) });
}

/**
 * Wallets with enough funds to pay for everything: the rival's turn and one for each dialect, in equal shares with some
 * to spare, and SOL for the fees of self-paid payments.
 */
export async function fundedWallets(chain, count, payments) {
  const price = 990_000n;
  const turns = BigInt(1 + Object.keys(DIALECTS).length);
  const each = price * ((turns * payments) / BigInt(count) + 10n);
  return inParallel(Array.from({ length: count }), 8, async () => {
    const wallet = newWallet(USDC);
    await chain.call('requestTokenAirdrop', wallet.address, String(each));
    await chain.call('requestAirdrop', wallet.address, LAMPORTS);
    return wallet;
  });
}
