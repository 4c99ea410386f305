/**
 * Callbacks: the rate and processor time of attempts against a minimal implementation; what pending deliveries cost in
 * memory and at startup; and how much 1,000 hostile receivers slow the callers of paid queries.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './support/load.mjs';
import { fundedWallets, payment, startChain, startOurs } from './support/paid-service.mjs';
import { DOCKET, freePort, pause, runNode, SERVER_OPTIONS, startNode, until } from './support/processes.mjs';
import { median, percentile, rounded, spread } from './support/statistics.mjs';

const script = (name) => fileURLToPath(new URL(`./support/${name}`, import.meta.url));
const FULL = { attempts: 4_000, rounds: 5, pending: 1_000_000, payments: 1_200, wallets: 200, hostile: 1_000 };
const QUICK = { attempts: 1_000, rounds: 3, pending: 50_000, payments: 200, wallets: 60, hostile: 200 };
const ALTERNATIONS = 5;
const RECEIVERS = 32;
const AT_ONCE = 32;
const TARGETS = { rate: 0.5, startMs: 20_000, p99: 1.25 };

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick ? QUICK : FULL;
  const folder = await mkdtemp(join(tmpdir(), 'deliveries-'));
  const processes = [];
  const start = (...given) => {
    const started = startNode(...given);
    processes.push(started);
    return started;
  };
  try {
    const rows = [
      ...(await attemptRows(start, folder, size, progress)),
      ...(await pendingRows(start, folder, size, progress)),
      ...(await hostileRows(start, folder, size, progress)),
    ];
    return { title: 'Callbacks: rate, pending deliveries, hostile receivers', rows };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts receivers in a separate process. @returns their ports */
async function receivers(start, count, temper) {
  const started = start([script('receivers.mjs'), String(count), temper]);
  await until(`${count} receivers`, async () => started.output().includes(']'), { process: started });
  return JSON.parse(started.output());
}

async function attemptRows(start, folder, { attempts, rounds }, progress) {
  const ports = JSON.stringify(await receivers(start, RECEIVERS, 'willing'));
  const figures = { ours: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 ? ['ours', 'bare'] : ['bare', 'ours']) {
      const data = join(folder, `${side}-${round}`);
      await mkdir(data);
      const printed = await runNode([script('delivery-side.mjs'), side, data, String(attempts), ports]);
      await rm(data, { recursive: true });
      const { elapsed, processor } = JSON.parse(printed.trim().split('\n').at(-1));
      const figure = { rate: (attempts * 1000) / elapsed, processor: processor / attempts };
      // Round 0 warms the disk and the receivers.
      if (round) figures[side].push(figure);
      progress(
        `attempts, ${side}, ${round ? `round ${round} of ${rounds}` : 'warm-up'}: ${rounded(figure.rate)} a second`,
      );
    }
  }
  const of = (side, key) => figures[side].map((figure) => figure[key]);
  const compared = (key) => ({
    ours: rounded(median(of('ours', key))),
    rival: rounded(median(of('bare', key))),
    ratio: rounded(median(of('ours', key)) / median(of('bare', key))),
    spread: { ours: spread(of('ours', key)).map(rounded), rival: spread(of('bare', key)).map(rounded) },
  });
  const rate = compared('rate');
  return [
    {
      what: `attempts to ${RECEIVERS} receivers, against a bare undici loop with HMAC and a durable row`,
      unit: 'attempts/s',
      ...rate,
      target: `≥ ${TARGETS.rate}×`,
      met: rate.ratio >= TARGETS.rate,
    },
    { what: 'processor time', unit: 'ms an attempt', ...compared('processor') },
  ];
}

const residentMiB = (pid) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

/** Starts the whole service on a folder. @returns the time until it was ready, and its memory at rest */
async function startOn(start, folder, chain) {
  const adminPort = await freePort();
  const began = performance.now();
  const service = start([...SERVER_OPTIONS, DOCKET, 'serve'], {
    SOLANA_NETWORK: 'local',
    SOLANA_RPC_URL: chain.url,
    PORT: String(await freePort()),
    ADMIN_PORT: String(adminPort),
    DATA_DIR: folder,
  });
  const ready = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status === 200;
  await until('the service', ready, { process: service, within: 120_000 });
  const startMs = performance.now() - began;
  // By then it has loaded what is due within its horizon.
  await pause(10_000);
  const memory = residentMiB(service.pid);
  await service.stop();
  return { startMs, memory };
}

async function pendingRows(start, folder, { pending }, progress) {
  const chain = await startChain(start, join(folder, 'pending'));
  const data = join(folder, 'with-pending');
  const without = await startOn(start, join(folder, 'without'), chain);
  progress(`scheduling ${pending.toLocaleString('en-US')} deliveries`);
  await runNode([script('pending-side.mjs'), data, String(pending)]);
  progress('starting on them');
  const { startMs, memory } = await startOn(start, data, chain);
  const each = ((memory - without.memory) * 1024 * 1024) / pending;
  const many = pending.toLocaleString('en-US');
  return [
    {
      what: `start to ready with ${many} pending deliveries`,
      unit: 's',
      ours: rounded(startMs / 1000),
      target: `< ${TARGETS.startMs / 1000} s`,
      met: startMs < TARGETS.startMs,
    },
    { what: `resident memory with ${many} pending`, unit: 'MiB', ours: rounded(memory) },
    { what: 'resident memory with none', unit: 'MiB', ours: rounded(without.memory) },
    { what: 'memory for each pending delivery', unit: 'bytes', ours: rounded(each) },
  ];
}

async function hostileRows(start, folder, { payments, wallets: count, hostile }, progress) {
  const ports = await receivers(start, hostile, 'hostile');
  const allowed = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const [calm, besieged] = [join(folder, 'calm'), join(folder, 'besieged')];
  await Promise.all([mkdir(calm), mkdir(besieged)]);
  const chain = await startChain(start, folder);
  const sides = {
    calm: await startOurs(start, calm, chain),
    besieged: await startOurs(start, besieged, chain, { CALLBACK_ALLOW_PRIVATE: allowed }),
  };
  progress(`funding ${count} wallets`);
  const wallets = await fundedWallets(chain, count, BigInt(payments * (ALTERNATIONS + 1)));
  const p99 = { calm: [], besieged: [] };
  for (let turn = 0; turn <= ALTERNATIONS; turn += 1) {
    for (const name of turn % 2 ? ['calm', 'besieged'] : ['besieged', 'calm']) {
      const [side, other] = [sides[name], sides[name === 'calm' ? 'besieged' : 'calm']];
      // One side's running attempts must not slow the callers of the other.
      process.kill(other.pid, 'SIGSTOP');
      const pay = await payment(side, chain);
      const headers = Array.from({ length: payments }, (_, index) => pay(wallets[index % wallets.length]));
      const target = (port) => `${side.url}&callback_url=${encodeURIComponent(`http://127.0.0.1:${port}/hook`)}`;
      const { answers } = await load(name === 'calm' ? side.url : ports.map(target), headers, AT_ONCE);
      process.kill(other.pid, 'SIGCONT');
      const refused = answers.find(({ status }) => status !== 200);
      if (refused) throw new Error(`a paid query returned ${refused.status}: ${refused.body}`);
      const figure = percentile(
        answers.map(({ latency }) => latency),
        0.99,
      );
      if (turn) p99[name].push(figure);
      progress(`${name}, ${turn ? `turn ${turn} of ${ALTERNATIONS}` : 'warm-up'}: p99 ${rounded(figure)} ms`);
    }
  }
  const ratio = median(p99.besieged.map((figure, turn) => figure / p99.calm[turn]));
  return [
    {
      what: `p99 of paid queries that push to ${hostile.toLocaleString('en-US')} hostile receivers, against queries that push nothing`,
      unit: 'ms',
      ours: rounded(median(p99.besieged)),
      rival: rounded(median(p99.calm)),
      ratio: rounded(ratio),
      target: `≤ ${TARGETS.p99}×`,
      met: ratio <= TARGETS.p99,
      spread: { ours: spread(p99.besieged).map(rounded), rival: spread(p99.calm).map(rounded) },
    },
  ];
}
