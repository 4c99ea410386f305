/**
 * A paid batch of 50 cached cases against one paid case, over x402 v2: the same service, chain and wallets, in turns,
 * one call at a time. Each turn's payment is signed before its clock starts.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { syntheticDocket } from './support/dockets.mjs';
import { startChain, startService, USDC } from './support/paid-service.mjs';
import { DIALECTS, newWallet } from './support/payments.mjs';
import { pause, startNode } from './support/processes.mjs';
import { inParallel } from './support/rpc.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const { header, read } = DIALECTS['x402 v2'];
const CASES = 50;
const ENTRIES = 200;
const SINCE = '2020-01-01T00:00:00Z';
/** Payments per wallet: well below the limit of 60 a minute. */
const PER_WALLET = 20;
const FULL = { rounds: 100, warmUp: 10 };
const QUICK = { rounds: 20, warmUp: 4 };

const KINDS = {
  basic: {},
  delta: { last_checked: SINCE },
};

export async function run({ quick = false, progress = () => {} } = {}) {
  const { rounds, warmUp } = quick ? QUICK : FULL;
  const folder = await mkdtemp(join(tmpdir(), 'batch-'));
  const processes = [];
  const start = (...given) => {
    const started = startNode(...given);
    processes.push(started);
    return started;
  };
  try {
    progress('starting the chain and the service, importing the dockets');
    const chain = await startChain(start, folder);
    const url = await startOurs(start, folder, chain);
    const calls = (rounds + warmUp) * 2 * Object.keys(KINDS).length;
    progress('funding the wallets');
    const wallets = await inParallel(Array.from({ length: Math.ceil(calls / PER_WALLET) }), 8, async () => {
      const wallet = newWallet(USDC);
      await chain.call('requestTokenAirdrop', wallet.address, String(990_000n * BigInt(CASES * PER_WALLET)));
      return wallet;
    });
    let next = 0;
    const rows = [];
    for (const [kind, options] of Object.entries(KINDS)) {
      const times = { batch: [], one: [], batchQuery: [], oneQuery: [] };
      for (let round = -warmUp; round < rounds; round += 1) {
        for (const size of round % 2 ? [1, CASES] : [CASES, 1]) {
          const sent = size === 1 ? single(url, round, options) : batch(url, options);
          const { took, query } = await buy(sent, wallets[Math.floor(next++ / PER_WALLET)], size, chain);
          if (round < 0) continue;
          times[size === 1 ? 'one' : 'batch'].push(took);
          times[size === 1 ? 'oneQuery' : 'batchQuery'].push(query);
        }
      }
      progress(`${kind}: measured`);
      const what = `batch of ${CASES} cases of ${ENTRIES} filings, ${kind}`;
      rows.push(
        row(`${what}: the whole paid call`, times.batch, times.one, { target: '<= 4', met: (ratio) => ratio <= 4 }),
        row(`${what}: its queries alone (Server-Timing)`, times.batchQuery, times.oneQuery),
      );
    }
    return { title: 'A batch of 50 cached cases, against one case', rows };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

function row(what, ours, rival, { target, met } = {}) {
  const ratio = median(ours) / median(rival);
  return {
    what,
    unit: 'ms',
    ours: rounded(median(ours)),
    rival: rounded(median(rival)),
    ratio: rounded(ratio),
    spread: { ours: spread(ours).map(rounded), rival: spread(rival).map(rounded) },
    ...(target ? { target, met: met(ratio) } : {}),
  };
}

async function startOurs(start, folder, chain) {
  const dockets = join(folder, 'dockets');
  await mkdir(dockets);
  for (let number = 1; number <= CASES; number += 1) {
    await writeFile(join(dockets, `${number}.json`), JSON.stringify(syntheticDocket(number, ENTRIES)));
  }
  const { url } = await startService(start, folder, chain, dockets);
  return url;
}

const idOf = (index) => ({ case_id: syntheticDocket((index % CASES) + 1, 0).docket_number, court_code: 'cand' });

const single = (url, round, options) => ({
  url: `${url}/v2/case?${new URLSearchParams({ ...idOf(round + CASES), ...options })}`,
  init: {},
});

const batch = (url, options) => ({
  url: `${url}/v2/cases/batch`,
  init: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queries: Array.from({ length: CASES }, (_, index) => ({ ...idOf(index), ...options })) }),
  },
});

/** @throws Error if the answer is incomplete */
async function buy({ url, init }, wallet, size, chain) {
  const asked = await fetch(url, init);
  await asked.arrayBuffer();
  if (asked.status !== 402) throw new Error(`an unpaid call returned ${asked.status}`);
  const { sign, blockhash: named } = read(asked.headers);
  const blockhash = named ?? (await chain.call('getLatestBlockhash', { commitment: 'confirmed' })).value.blockhash;
  const headers = { ...init.headers, [header]: sign(wallet, blockhash) };
  // Work that the 402 left pending is not part of the paid call.
  await pause(5);
  const began = performance.now();
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  const took = performance.now() - began;
  const { meta } = JSON.parse(text);
  if (response.status !== 200 || (size > 1 && meta.successful !== size)) {
    throw new Error(`a paid call returned ${response.status}: ${text.slice(0, 500)}`);
  }
  const query = Number(/query;dur=([\d.]+)/.exec(response.headers.get('server-timing'))?.[1]);
  return { took, query };
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick'), progress: console.error })).rows);
