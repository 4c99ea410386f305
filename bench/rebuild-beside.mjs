/**
 * What a rebuild costs those who are served beside it: the p99 of the paid `GET /v2/case` with and without a rebuild of the
 * read model of payments in the same service, in turns; how soon an append is visible meanwhile; and how fast the rebuild
 * goes beside the load and alone. Alone: `node bench/rebuild-beside.mjs [EVENTS] [--quick]`.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { handleWithRetry } from '../dist/commands/handle.js';
import { projectionActs } from '../dist/commands/projection/projection-acts.js';
import { readConfig } from '../dist/config.js';
import { operatorStream, projectionSubject } from '../dist/events/operator.js';
import {
  PaymentAuthorized,
  PaymentFinalized,
  PaymentSettled,
  PaymentSubmitted,
  QueryAnswered,
} from '../dist/events/payment.js';
import { PROJECTIONS } from '../dist/projections/all.js';
import { payments } from '../dist/projections/payments.js';
import { createProjectionRunner } from '../dist/projections/runner.js';
import { systemClock, toInstant } from '../dist/runtime/instant.js';
import { startGenerationRole } from '../dist/service/generation-role.js';
import { NO_STREAM } from '../dist/storage/event-log.js';
import { prepareAppend } from '../dist/storage/prepare-append.js';
import { openSqlite } from '../dist/storage/sqlite/open.js';
import { commandContext } from './support/events.mjs';
import { load } from './support/load.mjs';
import { fundedWallets, payment, priced, startChain, startOurs } from './support/paid-service.mjs';
import { pause, startNode } from './support/processes.mjs';
import { median, percentile, rounded, spread } from './support/statistics.mjs';

const NAME = payments.name;
const DIALECT = 'x402 v2';
const AT_ONCE = 32;
const WALLETS = 400;
const FULL = { events: 1_000_000, rounds: 5, turnSeconds: 6, appends: 500 };
const QUICK = { events: 100_000, rounds: 2, turnSeconds: 4, appends: 100 };
const FASTEST = 600;
const EVENTS_OF_A_PAYMENT = 5;
const P99_GROWTH = 1.25;
const VISIBLE_MS = 100;
const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';

export async function run({ quick = false, progress = () => {}, events } = {}) {
  const size = { ...(quick ? QUICK : FULL), ...(events && { events }) };
  const folder = await mkdtemp(join(tmpdir(), 'rebuild-beside-'));
  const processes = [];
  const start = (...given) => {
    const started = startNode(...given);
    processes.push(started);
    return started;
  };
  try {
    const directory = join(folder, 'service');
    await mkdir(directory);
    await fill(directory, size.events, progress);
    progress('starting the service');
    const chain = await startChain(start, folder);
    const side = await priced(await startOurs(start, folder, chain), DIALECT);
    const wallets = await fundedWallets(chain, WALLETS, BigInt((size.rounds * 2 + 2) * size.turnSeconds * FASTEST));
    const storage = openSqlite({ directory });
    progress('the service folds the log for the first time');
    await caughtUp(storage);
    const figures = { alone: [], beside: [], rates: [] };
    let next = 400;
    for (let warmUp = 0; warmUp < 2; warmUp++) await turn(side, chain, wallets, next);
    for (let round = 0; round < size.rounds; round++) {
      for (const kind of round % 2 ? ['beside', 'alone'] : ['alone', 'beside']) {
        if (kind === 'beside') await startRebuild(storage);
        const before = await folded(storage);
        const measured = await turn(side, chain, wallets, next);
        if (kind === 'beside') {
          const done = (await folded(storage)) - before;
          figures.rates.push((done * 1000) / measured.elapsed);
          if (done >= size.events * 0.95) progress('the rebuild ended before the turn: take more events');
          await dropRebuild(storage);
        }
        figures[kind].push(measured.p99);
        next = Math.min(Math.round(measured.rate * size.turnSeconds), FASTEST * size.turnSeconds);
        progress(
          `round ${round + 1} of ${size.rounds}, ${kind}: p99 ${rounded(measured.p99)} ms, ${rounded(measured.rate)}/s`,
        );
      }
    }
    progress('a rebuild without load');
    const rate = await fullSpeed(storage, size.events);
    await storage.close();
    await Promise.all(processes.splice(0).map((each) => each.stop()));
    progress('appends beside a rebuild');
    const visible = await visibleBeside(directory, size.appends);
    return report(size, figures, rate, visible);
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** The read models that the service has just begun would take the machine from both sides of the comparison. */
async function caughtUp({ log, readStore }) {
  const head = await log.head();
  for (const { name } of PROJECTIONS) {
    const reached = async () => (await readStore.checkpoint(name, await readStore.activeGeneration(name))) ?? '';
    while ((await reached()) < head) await pause(500);
  }
}

/** Payments that are long final, as a service leaves them. */
async function fill(directory, events, progress) {
  const { log, close } = openSqlite({ directory });
  const count = Math.ceil(events / EVENTS_OF_A_PAYMENT);
  for (let done = 0; done < count; done += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - done) }, () => log.append(paid())));
    if (done % 50_000 === 0) progress(`filling the log: ${(done * EVENTS_OF_A_PAYMENT).toLocaleString('en')} events`);
  }
  await close();
}

const hex = () => `${randomUUID()}${randomUUID()}`.replaceAll('-', '');

function paid() {
  const requestId = randomUUID();
  const transaction = '2'.repeat(88);
  const charged = { transaction, slot: 77, requestId, wallet: WALLET, amount: '990000', answeredCases: 1 };
  const events = [
    PaymentAuthorized.of({
      requestId,
      wallet: WALLET,
      dialect: 'x402-v2',
      network: 'solana:local',
      mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      payTo: WALLET,
      amount: '990000',
      queries: 1,
      endpoint: 'GET /v2/case',
      requestHash: hex(),
      identifierHash: null,
    }),
    QueryAnswered.of({
      requestId,
      answer: hex(),
      keepUntil: '2026-04-01T12:00:00.000000Z',
      answeredCases: 1,
      keyCall: null,
      callbacks: [],
    }),
    PaymentSubmitted.of({ transaction, wire: 'AQID', lastValidBlockHeight: 150 }),
    PaymentSettled.of({ ...charged, owes: null }),
    PaymentFinalized.of({ transaction, slot: 77 }),
  ];
  const recordedAt = toInstant(systemClock.now());
  return prepareAppend({ stream: `payment-${hex()}`, head: NO_STREAM, events, context: commandContext(), recordedAt });
}

async function turn(side, chain, wallets, count) {
  const pay = await payment(side, chain);
  const headers = Array.from({ length: count }, (_, index) => pay(wallets[index % wallets.length]));
  const { elapsed, answers } = await load(side.url, headers, AT_ONCE);
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length > headers.length / 100) throw new Error(`${refused[0].status} ${refused[0].body}`);
  const p99 = percentile(
    answers.map(({ latency }) => latency),
    0.99,
  );
  return { rate: (count * 1000) / elapsed, p99, elapsed };
}

const act = (storage, command) =>
  handleWithRetry(
    { log: storage.log, clock: systemClock },
    projectionActs,
    operatorStream(projectionSubject(NAME)),
    { ...command, projection: NAME, by: 'bench', reason: 'bench' },
    commandContext(),
  );

const active = (storage) => storage.readStore.activeGeneration(NAME);

async function beside(storage) {
  const seen = await active(storage);
  return (await storage.readStore.generations(NAME)).find((generation) => generation !== seen) ?? null;
}

async function folded(storage) {
  const generation = await beside(storage);
  return generation === null ? 0 : ((await storage.readStore.progress(NAME, generation))?.folded ?? 0);
}

/** Returns once the service builds. */
async function startRebuild(storage) {
  const present = await active(storage);
  await act(storage, { type: 'StartRebuild', present, highest: present, through: await storage.log.head() });
  while ((await folded(storage)) === 0) await pause(20);
}

/** Returns once the service has removed it. */
async function dropRebuild(storage) {
  await act(storage, { type: 'CancelRebuild' });
  while ((await beside(storage)) !== null) await pause(100);
  await pause(1_000);
}

/** Events a second with nobody else at work. */
async function fullSpeed(storage, events) {
  await startRebuild(storage);
  const began = { at: performance.now(), folded: await folded(storage) };
  while ((await folded(storage)) < events) await pause(20);
  const rate = ((events - began.folded) * 1000) / (performance.now() - began.at);
  await dropRebuild(storage);
  return rate;
}

/** Milliseconds from the call of an append until it is visible, while this process builds beside, as a service does. */
async function visibleBeside(directory, appends) {
  const storage = openSqlite({ directory });
  const logger = pino({ level: 'silent' });
  const options = { ...storage, clock: systemClock, logger };
  const runner = createProjectionRunner({ ...options, projections: [payments], owner: 'bench' });
  await runner.start();
  const config = readConfig({ DATA_DIR: directory });
  const role = startGenerationRole({ storage, config, clock: systemClock, logger });
  await startRebuild(storage);
  const times = [];
  for (let index = 0; index < appends; index++) {
    const began = performance.now();
    const { position } = await storage.log.append(paid());
    if (!(await runner.waitFor(NAME, position, 10_000))) throw new Error('not visible within ten seconds');
    times.push(performance.now() - began);
    await pause(5);
  }
  const isOver = (await folded(storage)) === 0;
  await act(storage, { type: 'CancelRebuild' });
  await role.stop();
  await runner.stop();
  await storage.close();
  if (isOver) throw new Error('there was no rebuild');
  return times;
}

function report({ events }, { alone, beside: with_, rates }, rate, visible) {
  const growth = rounded(median(with_) / median(alone));
  const p99 = percentile(visible, 0.99);
  return {
    title: 'A rebuild beside those who are served',
    rows: [
      {
        what: `p99 of paid queries during a rebuild of ${events.toLocaleString('en-US')} events, ${AT_ONCE} at once`,
        unit: 'ms',
        ours: rounded(median(with_)),
        rival: rounded(median(alone)),
        ratio: growth,
        target: `< ${P99_GROWTH}×`,
        met: growth < P99_GROWTH,
        spread: { ours: spread(with_).map(rounded), rival: spread(alone).map(rounded) },
      },
      {
        what: 'append to visible meanwhile, p99',
        unit: 'ms',
        ours: rounded(p99),
        target: `< ${VISIBLE_MS}`,
        met: p99 < VISIBLE_MS,
        spread: { ours: [median(visible), Math.max(...visible)].map(rounded) },
      },
      {
        what: 'the rebuild beside that load',
        unit: 'events/s',
        ours: rounded(median(rates)),
        spread: { ours: spread(rates).map(rounded) },
      },
      { what: 'the rebuild in the same service without load', unit: 'events/s', ours: rounded(rate) },
    ],
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const count = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 0);
  const progress = (line) => process.stderr.write(`${line}\n`);
  const result = await run({ quick: process.argv.includes('--quick'), progress, ...(count && { events: count }) });
  console.table(result.rows.map(({ spread: _, ...figures }) => figures));
}
