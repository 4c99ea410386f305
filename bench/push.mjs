/**
 * Dockets pushed in one body to a running service, against `docket import` of the same file in the same run: dockets a
 * second until answers show them, and peak memory. Meanwhile a caller asks for the status again and again, and its
 * slowest answer says how long the service keeps others waiting.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { median, syntheticDocket } from './support/dockets.mjs';
import { DOCKET, freePort, pause, peakMemory, SERVER_OPTIONS, startNode } from './support/processes.mjs';
import { rounded } from './support/statistics.mjs';

const ENTRIES = 20;
const MIB = 1024 * 1024;
const SAMPLE_MS = 50;

/** Starts a service on an empty folder, with a token. */
async function startService(directory) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    SOLANA_LOCAL_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const issuing = startNode([DOCKET, 'sources', 'token', 'new', 'bench', '--json'], environment);
  await issuing.ended();
  const token = /dkt_push_[\w-]+/.exec(issuing.output())?.[0];
  if (!token) throw new Error(`no token:\n${issuing.output()}`);
  const service = startNode([...SERVER_OPTIONS, DOCKET, 'serve'], environment);
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => null);
    if (ready?.status === 200) return { service, token, url: `http://127.0.0.1:${port}` };
    if (!service.running()) throw new Error(`the service ended:\n${service.output()}`);
    await pause(50);
  }
}

/** @returns seconds until answers show all, the peak memory before and after, and the slowest answer meanwhile */
async function pushOnce(body, dockets) {
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-push-'));
  try {
    const { service, token, url } = await startService(directory);
    const before = peakMemory(service.pid);
    let isDone = false;
    let slowest = 0;
    const asking = (async () => {
      while (!isDone) {
        const asked = performance.now();
        await (await fetch(`${url}/v2/case?court_code=cand&case_id=3:24-cv-00001`)).arrayBuffer();
        slowest = Math.max(slowest, performance.now() - asked);
        await pause(5);
      }
    })();
    const started = performance.now();
    const answer = await fetch(`${url}/ingest/dockets`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
      body,
    });
    const report = await answer.json();
    const seconds = (performance.now() - started) / 1000;
    isDone = true;
    await asking;
    if (report.recorded !== dockets || !report.visible)
      throw new Error(`not all was pushed: ${JSON.stringify(report).slice(0, 500)}`);
    const peak = peakMemory(service.pid);
    await service.stop();
    return { seconds, before, peak, slowest };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function importOnce(file) {
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-push-'));
  try {
    const started = performance.now();
    const child = startNode([DOCKET, 'import', file], { DATA_DIR: join(directory, 'data') });
    let peak = null;
    const sampling = setInterval(() => {
      peak = peakMemory(child.pid) ?? peak;
    }, SAMPLE_MS);
    const code = await child.ended();
    clearInterval(sampling);
    if (code !== 0) throw new Error(`docket import ended with ${code}:\n${child.output()}`);
    return { seconds: (performance.now() - started) / 1000, peak };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function run({ quick = false, progress = () => {} } = {}) {
  const dockets = quick ? 200 : 1_000;
  const folder = mkdtempSync(join(tmpdir(), 'docket-bench-push-'));
  try {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'dockets.ndjson');
    const lines = Array.from({ length: dockets }, (_, index) => JSON.stringify(syntheticDocket(index + 1, ENTRIES)));
    writeFileSync(file, lines.join('\n'));
    const body = gzipSync(readFileSync(file));
    const [pushes, imports] = [[], []];
    for (let round = 1; round <= (quick ? 1 : 3); round++) {
      progress(`round ${round}`);
      imports.push(await importOnce(file));
      pushes.push(await pushOnce(body, dockets));
    }
    const rate = (runs) => runs.map(({ seconds }) => dockets / seconds);
    const mebibytes = (values) => (values.includes(null) ? null : Math.round(Math.max(...values) / MIB));
    const [ours, rival] = [rate(pushes), rate(imports)];
    return {
      title: `${dockets} dockets of ${ENTRIES} entries pushed in one body; rival: docket import of the same file`,
      rows: [
        {
          what: 'dockets visible',
          unit: 'dockets/s',
          ours: Math.round(median(ours)),
          rival: Math.round(median(rival)),
          ratio: rounded(median(ours) / median(rival)),
          spread: {
            ours: [Math.round(Math.min(...ours)), Math.round(Math.max(...ours))],
            rival: [Math.round(Math.min(...rival)), Math.round(Math.max(...rival))],
          },
        },
        {
          what: 'peak memory of the service (rival: of docket import)',
          unit: 'MiB resident',
          ours: mebibytes(pushes.map(({ peak }) => peak)),
          rival: mebibytes(imports.map(({ peak }) => peak)),
          beforeThePush: mebibytes(pushes.map(({ before }) => before)),
        },
        {
          what: 'slowest answer to an unpaid query meanwhile',
          unit: 'ms',
          ours: Math.round(Math.max(...pushes.map(({ slowest }) => slowest))),
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
