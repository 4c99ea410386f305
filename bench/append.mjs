/**
 * Appending to the event log against the least code that is as durable, and against Emmett's SQLite store. Alone:
 * `node bench/append.mjs [--quick]`.
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

/** The appends of one writer, each behind the one before, made while the clock stands still. */
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

/** Events a second. */
async function timed(count, work) {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1000);
}

const SIDES = {
  ours: (directory, queues, count) => {
    const { log, close } = openSqlite({ directory });
    const writer = async (queue) => {
      for (const append of queue) await log.append(append);
    };
    return timed(count, () => Promise.all(queues.map(writer))).finally(close);
  },

  /** As `ours`, with everything that a command does: ids, validation and the hash chain are made within the time. */
  whole: (directory, queues, count) => {
    const { log, close } = openSqlite({ directory });
    const writer = async (queue) => {
      let head = NO_STREAM;
      for (const { stream, events } of queue) {
        const domainEvents = events.map(({ data }) => answered(data.answeredCases));
        const context = commandContext();
        const append = prepareAppend({ stream, head, events: domainEvents, context, recordedAt: RECORDED_AT });
        await log.append(append);
        head = headAfter(append);
      }
    };
    return timed(count, () => Promise.all(queues.map(writer))).finally(close);
  },

  /** A loop has no writers at once: they take turns. */
  bare: (directory, queues, count) => {
    const log = bareLog(join(directory, 'bare.sqlite'));
    return timed(count, () => {
      for (const [index] of queues[0].entries()) {
        for (const queue of queues) log.append(queue[index].events);
      }
    }).finally(log.close);
  },

  /**
   * Its default opens a connection for every append; one that stays open is faster. Its transactions may not overlap on
   * one connection, so that its writers take turns.
   */
  emmett: async (directory, queues, count) => {
    const fileName = join(directory, 'emmett.sqlite');
    const connection = sqliteConnection({ fileName });
    const pool = SQLiteConnectionPool({ fileName, connectionOptions: { singleton: true, connection } });
    const store = getSQLiteEventStore({ fileName, pool });
    await store.schema.migrate();
    const rate = await timed(count, async () => {
      for (const [index] of queues[0].entries()) {
        for (const queue of queues) {
          const { stream, expected, events } = queue[index];
          const written = events.map(({ type, data, metadata }) => ({ type, data, metadata }));
          const expectedStreamVersion = expected < 0 ? 'STREAM_DOES_NOT_EXIST' : BigInt(expected + 1);
          await store.appendToStream(stream, written, { expectedStreamVersion });
        }
      }
    });
    connection.close();
    return rate;
  },
};

/** How many appends of each writer make a run of some tenths of a second on a side that writes so many a second. */
const appendsFor = (side, writers, size, quick) => {
  const total = { emmett: 240, bare: 2000, ours: 2000, whole: 2000 }[side] / (size === 100 ? 4 : 1) / (quick ? 4 : 1);
  const grouped = side === 'ours' || side === 'whole' ? Math.min(4, writers) : 1;
  return Math.max(4, Math.ceil((total * grouped) / writers));
};

export async function run({ quick = false, progress = () => {} } = {}) {
  const runs = quick ? 3 : 5;
  const rows = [];
  for (const size of AT_A_TIME) {
    for (const writers of WRITERS) {
      const rates = Object.fromEntries(Object.keys(SIDES).map((side) => [side, []]));
      for (let turn = 0; turn < runs; turn++) {
        // Whoever starts changes from turn to turn.
        const sides = Object.keys(SIDES);
        for (const side of turn % 2 ? sides.toReversed() : sides) {
          const queues = perWriter(writers, appendsFor(side, writers, size, quick), size);
          const count = queues.length * queues[0].length * size;
          rates[side].push(await inFolder((directory) => SIDES[side](directory, queues, count)));
        }
      }
      const what = `append ${size} at a time, ${writers} ${writers === 1 ? 'writer' : 'writers'}`;
      rows.push(row(`${what}, against a bare loop`, rates.ours, rates.bare, FLOOR_TARGET));
      rows.push(row(`${what}, against Emmett`, rates.ours, rates.emmett, EMMETT_TARGET));
      rows.push(row(`${what}, ids and hashes made too, against a bare loop`, rates.whole, rates.bare));
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
