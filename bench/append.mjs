/**
 * Benchmark of appends to the event log, against a minimal loop with the same durability and against Emmett's SQLite
 * store. Alone: `node bench/append.mjs [--quick]`.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getSQLiteEventStore, SQLiteConnectionPool, sqliteConnection } from '@event-driven-io/emmett-sqlite';
import { NO_STREAM } from '../dist/storage/event-log.js';
import { headAfter, prepareAppend } from '../dist/storage/prepare-append.js';
import { openSqlite } from '../dist/storage/sqlite/open.js';
import { bareLog } from './support/bare-log.mjs';
import { answered, commandContext, inFolder, RECORDED_AT } from './support/events.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const AT_A_TIME = [1, 10, 100];
const WRITERS = [1, 8, 64];
const FLOOR_TARGET = 0.8;
const EMMETT_TARGET = 5;

/** The appends of one writer, each following the previous one, prepared while the clock is stopped. */
function prepared(stream, appends, size) {
  const list = [];
  let head = NO_STREAM;
  for (let index = 0; index < appends; index++) {
    const events = Array.from({ length: size }, () => answered(1));
    const append = prepareAppend({ stream, head, events, context: commandContext(), recordedAt: RECORDED_AT });
    list.push(append);
    head = headAfter(append);
  }
  return list;
}

const perWriter = (writers, appends, size) =>
  Array.from({ length: writers }, (_, writer) => prepared(`payment-${'0'.repeat(60)}${writer}`, appends, size));

/** Each side opens its own log and returns a function that writes a batch of every writer's appends. */
const SIDES = {
  ours: (directory) => {
    const { log, close } = openSqlite({ directory: join(directory, 'ours') });
    const writer = async (queue) => {
      for (const append of queue) await log.append(append);
    };
    return { write: (queues) => Promise.all(queues.map(writer)), close };
  },

  /**
   * Like `ours`, but includes everything that a command does: ids, validation and the hash chain count toward the time.
   */
  whole: (directory) => {
    const { log, close } = openSqlite({ directory: join(directory, 'whole') });
    const heads = new Map();
    const writer = async (queue) => {
      for (const { stream, events } of queue) {
        const append = prepareAppend({
          stream,
          head: heads.get(stream) ?? NO_STREAM,
          events: events.map(({ data }) => answered(data.answeredCases)),
          context: commandContext(),
          recordedAt: RECORDED_AT,
        });
        await log.append(append);
        heads.set(stream, headAfter(append));
      }
    };
    return { write: (queues) => Promise.all(queues.map(writer)), close };
  },

  /** A loop cannot write concurrently, so its writers take turns. */
  bare: (directory) => {
    const log = bareLog(join(directory, 'bare.sqlite'));
    const write = (queues) => {
      for (const [index] of queues[0].entries()) {
        for (const queue of queues) log.append(queue[index].events);
      }
    };
    return { write, close: log.close };
  },

  /**
   * Emmett opens a connection for every append by default; one kept open is faster. Its transactions may not overlap on
   * one connection, so its writers take turns.
   */
  emmett: async (directory) => {
    const fileName = join(directory, 'emmett.sqlite');
    const connection = sqliteConnection({ fileName });
    const pool = SQLiteConnectionPool({ fileName, connectionOptions: { singleton: true, connection } });
    const store = getSQLiteEventStore({ fileName, pool });
    await store.schema.migrate();
    const write = async (queues) => {
      for (const [index] of queues[0].entries()) {
        for (const queue of queues) {
          const { stream, expected, events } = queue[index];
          const written = events.map(({ type, data, metadata }) => ({ type, data, metadata }));
          const expectedStreamVersion = expected < 0 ? 'STREAM_DOES_NOT_EXIST' : BigInt(expected + 1);
          await store.appendToStream(stream, written, { expectedStreamVersion });
        }
      }
    };
    return { write, close: () => connection.close() };
  },
};

/**
 * The sides alternate in many short turns within a run, because machine speed, and disk speed even more, varies from
 * second to second.
 */
const TURNS = 10;

/**
 * How many appends each writer makes in one turn. On our side one fsync serves many writers, so more appends fit into
 * the time.
 */
function appendsOfATurn(side, writers, size, quick) {
  const total = { 1: 80, 10: 60, 100: 20 }[size] / (quick ? 2 : 1);
  const inGroups = side === 'ours' || side === 'whole' ? Math.min(4, writers) : 1;
  return Math.max(1, Math.round((total * inGroups) / (side === 'emmett' ? 4 : 1) / writers));
}

/** Events per second of each side. */
async function oneRun(directory, queues, appends, first) {
  const names = Object.keys(SIDES);
  const order = names.map((_, index) => names[(index + first) % names.length]);
  const milliseconds = Object.fromEntries(names.map((side) => [side, 0]));
  const opened = {};
  for (const side of names) opened[side] = await SIDES[side](directory);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const side of turn % 2 ? order.toReversed() : order) {
      const stretch = queues.map((queue) => queue.slice(turn * appends[side], (turn + 1) * appends[side]));
      const began = performance.now();
      await opened[side].write(stretch);
      milliseconds[side] += performance.now() - began;
    }
  }
  for (const side of names) await opened[side].close();
  const size = queues[0][0].events.length;
  return Object.fromEntries(
    names.map((side) => [side, (queues.length * appends[side] * TURNS * size) / (milliseconds[side] / 1000)]),
  );
}

export async function run({ quick = false, progress = () => {} } = {}) {
  const runs = quick ? 3 : 5;
  const rows = [];
  for (const size of AT_A_TIME) {
    for (const writers of WRITERS) {
      const appends = Object.fromEntries(
        Object.keys(SIDES).map((side) => [side, appendsOfATurn(side, writers, size, quick)]),
      );
      const queues = perWriter(writers, Math.max(...Object.values(appends)) * TURNS, size);
      const rates = Object.fromEntries(Object.keys(SIDES).map((side) => [side, []]));
      for (let index = 0; index < runs; index++) {
        const rate = await inFolder((directory) => oneRun(directory, queues, appends, index));
        for (const side of Object.keys(SIDES)) rates[side].push(rate[side]);
      }
      const what = `append ${size} at a time, ${writers} ${writers === 1 ? 'writer' : 'writers'}`;
      rows.push(row(`${what}, against a bare loop`, rates.ours, rates.bare, FLOOR_TARGET));
      rows.push(row(`${what}, against Emmett`, rates.ours, rates.emmett, EMMETT_TARGET));
      rows.push(row(`${what}, including ids and hashes, against a bare loop`, rates.whole, rates.bare));
      progress(
        `${what}: ${rows
          .slice(-3)
          .map(({ ratio }) => `${ratio}×`)
          .join(', ')}`,
      );
    }
  }
  return { title: 'Appending to the event log, on disk when acknowledged', rows };
}

function row(what, ours, rival, target) {
  const ratio = rounded(median(ours) / median(rival));
  return {
    what,
    unit: 'events/s',
    ours: rounded(median(ours)),
    rival: rounded(median(rival)),
    ratio,
    ...(target && { target: `≥ ${target}×`, met: ratio >= target }),
    spread: { ours: spread(ours).map(rounded), rival: spread(rival).map(rounded) },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const result = await run({
    quick: process.argv.includes('--quick'),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  console.table(result.rows.map(({ spread: _, ...figures }) => figures));
}
