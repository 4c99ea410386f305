/**
 * Appends to EventStoreDB through the port, against the same appends through the bare client. Runs only on a real node
 * (`EVENTSTORE_URL`), since a stand-in's figures would be meaningless. Alone: `EVENTSTORE_URL=… node bench/engines.mjs
 * [--quick]`.
 */
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { EventStoreDBClient, jsonEvent, NO_STREAM as NOBODY } from '@eventstore/db-client';
import { NO_STREAM } from '../dist/storage/event-log.js';
import { readConnectionString } from '../dist/storage/eventstoredb/connection-string.js';
import { openEventStore } from '../dist/storage/eventstoredb/open.js';
import { headAfter, prepareAppend } from '../dist/storage/prepare-append.js';
import { answered, commandContext, RECORDED_AT } from './support/events.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const TITLE = 'Appending to EventStoreDB, against its bare client';
/** A payment step is one append of one to three events; a docket import is one append of many. */
const AT_A_TIME = [1, 3, 100];
const WRITERS = [1, 8, 32];

/** A real node describes itself over HTTP; a stand-in for its gRPC interface does not. */
async function isRealNode(url) {
  const { hosts, tls } = readConnectionString(url);
  try {
    const [{ address, port }] = hosts;
    const response = await fetch(`http${tls ? 's' : ''}://${address}:${port}/info`, {
      signal: AbortSignal.timeout(5000),
    });
    const info = await response.json();
    return 'esVersion' in info || 'dbVersion' in info;
  } catch {
    return false;
  }
}

function prepared(appends, size) {
  const stream = `bench-${randomUUID()}`;
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

/** Events per second. */
async function timed(queues, write) {
  const count = queues.flat().reduce((sum, { events }) => sum + events.length, 0);
  const began = performance.now();
  await Promise.all(
    queues.map(async (queue) => {
      for (const append of queue) await write(append);
    }),
  );
  return count / ((performance.now() - began) / 1000);
}

export async function run({ quick = false, progress = () => {} } = {}) {
  const url = process.env.EVENTSTORE_URL;
  if (!url || !(await isRealNode(url))) {
    progress(url ? 'skipped: EVENTSTORE_URL is not a real node' : 'skipped: EVENTSTORE_URL is not set');
    return { title: `${TITLE}: skipped, EVENTSTORE_URL names no real node`, rows: [] };
  }
  const log = await openEventStore(url);
  const client = EventStoreDBClient.connectionString(url);
  const bare = ({ stream, expected, events }) =>
    client.appendToStream(
      stream,
      events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data, metadata })),
      { expectedRevision: expected === -1 ? NOBODY : BigInt(expected) },
    );
  const rows = [];
  for (const size of AT_A_TIME) {
    for (const writers of WRITERS) {
      const appends = Math.ceil(((quick ? 100 : 400) * Math.min(4, writers)) / writers);
      const rates = { ours: [], bare: [] };
      for (let turn = 0; turn < (quick ? 3 : 5); turn++) {
        // The side that starts changes from turn to turn.
        for (const side of turn % 2 ? ['bare', 'ours'] : ['ours', 'bare']) {
          const queues = Array.from({ length: writers }, () => prepared(appends, size));
          rates[side].push(await timed(queues, side === 'ours' ? (append) => log.append(append) : bare));
        }
      }
      const what = `append ${size} at a time, ${writers} ${writers === 1 ? 'writer' : 'writers'}`;
      rows.push({
        what,
        unit: 'events/s',
        ours: rounded(median(rates.ours)),
        rival: rounded(median(rates.bare)),
        ratio: rounded(median(rates.ours) / median(rates.bare)),
        spread: { ours: spread(rates.ours).map(rounded), rival: spread(rates.bare).map(rounded) },
      });
      progress(`${what}: ${rows.at(-1).ratio}×`);
    }
  }
  await client.dispose();
  await log.close();
  return { title: TITLE, rows };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(JSON.stringify(await run({ quick: process.argv.includes('--quick'), progress: console.error }), null, 2));
}
