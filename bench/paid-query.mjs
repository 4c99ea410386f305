/**
 * The paid `GET /v2/case`, in each dialect, against the same bytes behind Express with `@x402/express` and
 * `@x402/svm`'s facilitator in process, which supports only x402 v2, on one local chain. Chain, service, rival and load
 * are four processes; the service takes one turn per dialect. Hundreds of wallets sign the payments in advance, so that
 * the load measures the two sides and not a client; the per-wallet limits are on. Each run ends by checking the
 * balances of the receiver and of every wallet against the answers.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { query } from './support/docket.mjs';
import { load } from './support/load.mjs';
import { fundedWallets, payment, priced, startChain, startOurs } from './support/paid-service.mjs';
import { DIALECTS, newKeypairBytes, receiptOf } from './support/payments.mjs';
import { freePort, pause, processorTime, SERVER_OPTIONS, startNode, until } from './support/processes.mjs';
import { inParallel, tokenBalance } from './support/rpc.mjs';
import { median, percentile, rounded, spread } from './support/statistics.mjs';

const RIVAL_DIALECT = 'x402 v2';
const RIVAL = fileURLToPath(new URL('./rivals/express-x402.mjs', import.meta.url));
const AT_ONCE = 32;
/** A side's first turns only warm it up. Each later turn derives its number of payments from the previous turn. */
const FULL = { wallets: 400, warmUps: 3, warmUp: 1_000, turnSeconds: 10, rounds: 5, finality: true };
const QUICK = { wallets: 400, warmUps: 2, warmUp: 200, turnSeconds: 3, rounds: 2, finality: false };

/**
 * Payments per second that the wallets are funded for. A wallet may ask 60 times a minute, so in turns of ten seconds
 * with pauses between them that limit is reached first, at some 1,200 a second.
 */
const FASTEST = 1_500;

/** Our side checks a settled payment once more when it is final, 15 s later, in rounds of 5 s. */
const FINALITY_MS = 15_000;
const AT_REST_MS = 6_000;
const AT_REST_WITHIN_MS = 60_000;
const AT_REST_SHARE = 0.05;

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick ? QUICK : FULL;
  const folder = await mkdtemp(join(tmpdir(), 'paid-query-'));
  const processes = [];
  const start = (...given) => {
    const started = startNode(...given);
    processes.push(started);
    return started;
  };
  try {
    progress('starting the chain, the service and the rival');
    const chain = await startChain(start, folder);
    const ours = await startOurs(start, folder, chain);
    progress(`funding ${size.wallets} wallets`);
    const most = size.warmUps * size.warmUp + size.rounds * size.turnSeconds * FASTEST;
    const wallets = await fundedWallets(chain, size.wallets, BigInt(most));
    const body = await oneAnswer(ours, chain, wallets[0]);
    const rival = await startRival(start, folder, chain, body);

    const sides = [rival, ...(await inEachDialect(ours))];
    const runs = new Map(sides.map((side) => [side, []]));
    const paymentsOf = new Map();
    const turn = async (side, payments, name) => {
      const measured = await measure(side, chain, wallets, payments);
      paymentsOf.set(side, Math.round(measured.rate * size.turnSeconds));
      progress(
        `${name}, ${side.name}, ${side.dialect}: ${payments} payments, ${rounded(measured.rate)} a second, ` +
          `p99 ${rounded(measured.p99)} ms, ${measured.refused} refused`,
      );
      return measured;
    };
    // Every side's turns last about the same time: in a short turn, waking up from a pause dominates.
    for (let warmUp = 0; warmUp < size.warmUps; warmUp += 1) {
      for (const side of sides) await turn(side, size.warmUp, 'warm-up');
    }
    if (size.finality) await untilAtRest(ours);
    for (let round = 1; round <= size.rounds; round += 1) {
      // The side that starts meets a chain with less history, so the sides take turns in starting.
      const first = round % sides.length;
      for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
        const measured = await turn(side, paymentsOf.get(side), `round ${round} of ${size.rounds}`);
        // Our side's later work must not use the machine during the rival's turn; it is measured separately.
        if (side !== rival && size.finality) measured.later = (await untilAtRest(side)) / measured.payments;
        runs.get(side).push(measured);
      }
    }
    return report(size, body.length, rival, runs);
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function startRival(start, folder, chain, body) {
  const [port, feePayer, payTo] = [await freePort(), newKeypairBytes(), newKeypairBytes()];
  const bodyFile = join(folder, 'answer.json');
  await writeFile(bodyFile, body);
  await chain.call('requestAirdrop', feePayer.address, 100_000_000_000);
  await chain.call('requestTokenAirdrop', payTo.address, '1');
  const started = start([...SERVER_OPTIONS, RIVAL], {
    NODE_ENV: 'production',
    RPC_URL: chain.url,
    PAY_TO: payTo.address,
    FEE_PAYER_KEY: JSON.stringify(feePayer.bytes),
    BODY_FILE: bodyFile,
    PORT: String(port),
  });
  const alive = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status === 200;
  await until('the rival', alive, { process: started });
  return priced({ name: 'rival', url: `http://127.0.0.1:${port}/v2/case?${query}`, pid: started.pid }, RIVAL_DIALECT);
}

/** One side for each way of paying the service: the same process, price and receiver. */
const inEachDialect = (ours) => Promise.all(Object.keys(DIALECTS).map((dialect) => priced(ours, dialect)));

/** Buys one answer from our side: the bytes that the rival will serve. */
async function oneAnswer(ours, chain, wallet) {
  const pay = await payment(ours, chain);
  const response = await fetch(ours.url, { headers: pay(wallet) });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`the first paid call returned ${response.status}: ${body}`);
  return body;
}

/** One run of one side. @throws Error if the money that moved does not equal the price of the answers */
async function measure(side, chain, wallets, payments) {
  const before = await balances(side, chain, wallets);
  const pay = await payment(side, chain);
  const payers = Array.from({ length: payments }, (_, index) => wallets[index % wallets.length]);
  const headers = payers.map(pay);
  const [usedBefore, chainBefore, own] = [processorTime(side.pid), processorTime(chain.pid), process.cpuUsage()];

  const { elapsed, answers } = await load(side.url, headers, AT_ONCE);

  const perPayment = (milliseconds) => milliseconds / payments;
  const { user, system } = process.cpuUsage(own);
  const usage = {
    side: usedBefore === null ? null : perPayment(processorTime(side.pid) - usedBefore),
    chain: chainBefore === null ? null : perPayment(processorTime(chain.pid) - chainBefore),
    load: perPayment((user + system) / 1000),
  };
  const paid = answers.filter(({ status }) => status === 200);
  await assertMoney(side, chain, wallets, { before, payers, answers });
  const latencies = answers.map(({ latency }) => latency);
  const refusals = answers.filter(({ status }) => status !== 200);
  if (refusals.length > payments / 100) {
    throw new Error(
      `${side.name}, ${side.dialect}, refused ${refusals.length} of ${payments}; ` +
        `one: ${refusals[0].status} ${refusals[0].body}`,
    );
  }
  return {
    rate: (paid.length * 1000) / elapsed,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    payments,
    refused: refusals.length,
    usage,
    phases: phases(paid),
  };
}

/** Waits until our side has finished all work for what it sold. @returns its processor time until then, ms */
async function untilAtRest(side) {
  const before = processorTime(side.pid);
  if (before === null) return Number.NaN;
  await pause(FINALITY_MS);
  const giveUpAt = performance.now() + AT_REST_WITHIN_MS;
  for (;;) {
    const then = processorTime(side.pid);
    await pause(AT_REST_MS);
    const now = processorTime(side.pid);
    if (now - then < AT_REST_MS * AT_REST_SHARE || performance.now() > giveUpAt) return now - before;
  }
}

async function balances(side, chain, wallets) {
  const accounts = [side.receiver, ...wallets.map(({ tokenAccount }) => tokenAccount)];
  return inParallel(accounts, 8, (account) => tokenBalance(chain.call, account));
}

/**
 * The receiver's gain and each wallet's spending must equal the price of the answers. Each answer has a receipt, in the
 * dialect of its payment, and no receipt occurs twice.
 */
async function assertMoney(side, chain, wallets, { before, payers, answers }) {
  const after = await balances(side, chain, wallets);
  const bought = new Map(wallets.map((wallet) => [wallet, 0n]));
  const transactions = new Set();
  let sold = 0n;
  answers.forEach(({ status, headers }, index) => {
    if (status !== 200) return;
    sold += 1n;
    bought.set(payers[index], bought.get(payers[index]) + 1n);
    const receipt = receiptOf(DIALECTS[side.dialect], headers);
    if (receipt?.success && receipt.network === side.network) transactions.add(receipt.transaction);
  });
  const wrong = [];
  if (BigInt(transactions.size) !== sold) wrong.push(`${sold} answers carry ${transactions.size} receipts`);
  if (after[0] - before[0] !== sold * side.price) wrong.push(`the receiver gained ${after[0] - before[0]} for ${sold}`);
  wallets.forEach((wallet, index) => {
    const spent = before[index + 1] - after[index + 1];
    const owed = bought.get(wallet) * side.price;
    if (spent !== owed) wrong.push(`${wallet.address} spent ${spent} and owes ${owed}`);
  });
  if (wrong.length) {
    throw new Error(`${side.name}, ${side.dialect}: money and answers differ: ${wrong.slice(0, 5).join('; ')}`);
  }
}

/** Median milliseconds of each phase that `Server-Timing` names. */
function phases(answers) {
  const durations = new Map();
  for (const { headers } of answers) {
    for (const [, name, duration] of (headers['server-timing'] ?? '').matchAll(/([\w-]+);dur=([\d.]+)/g)) {
      if (!durations.has(name)) durations.set(name, []);
      durations.get(name).push(Number(duration));
    }
  }
  return Object.fromEntries([...durations].map(([name, values]) => [name, median(values)]));
}

/** Every figure of the service's turns in one dialect, next to the rival's. */
function rowsOf(size, dialect, ours, rival) {
  const named = (what) => `${dialect}${dialect === RIVAL_DIALECT ? '' : ` (rival ${RIVAL_DIALECT})`}: ${what}`;
  const row = (what, unit, pick, rest) => {
    const [left, right] = [ours.map(pick), rival.map(pick)];
    const values = [median(left), median(right)];
    return {
      what: named(what),
      unit,
      ours: rounded(values[0]),
      rival: rounded(values[1]),
      ratio: rounded(values[0] / values[1]),
      spread: { ours: spread(left).map(rounded), rival: spread(right).map(rounded) },
      ...rest,
      ...(rest?.met ? { met: rest.met(values[0] / values[1]) } : {}),
    };
  };
  /** A figure that only our side has. */
  const alone = (what, unit, pick) => {
    const values = ours.map(pick);
    return {
      what: `${dialect}: ${what}`,
      unit,
      ours: rounded(median(values)),
      spread: { ours: spread(values).map(rounded) },
    };
  };
  const processor = ours[0].usage.side !== null;
  return [
    row('rate', 'payments/s', ({ rate }) => rate, { target: '≥ 3×', met: (ratio) => ratio >= 3 }),
    row('latency, p50', 'ms', ({ p50 }) => p50),
    row('latency, p99', 'ms', ({ p99 }) => p99, { target: 'lower', met: (ratio) => ratio < 1 }),
    ...(processor
      ? [
          row('processor time of the server', 'ms/payment', ({ usage }) => usage.side),
          ...(size.finality ? [alone('processor time of the server, later', 'ms/payment', ({ later }) => later)] : []),
          row('processor time of the chain', 'ms/payment', ({ usage }) => usage.chain),
        ]
      : []),
    row('processor time of the load', 'ms/payment', ({ usage }) => usage.load),
    row('not answered 200', 'of all', ({ refused }) => refused),
    ...Object.keys(ours[0].phases).map((name) =>
      alone(`Server-Timing ${name}, p50`, 'ms', ({ phases: each }) => each[name]),
    ),
  ];
}

function report(size, bytes, rival, runs) {
  const sold = [...runs].filter(([side]) => side !== rival);
  return {
    title:
      `paid GET /v2/case, ${AT_ONCE} at once, by dialect, against Express with @x402/express and @x402/svm ` +
      `(the rival pays by ${RIVAL_DIALECT} in every row: it supports no other)`,
    rows: sold.flatMap(([{ dialect }, ours]) => rowsOf(size, dialect, ours, runs.get(rival))),
    setting: {
      wallets: size.wallets,
      secondsATurn: size.turnSeconds,
      runs: size.rounds,
      rivalDialect: RIVAL_DIALECT,
      answerBytes: bytes,
      settled: 'receiver, wallets and receipts match the answers after every run',
    },
  };
}
