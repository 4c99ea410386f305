/**
 * Compares the paid `GET /v2/case` of several checkouts of this project, on one local chain, in turns of changing
 * order, to see whether a change slowed the paid path. Each checkout must be installed and built, with the dependencies
 * of its `bench/`. Two starts of the same code differ by up to 10 %, so compare several starts, and change the order of
 * the checkouts.
 *
 *     node bench/compare.mjs ROUNDS CHECKOUT CHECKOUT...
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from './support/load.mjs';
import { fundedWallets, payment, priced, startChain } from './support/paid-service.mjs';
import { pause, processorTime, startNode } from './support/processes.mjs';
import { median, rounded } from './support/statistics.mjs';

const DIALECT = 'x402 v2';
const AT_ONCE = 32;
const WALLETS = 400;
const WARM_UPS = [300, 800];
const TURN_SECONDS = 2;
/** More payments per second than any side makes; wallets are funded for this many. */
const FASTEST = 500;
const REST_MS = 500;

const [roundsText, ...checkouts] = process.argv.slice(2);
const rounds = Number(roundsText);
if (!Number.isInteger(rounds) || rounds < 1 || checkouts.length < 2) {
  process.stderr.write('usage: node bench/compare.mjs ROUNDS CHECKOUT CHECKOUT...\n');
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'compare-'));
const processes = [];
const starting =
  (startIn) =>
  (...given) => {
    const started = startIn(...given);
    processes.push(started);
    return started;
  };

/** Starts the service of a checkout with that checkout's own code. */
async function startSide(checkout, chain, index) {
  const support = (file) => import(pathToFileURL(join(resolve(checkout), 'bench/support', file)).href);
  const [{ startOurs }, processesOfSide] = await Promise.all([support('paid-service.mjs'), support('processes.mjs')]);
  const own = join(folder, String(index));
  await mkdir(own);
  const side = await startOurs(starting(processesOfSide.startNode), own, chain);
  return { ...(await priced(side, DIALECT)), name: checkout, next: 0, turns: [] };
}

/** One side sells this many answers. @throws Error if more than one in a hundred is not answered 200 */
async function turn(side, chain, wallets, payments) {
  const pay = await payment(side, chain);
  const headers = Array.from({ length: payments }, (_, index) => pay(wallets[index % wallets.length]));
  const before = processorTime(side.pid);
  const { elapsed, answers } = await load(side.url, headers, AT_ONCE);
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length > payments / 100) throw new Error(`${side.name}: ${refused[0].status} ${refused[0].body}`);
  const rate = (payments * 1_000) / elapsed;
  side.next = Math.min(Math.round(rate * TURN_SECONDS), FASTEST * TURN_SECONDS);
  await pause(REST_MS);
  return { rate, processor: (processorTime(side.pid) - before) / payments };
}

const shuffled = (items) =>
  items
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

try {
  const chain = await startChain(starting(startNode), folder);
  const sides = [];
  for (const [index, checkout] of checkouts.entries()) sides.push(await startSide(checkout, chain, index));
  const most = WARM_UPS[0] + WARM_UPS[1] + rounds * TURN_SECONDS * FASTEST;
  const wallets = await fundedWallets(chain, WALLETS, BigInt(most * sides.length));
  for (const payments of WARM_UPS) for (const side of sides) await turn(side, chain, wallets, payments);
  for (let round = 0; round < rounds; round += 1) {
    for (const side of shuffled(sides)) side.turns.push(await turn(side, chain, wallets, side.next));
  }
  const figure = ({ turns }, pick) => median(turns.map(pick));
  const [base] = sides;
  for (const side of sides) {
    const rate = figure(side, (one) => one.rate);
    const processor = figure(side, (one) => one.processor);
    const than = (value, of) => `${rounded(100 * (value / figure(base, of) - 1))} %`;
    process.stdout.write(
      `${side.name}: ${rounded(rate)} payments/s (${than(rate, (one) => one.rate)}), processor time ` +
        `${rounded(processor)} ms/payment (${than(processor, (one) => one.processor)})\n`,
    );
  }
} finally {
  await Promise.all(processes.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
}
