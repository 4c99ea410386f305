/**
 * The figures of `docket revenue` and `docket wallets` with many payments, against one pass over the log; and building
 * their read model. Alone: `node bench/revenue.mjs [PAYMENTS] [--quick]`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import bs58 from 'bs58';
import { pino } from 'pino';
import {
  PaymentAuthorized,
  PaymentSettled,
  PaymentSubmitted,
  paymentStream,
  QueryAnswered,
} from '../dist/events/payment.js';
import { revenue } from '../dist/projections/revenue.js';
import { createProjectionRunner } from '../dist/projections/runner.js';
import { revenueOf, revenueOfWallet, topWallets } from '../dist/queries/revenue.js';
import { RevenueSums } from '../dist/queries/revenue-sums.js';
import { systemClock, toInstant } from '../dist/runtime/instant.js';
import { NO_STREAM } from '../dist/storage/event-log.js';
import { headAfter, prepareAppend } from '../dist/storage/prepare-append.js';
import { Database } from '../dist/storage/sqlite/driver.js';
import { openSqlite } from '../dist/storage/sqlite/open.js';
import { commandContext, inFolder } from './support/events.mjs';
import { DIALECTS, newKeypairBytes, newWallet } from './support/payments.mjs';
import { median, rounded } from './support/statistics.mjs';

const PAYMENTS = 1_000_000;
const QUICK_PAYMENTS = 20_000;
const WALLETS = 20_000;
const COURTS = 40;
const DAYS = 365;
const START = Date.parse('2026-01-01T00:00:00Z') * 1000;
const MICROS_OF_A_YEAR = DAYS * 86_400_000_000;
const PAYMENTS_OF_A_TRANSACTION = 5_000;
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = '990000';
const RUNS = 5;
const hex = (bytes) => randomBytes(bytes).toString('hex');
const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** Writes payments as a year's sales: the claim and the settlement, a day's after the day's before. */
function writePayments(directory, count, progress) {
  const database = new Database(join(directory, 'log.sqlite'));
  database.pragma('synchronous = OFF');
  const insert = database.prepare(
    'INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const payTo = newKeypairBytes().address;
  const terms = { network: 'solana:local', asset: MINT, payTo, maxAmountRequired: PRICE, extra: {} };
  const headers = new Headers({ 'x-payment-requirements': JSON.stringify(terms) });
  const wire = DIALECTS['self-paid'].read(headers).sign(newWallet(MINT), MINT);
  const wallets = Array.from({ length: WALLETS }, () => bs58.encode(randomBytes(32)));
  const courts = Array.from({ length: COURTS }, (_, index) => `court${index}`);
  const append = (stream, head, events, recordedAt) => {
    const prepared = prepareAppend({ stream, head, events, context: commandContext(), recordedAt });
    for (const { type, revision, id, metadata, data } of prepared.events) {
      insert.run(type, stream, revision, id, JSON.stringify(metadata), JSON.stringify(data));
    }
    return headAfter(prepared);
  };
  database.exec('BEGIN');
  for (let n = 0; n < count; n++) {
    const at = toInstant(START + Math.floor((n / count) * MICROS_OF_A_YEAR));
    const stream = paymentStream(hex(32));
    const requestId = randomUUID();
    const wallet = pick(wallets);
    const transaction = bs58.encode(randomBytes(64));
    const head = append(
      stream,
      NO_STREAM,
      [
        PaymentAuthorized.of({
          requestId,
          wallet,
          dialect: 'x402-v2',
          network: 'solana:local',
          mint: MINT,
          payTo,
          amount: PRICE,
          queries: 1,
          endpoint: pick(['GET /v2/case', 'GET /v2/monitor', 'POST /v2/cases']),
          requestHash: hex(32),
          identifierHash: null,
        }),
        QueryAnswered.of({
          requestId,
          answer: hex(32),
          keepUntil: at,
          answeredCases: 1,
          courts: [{ court: pick(courts), cases: 1 }],
          resultKey: 1,
          keyCall: null,
          callbacks: [],
        }),
        PaymentSubmitted.of({ transaction, wire, lastValidBlockHeight: 1000 }),
      ],
      at,
    );
    const charge = { transaction, slot: 7, requestId, wallet, amount: PRICE, answeredCases: 1, owes: null };
    append(stream, head, [PaymentSettled.of(charge)], at);
    if (n % PAYMENTS_OF_A_TRANSACTION === 0) {
      database.exec('COMMIT; BEGIN');
      if (n % 100_000 === 0) progress(`${n.toLocaleString('en-US')} payments written`);
    }
  }
  database.exec('COMMIT');
  database.close();
  return wallets;
}

async function timed(act) {
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now();
    await act();
    times.push(performance.now() - began);
  }
  return median(times);
}

/** The same sums from the log alone. */
async function passOverLog(log) {
  const days = new Map();
  for await (const { events } of log.readAll(null, { by: 'types', types: [PaymentSettled.type] })) {
    for (const { data, metadata } of events) {
      const day = metadata.recordedAt.slice(0, 10);
      days.set(day, (days.get(day) ?? 0n) + BigInt(data.amount));
    }
  }
  return days;
}

export async function run({ quick = false, progress = () => {}, payments = quick ? QUICK_PAYMENTS : PAYMENTS } = {}) {
  return inFolder(async (directory) => {
    await openSqlite({ directory }).close();
    const [wallet] = writePayments(directory, payments, progress);
    const storage = openSqlite({ directory });
    try {
      const { log, readStore } = storage;
      progress('building the read model');
      const began = performance.now();
      const cpu = process.cpuUsage();
      const logger = pino({ level: 'silent' });
      const ports = { ...storage, projections: [revenue], clock: systemClock, logger, owner: 'bench' };
      await createProjectionRunner(ports).catchUp();
      const seconds = (performance.now() - began) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      const all = { from: null, to: null };
      const passed = performance.now();
      const days = await passOverLog(log);
      const pass = performance.now() - passed;
      const { rows, total } = await revenueOf(readStore, 'day', all);
      if (rows.some(({ key, usdc }) => days.get(key) !== usdc) || total.payments !== payments) {
        throw new Error('the read model and the log differ');
      }
      for (const by of ['endpoint', 'court', 'wallet']) {
        for (const period of [all, { from: '2026-01-01', to: '2026-12-31' }]) {
          const { rows: parts } = await revenueOf(readStore, by, period);
          const sum = parts.reduce((amount, { usdc }) => amount + usdc, 0n);
          if (sum !== total.usdc) throw new Error(`the sums by ${by} differ`);
        }
      }
      const year = { from: '2026-01-01', to: '2026-12-31' };
      const day = '2026-07-01';
      const byWallet = async (period) => (await RevenueSums.read(readStore, 'wallet', period)).close();
      const figures = [
        ['by day', () => revenueOf(readStore, 'day', all)],
        ['by endpoint, a year of days', () => revenueOf(readStore, 'endpoint', year)],
        ['by court', () => revenueOf(readStore, 'court', all)],
        ['by court, a year of days', () => revenueOf(readStore, 'court', year)],
        ['by wallet', () => byWallet(all)],
        ['by wallet, a year of days', () => byWallet(year)],
        ['one wallet, all time', () => revenueOfWallet(readStore, wallet, null)],
        ['the 20 wallets that paid most', () => topWallets(readStore, 20)[Symbol.asyncIterator]().next()],
        ['one day', () => revenueOf(readStore, 'endpoint', { from: day, to: day })],
      ];
      const measured = [];
      for (const [what, act] of figures) {
        progress(what);
        measured.push({ what, unit: 'ms', ours: rounded(await timed(act)), rival: rounded(pass) });
      }
      const built = [
        { what: 'building, payments/s', unit: '1/s', ours: rounded(payments / seconds) },
        { what: 'building, processor time of a payment', unit: 'µs', ours: rounded((user + system) / payments) },
      ];
      return {
        title: `revenue of ${payments.toLocaleString('en-US')} payments; rival: one pass over the log`,
        rows: [...measured, ...built],
      };
    } finally {
      await storage.close();
    }
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const payments = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word))) || undefined;
  const quick = process.argv.includes('--quick');
  const progress = (line) => process.stderr.write(`${line}\n`);
  console.log(JSON.stringify(await run({ quick, progress, ...(payments && { payments }) }), null, 2));
}
