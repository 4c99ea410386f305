/**
 * What the heads of the log cost the paid path: the paid `GET /v2/case` of two services of the same build on one local
 * chain, one with `AUDIT_HEADS=on` and one with `off`, in turns. A head is written each minute, whichever side has its
 * turn, so the processor time is that of each process over the whole measurement, and a minute longer. Two starts of the
 * same code differ by more than heads cost. So the cost is measured alone, too: after the services have ended, heads are
 * written over the log of the side that had none.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './support/load.mjs';
import { fundedWallets, payment, priced, startChain, startOurs } from './support/paid-service.mjs';
import { pause, processorTime, startNode } from './support/processes.mjs';
import { median, percentile, rounded, spread } from './support/statistics.mjs';

const DIALECT = 'x402 v2';
const AT_ONCE = 32;
const WALLETS = 400;
const FULL = { warmUps: 2, warmUp: 800, turnSeconds: 5, rounds: 20, rest: 66_000 };
const QUICK = { warmUps: 1, warmUp: 300, turnSeconds: 3, rounds: 4, rest: 66_000 };
/** Payments a second that the wallets are funded for. */
const FASTEST = 600;
const MOST_MORE = 0.02;

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick ? QUICK : FULL;
  const folder = await mkdtemp(join(tmpdir(), 'audit-heads-'));
  const processes = [];
  const start = (...given) => {
    const started = startNode(...given);
    processes.push(started);
    return started;
  };
  try {
    const chain = await startChain(start, folder);
    const sides = [];
    for (const name of ['on', 'off']) {
      const own = join(folder, name);
      await mkdir(own);
      const side = await startOurs(start, own, chain, { AUDIT_HEADS: name });
      sides.push({ ...(await priced(side, DIALECT)), name, own, turns: [], next: size.warmUp, sold: 0, inAll: 0 });
    }
    progress(`funding ${WALLETS} wallets`);
    const most = size.warmUps * size.warmUp + size.rounds * size.turnSeconds * FASTEST;
    const wallets = await fundedWallets(chain, WALLETS, BigInt(most));
    for (let warmUp = 0; warmUp < size.warmUps; warmUp++) for (const side of sides) await turn(side, chain, wallets);
    // What the warm-up recorded gets its head before the measurement.
    await pause(size.rest);
    for (const side of sides) Object.assign(side, { turns: [], sold: 0, began: processorTime(side.pid) });
    for (let round = 0; round < size.rounds; round++) {
      for (const side of round % 2 ? [...sides].reverse() : sides) {
        const { rate } = await turn(side, chain, wallets);
        side.next = Math.min(Math.round(rate * size.turnSeconds), FASTEST * size.turnSeconds);
        progress(`round ${round + 1} of ${size.rounds}, heads ${side.name}: ${rounded(rate)} a second`);
      }
    }
    await pause(size.rest);
    const measured = sides.map((side) => ({ ...side, each: (processorTime(side.pid) - side.began) / side.sold }));
    await Promise.all(processes.splice(0).map((each) => each.stop()));
    const [on, off] = measured;
    return report(size, on, off, (await headsOver(join(off.own, 'service'))) / off.inAll);
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes heads over a whole log. @returns the processor time, ms */
async function headsOver(directory) {
  const dist = (file) => import(new URL(`../dist/${file}`, import.meta.url).href);
  const { openSqlite } = await dist('storage/sqlite/open.js');
  const { createLogHeads } = await dist('processes/log-heads.js');
  const { readMasterKeys } = await dist('callbacks/master-keys.js');
  const { systemClock } = await dist('runtime/instant.js');
  const storage = openSqlite({ directory });
  try {
    const masterKeys = readMasterKeys(`1:${'11'.repeat(32)}`);
    const logger = { info() {}, warn() {}, error() {} };
    const heads = createLogHeads({
      ...storage,
      masterKeys,
      logId: 'bench',
      clock: systemClock,
      logger,
      owner: 'bench',
    });
    const before = process.cpuUsage();
    await heads.round();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  } finally {
    await storage.close();
  }
}

/** One side sells its next number of answers. @throws Error if more than one in a hundred is not answered 200 */
async function turn(side, chain, wallets) {
  const pay = await payment(side, chain);
  const headers = Array.from({ length: side.next }, (_, index) => pay(wallets[index % wallets.length]));
  const { elapsed, answers } = await load(side.url, headers, AT_ONCE);
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length > headers.length / 100) throw new Error(`${refused[0].status} ${refused[0].body}`);
  const measured = {
    rate: (headers.length * 1_000) / elapsed,
    p99: percentile(
      answers.map(({ latency }) => latency),
      0.99,
    ),
  };
  side.turns.push(measured);
  side.sold += headers.length - refused.length;
  side.inAll += headers.length - refused.length;
  return measured;
}

function report(size, on, off, heads) {
  const row = (what, unit, pick) => {
    const [left, right] = [on, off].map(({ turns }) => turns.map(pick));
    const values = [median(left), median(right)];
    return {
      what,
      unit,
      ours: rounded(values[0]),
      rival: rounded(values[1]),
      ratio: values[0] / values[1],
      spread: { ours: spread(left).map(rounded), rival: spread(right).map(rounded) },
    };
  };
  const ratio = (off.each + heads) / off.each;
  return {
    title: `paid GET /v2/case, ${AT_ONCE} at once, with heads of the log (ours) and without (rival)`,
    rows: [
      {
        what: 'processor time of the service without heads, plus that of heads measured alone',
        unit: 'ms/payment',
        ours: off.each + heads,
        rival: off.each,
        ratio,
        target: `≤ ${1 + MOST_MORE}×`,
        met: ratio <= 1 + MOST_MORE,
      },
      {
        what: 'processor time of both services',
        unit: 'ms/payment',
        ours: on.each,
        rival: off.each,
        ratio: on.each / off.each,
      },
      row('rate', 'payments/s', ({ rate }) => rate),
      row('latency, p99', 'ms', ({ p99 }) => p99),
    ],
    setting: { wallets: WALLETS, secondsATurn: size.turnSeconds, runs: size.rounds, payments: [on.sold, off.sold] },
  };
}
