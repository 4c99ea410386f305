/**
 * `GET /v2/status`, compressed and as 304, against a bare Fastify route that sends the same bytes. Each side runs in
 * its own process; the client only counts bytes on pipelined connections, so that it is never the bottleneck.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './support/pipelined.mjs';
import { freePort, startNode, until } from './support/processes.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const OURS = fileURLToPath(new URL('./support/status-server.mjs', import.meta.url));
const RIVAL = fileURLToPath(new URL('./rivals/bare-fastify-status.mjs', import.meta.url));
const TARGET = 0.85;

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick
    ? { compressed: 2_000, unchanged: 10_000, rounds: 5 }
    : { compressed: 5_000, unchanged: 20_000, rounds: 21 };
  const folder = await mkdtemp(join(tmpdir(), 'status-'));
  const processes = [];
  try {
    const ours = await start(processes, [OURS]);
    const answer = await get(ours, { 'accept-encoding': 'br' });
    const file = join(folder, 'body');
    await writeFile(file, answer.body);
    const rival = await start(processes, [RIVAL], file, answer.headers.etag);

    const rows = [];
    for (const [what, headers, requests] of [
      [
        `GET /v2/status, ${answer.body.length.toLocaleString('en-US')} bytes of brotli`,
        { 'accept-encoding': 'br' },
        size.compressed,
      ],
      ['GET /v2/status, 304', { 'accept-encoding': 'br', 'if-none-match': answer.headers.etag }, size.unchanged],
    ]) {
      const rates = { ours: [], rival: [] };
      for (let round = 0; round <= size.rounds; round += 1) {
        const sides = [
          ['ours', ours],
          ['rival', rival],
        ];
        for (const [side, port] of round % 2 ? sides : sides.reverse()) {
          const rate = await measure(port, '/v2/status', headers, requests);
          if (round) rates[side].push(rate);
        }
        progress(`${what}: ${round ? `round ${round} of ${size.rounds}` : 'warm-up'}`);
      }
      const ratio = median(rates.ours) / median(rates.rival);
      rows.push({
        what,
        unit: 'requests/s',
        ours: rounded(median(rates.ours)),
        rival: rounded(median(rates.rival)),
        ratio: rounded(ratio),
        target: `≥ ${TARGET}×`,
        met: ratio >= TARGET,
        spread: { ours: spread(rates.ours).map(rounded), rival: spread(rates.rival).map(rounded) },
      });
    }
    return { title: 'GET /v2/status against a bare Fastify route that sends the same bytes', rows };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(processes, [script], ...args) {
  const port = await freePort();
  const started = startNode([script, String(port), ...args]);
  processes.push(started);
  await until(`start of ${script}`, async () => (await get(port, {})).status === 200, { process: started });
  return port;
}

function get(port, headers) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/v2/status', headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
