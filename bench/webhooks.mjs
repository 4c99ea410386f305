/**
 * Webhooks of CourtListener posted to a running service by several senders at once, for cases that it has: milliseconds from
 * request to acknowledgement, while the service applies what came before. The floor in the same run: the same bodies to a
 * bare `node:http` server that reads them, writes each into a file, waits for the disk and answers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { syntheticDocket } from './support/dockets.mjs';
import { DOCKET, freePort, pause, SERVER_OPTIONS, startNode } from './support/processes.mjs';
import { rounded } from './support/statistics.mjs';

const SECRET = 'bench-0123456789-0123456789-0123456789';
const SENDERS = 16;
const CASES = 20;

/** A docket alert of two entries, as CourtListener sends it: about 3 KB. */
function bodyOf(message) {
  const docket = 7_000 + (message % CASES);
  const modified = '2026-06-18T13:02:11.660428-07:00';
  const results = [0, 1].map((at) => ({
    id: message * 2 + at,
    docket,
    entry_number: message * 2 + at + 1,
    date_filed: '2026-06-18',
    time_filed: '14:58:37',
    date_created: modified,
    date_modified: modified,
    recap_sequence_number: `2026-06-18.${String(message % 1000).padStart(3, '0')}`,
    pacer_sequence_number: message * 2 + at,
    description:
      `MEMORANDUM opinion and order ${message} on the motion to dismiss, filed by Birch Hollow Mill. `.repeat(4),
    recap_documents: [
      {
        id: message * 2 + at,
        document_type: 1,
        document_number: String(message * 2 + at + 1),
        attachment_number: null,
        pacer_doc_id: '',
        description: 'order on motion to dismiss',
        date_created: modified,
        date_modified: modified,
        is_available: false,
        is_sealed: null,
        page_count: null,
        filepath_local: null,
        sha1: '',
        acms_document_guid: '',
      },
    ],
  }));
  return JSON.stringify({
    payload: { results },
    webhook: { event_type: 1, version: 2, date_created: modified, deprecation_date: null },
  });
}

async function startService(directory) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    SOLANA_LOCAL_PORT: '0',
    LOG_LEVEL: 'warn',
    COURTLISTENER_WEBHOOK_SECRET: SECRET,
  };
  const service = startNode([...SERVER_OPTIONS, DOCKET, 'serve'], environment);
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => null);
    if (ready?.status === 200)
      return { service, environment, url: `http://127.0.0.1:${port}/ingest/courtlistener/${SECRET}` };
    if (!service.running()) throw new Error(`the service ended:\n${service.output()}`);
    await pause(50);
  }
}

/** Lets the service know the cases of the messages: their dockets, and CourtListener's ids for them. */
async function seed({ DATA_DIR }) {
  const [{ openSqlite }, { SourceCaseFound, sourceStream }, { prepareAppend }] = await Promise.all(
    ['storage/sqlite/open.js', 'events/source.js', 'storage/prepare-append.js'].map(
      (file) => import(`../dist/${file}`),
    ),
  );
  const storage = openSqlite({ directory: DATA_DIR });
  for (let index = 0; index < CASES; index++) {
    const id = String(7_000 + index);
    const { court_id: court, docket_number: caseNumber } = syntheticDocket(index + 1, 1);
    const events = [SourceCaseFound.of({ source: 'courtlistener', sourceCaseId: id, court, caseNumber })];
    const context = { commandId: id, requestId: null, correlationId: id, causationId: null, actor: 'bench' };
    const stream = sourceStream.sourceCase('courtlistener', id);
    const head = { revision: -1, hash: '' };
    await storage.log.append(
      prepareAppend({ stream, head, events, context, recordedAt: '2026-06-01T00:00:00.000000Z' }),
    );
  }
  await storage.close();
}

/** The floor: as durable, and nothing else. */
async function startFloor(directory) {
  const file = await open(join(directory, 'floor'), 'a');
  const server = createServer((incoming, response) => {
    const parts = [];
    incoming.on('data', (part) => parts.push(part));
    incoming.on('end', async () => {
      await file.write(Buffer.concat(parts));
      await file.datasync();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"outcome":"received"}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await file.close();
    },
  };
}

/** @returns milliseconds of each request, sorted, and messages a second */
async function post(url, messages) {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const times = [];
  let next = 0;
  const one = (message) =>
    new Promise((resolve, reject) => {
      const body = bodyOf(message);
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': `bench ${message}`,
        'content-length': Buffer.byteLength(body),
      };
      const began = performance.now();
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () => {
          times.push(performance.now() - began);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`status ${response.statusCode}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const started = performance.now();
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (next < messages) await one(next++);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  return { times: times.sort((a, b) => a - b), perSecond: messages / seconds };
}

const at = (times, share) => rounded(times[Math.min(times.length - 1, Math.floor(times.length * share))]);

export async function run({ quick = false, progress = () => {} } = {}) {
  const messages = quick ? 500 : 3_000;
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-webhooks-'));
  try {
    progress('floor');
    const floor = await startFloor(directory);
    const rival = await post(floor.url, messages);
    await floor.close();
    progress('service');
    const first = await startService(directory);
    await first.service.stop();
    await seed(first.environment);
    const { service, url } = await startService(directory);
    const ours = await post(url, messages);
    await service.stop();
    const row = (what, share) => ({
      what,
      unit: 'ms',
      ours: at(ours.times, share),
      rival: at(rival.times, share),
      ratio: rounded(at(ours.times, share) / at(rival.times, share)),
    });
    return {
      title: `${messages} webhooks of two entries by ${SENDERS} senders at once; floor: bare node:http with a file and datasync`,
      rows: [
        row('request to acknowledgement, median', 0.5),
        row('request to acknowledgement, p99', 0.99),
        row('request to acknowledgement, slowest', 1),
        {
          what: 'messages',
          unit: 'messages/s',
          ours: Math.round(ours.perSecond),
          rival: Math.round(rival.perSecond),
          ratio: rounded(ours.perSecond / rival.perSecond),
        },
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
