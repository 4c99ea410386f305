/**
 * Rebuilding a read model from the log, against a bare loop that does the same and against Emmett; and how long an
 * append takes to become visible, at rest and during a rebuild. Alone: `node bench/rebuild.mjs [EVENTS] [--quick]`.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getSQLiteEventStore, SQLiteConnectionPool, sqliteConnection } from '@event-driven-io/emmett-sqlite';
import { pino } from 'pino';
import { QueryAnswered } from '../dist/events/payment.js';
import { createProjectionRunner } from '../dist/projections/runner.js';
import { systemClock } from '../dist/runtime/instant.js';
import { NO_STREAM } from '../dist/storage/event-log.js';
import { headAfter, prepareAppend } from '../dist/storage/prepare-append.js';
import { Database } from '../dist/storage/sqlite/driver.js';
import { openSqlite } from '../dist/storage/sqlite/open.js';
import { answered, commandContext, inFolder, RECORDED_AT } from './support/events.mjs';
import { median, percentile, rounded, spread } from './support/statistics.mjs';

const EVENTS = 1_000_000;
const QUICK_EVENTS = 50_000;
/** Emmett gets fewer events: its rate does not depend on how many there are. */
const EMMETT_SHARE = 20;
const FLOOR_TARGET = 0.5;
const EMMETT_TARGET = 10;
const BATCH = 500;
/** A document's events are close together in the log, like those of a payment: four each, 32 documents at once. */
const EVENTS_OF_A_DOCUMENT = 4;
const DOCUMENTS_AT_ONCE = 32;

const documentOf = (index) => {
  const block = Math.floor(index / (EVENTS_OF_A_DOCUMENT * DOCUMENTS_AT_ONCE));
  const number = block * DOCUMENTS_AT_ONCE + (index % DOCUMENTS_AT_ONCE);
  return `${String(number).padStart(8, '0')}-90c5-4a58-9d4e-0c1d2e3f4a5b`;
};

const eventAt = (index) => {
  const { type, data } = answered(1);
  return { type, data: { ...data, requestId: documentOf(index) } };
};

/** The fold, the same for all sides. */
const fold = (document, { requestId, answeredCases, keepUntil, answer }) => ({
  requestId,
  events: (document?.events ?? 0) + 1,
  answeredCases: (document?.answeredCases ?? 0) + answeredCases,
  keepUntil,
  answer,
});

const projectionCalled = (name) => ({
  name,
  events: [QueryAnswered],
  collections: [{ name: `${name}-requests`, indexes: [] }],
  targets: ({ event }) => [{ collection: `${name}-requests`, id: event.data.requestId }],
  fold: (_, document, { event }) => fold(document, event.data),
});

const runnerOf = (storage, ...names) =>
  createProjectionRunner({
    ...storage,
    projections: names.map(projectionCalled),
    clock: systemClock,
    logger: pino({ level: 'error' }),
    owner: `bench ${names}`,
  });

async function fill(directory, count, progress) {
  const { log, close } = openSqlite({ directory });
  let head = NO_STREAM;
  for (let start = 0; start < count; start += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - start) }, (_, index) => eventAt(start + index));
    const stream = `payment-${Math.floor(start / 50_000)}`;
    if (start % 50_000 === 0) {
      head = NO_STREAM;
      progress(`filling the log: ${start.toLocaleString('en-US')} events`);
    }
    const append = prepareAppend({ stream, head, events, context: commandContext(), recordedAt: RECORDED_AT });
    await log.append(append);
    head = headAfter(append);
  }
  await close();
}

/** Events per second. The documents are checked, so that no side is fast by doing less work. */
async function rebuildOurs(directory, count) {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory, `read.sqlite${suffix}`), { force: true });
  const storage = openSqlite({ directory });
  const began = performance.now();
  await runnerOf(storage, 'rebuilt').catchUp();
  const rate = count / ((performance.now() - began) / 1000);
  const documents = await storage.readStore.count({ collection: 'rebuilt-requests' });
  await storage.close();
  return { rate, documents };
}

function rebuildBare(directory, count) {
  const source = new Database(join(directory, 'log.sqlite'), { readonly: true });
  const path = join(directory, 'bare-read.sqlite');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  const target = new Database(path);
  target.pragma('journal_mode = WAL');
  target.pragma('synchronous = NORMAL');
  target.exec(`
    CREATE TABLE requests (id TEXT NOT NULL UNIQUE, position TEXT NOT NULL, document TEXT) STRICT;
    CREATE TABLE checkpoints (projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT;
  `);
  const read = source.prepare('SELECT position, data FROM events WHERE position > ? ORDER BY position LIMIT ?').raw();
  const load = target.prepare('SELECT document FROM requests WHERE id = ?').pluck();
  const upsert = target.prepare(
    `INSERT INTO requests (id, position, document) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET position = excluded.position, document = excluded.document`,
  );
  const checkpoint = target.prepare(
    `INSERT INTO checkpoints VALUES ('requests', ?) ON CONFLICT DO UPDATE SET position = excluded.position`,
  );
  const apply = target.transaction((rows) => {
    for (const [position, text] of rows) {
      const data = JSON.parse(text);
      const stored = load.get(data.requestId);
      const document = fold(stored ? JSON.parse(stored) : null, data);
      upsert.run(data.requestId, String(position), JSON.stringify(document));
    }
    checkpoint.run(String(rows.at(-1)[0]));
  });
  const began = performance.now();
  let position = 0;
  for (let rows = read.all(position, BATCH); rows.length > 0; rows = read.all(position, BATCH)) {
    apply(rows);
    position = rows.at(-1)[0];
  }
  const rate = count / ((performance.now() - began) / 1000);
  const documents = target.prepare('SELECT count(*) FROM requests').pluck().get();
  source.close();
  target.close();
  return { rate, documents };
}

async function fillEmmett(directory, count) {
  const fileName = join(directory, 'emmett.sqlite');
  const connection = sqliteConnection({ fileName });
  const pool = SQLiteConnectionPool({ fileName, connectionOptions: { singleton: true, connection } });
  const store = getSQLiteEventStore({ fileName, pool });
  await store.schema.migrate();
  for (let start = 0; start < count; start += 100) {
    const events = Array.from({ length: Math.min(100, count - start) }, (_, index) => eventAt(start + index));
    await store.appendToStream(`payment-${Math.floor(start / 10_000)}`, events);
  }
  connection.close();
}

/**
 * Emmett's consumer as documented, with larger batches and no pause between them; it stores a checkpoint for each
 * event.
 */
async function rebuildEmmett(directory, count) {
  const fileName = join(directory, 'emmett.sqlite');
  const connection = sqliteConnection({ fileName });
  const table = `requests_${process.hrtime.bigint()}`;
  await connection.command(`CREATE TABLE ${table} (id TEXT NOT NULL UNIQUE, document TEXT)`);
  const pool = SQLiteConnectionPool({ fileName, connectionOptions: { singleton: true, connection } });
  const store = getSQLiteEventStore({ fileName, pool });
  const consumer = store.consumer({ pulling: { batchSize: BATCH, pullingFrequencyInMs: 0 } });
  consumer.processor({
    processorId: table,
    startFrom: 'BEGINNING',
    connectionOptions: { fileName, connection },
    stopAfter: ({ metadata }) => metadata.globalPosition >= BigInt(count),
    eachMessage: async ({ data }) => {
      const stored = await connection.querySingle(`SELECT document FROM ${table} WHERE id = ?`, [data.requestId]);
      const document = fold(stored ? JSON.parse(stored.document) : null, data);
      await connection.command(
        `INSERT INTO ${table} (id, document) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document`,
        [data.requestId, JSON.stringify(document)],
      );
    },
  });
  const began = performance.now();
  await consumer.start();
  const rate = count / ((performance.now() - began) / 1000);
  const [{ documents }] = await connection.query(`SELECT count(*) AS documents FROM ${table}`);
  connection.close();
  return { rate, documents };
}

/**
 * Milliseconds until the document is visible, from the call of the append and from its acknowledgement; the difference
 * is the disk's. Appends are some milliseconds apart.
 */
async function visibleAfter(storage, runner, name, appends) {
  const times = [];
  let head = NO_STREAM;
  const stream = `payment-visible-${name}-${performance.now()}`;
  for (let index = 0; index < appends; index++) {
    const began = performance.now();
    const append = prepareAppend({
      stream,
      head,
      events: [answered(1)],
      context: commandContext(),
      recordedAt: RECORDED_AT,
    });
    const { position } = await storage.log.append(append);
    const acknowledged = performance.now();
    head = headAfter(append);
    if (!(await runner.waitFor(name, position, 10_000))) throw new Error('not visible within ten seconds');
    const end = performance.now();
    times.push({ whole: end - began, acknowledged: end - acknowledged });
    await new Promise((done) => setTimeout(done, 5));
  }
  return times;
}

async function latencies(directory, appends) {
  const storage = openSqlite({ directory });
  const live = runnerOf(storage, 'rebuilt');
  await live.catchUp();
  await live.start();
  await visibleAfter(storage, live, 'rebuilt', 20);
  const idle = await visibleAfter(storage, live, 'rebuilt', appends);
  const busy = [];
  for (let round = 0; busy.length < appends; round++) {
    const rebuilding = runnerOf(storage, `again-${round}`);
    let done = false;
    const rebuilt = rebuilding.catchUp().finally(() => {
      done = true;
    });
    while (!done) busy.push(...(await visibleAfter(storage, live, 'rebuilt', 5)));
    await rebuilt;
  }
  await live.stop();
  await storage.close();
  return { idle, busy };
}

export async function run({ quick = false, progress = () => {}, events = quick ? QUICK_EVENTS : EVENTS } = {}) {
  const runs = quick ? 3 : 5;
  const forEmmett = Math.max(2000, Math.floor(events / EMMETT_SHARE));
  const rates = { ours: [], bare: [], emmett: [] };
  return inFolder(async (directory) => {
    await fill(directory, events, progress);
    await fillEmmett(directory, forEmmett);
    const sides = {
      ours: () => rebuildOurs(directory, events),
      bare: () => rebuildBare(directory, events),
      emmett: () => rebuildEmmett(directory, forEmmett),
    };
    for (let turn = 0; turn < runs; turn++) {
      const names = Object.keys(sides);
      for (const side of turn % 2 ? names.toReversed() : names) {
        const { rate, documents } = await sides[side]();
        const count = side === 'emmett' ? forEmmett : events;
        const expected = new Set(Array.from({ length: count }, (_, index) => documentOf(index))).size;
        if (documents !== expected) throw new Error(`${side} has ${documents} documents, not ${expected}`);
        rates[side].push(rate);
        progress(`run ${turn + 1}, ${side}: ${Math.round(rate).toLocaleString('en-US')} events/s`);
      }
    }
    const { idle, busy } = await latencies(directory, quick ? 100 : 500);
    const what = `rebuild ${events.toLocaleString('en-US')} events`;
    return {
      title: 'Rebuilding a read model, and how soon an append is visible',
      rows: [
        ratioRow(`${what}, against a bare loop with upsert and checkpoint`, rates.ours, rates.bare, FLOOR_TARGET),
        ratioRow(`${what}, against Emmett`, rates.ours, rates.emmett, EMMETT_TARGET),
        latencyRow('append to visible at rest, p99', idle, 'whole', 25),
        latencyRow('of it after the acknowledgement', idle, 'acknowledged'),
        latencyRow('append to visible during a rebuild, p99', busy, 'whole', 100),
        latencyRow('of it after the acknowledgement', busy, 'acknowledged'),
      ],
    };
  });
}

function ratioRow(what, ours, rival, target) {
  const ratio = rounded(median(ours) / median(rival));
  return {
    what,
    unit: 'events/s',
    ours: rounded(median(ours)),
    rival: rounded(median(rival)),
    ratio,
    target: `≥ ${target}×`,
    met: ratio >= target,
    spread: { ours: spread(ours).map(rounded), rival: spread(rival).map(rounded) },
  };
}

function latencyRow(what, measured, part, limit) {
  const times = measured.map((one) => one[part]);
  const p99 = percentile(times, 0.99);
  return {
    what,
    unit: 'ms',
    ours: rounded(p99),
    ...(limit && { target: `≤ ${limit}`, met: p99 <= limit }),
    spread: { ours: [median(times), Math.max(...times)].map(rounded) },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const count = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 0);
  const quick = process.argv.includes('--quick');
  const progress = (line) => process.stderr.write(`${line}\n`);
  const result = await run({ quick, progress, ...(count && { events: count }) });
  console.table(result.rows.map(({ spread: _, ...figures }) => figures));
}
