/**
 * `GET /v2/status`, compressed and as 304, against a bare Fastify route that sends the same bytes. Both are processes of
 * their own; the client only counts bytes on pipelined connections, so that it is never what is measured.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startNode, until } from './support/processes.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const OURS = fileURLToPath(new URL('./support/status-server.mjs', import.meta.url));
const RIVAL = fileURLToPath(new URL('./rivals/bare-fastify-status.mjs', import.meta.url));
const CONNECTIONS = 16;
const PIPELINED = 4;
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
          const rate = await measure(port, headers, requests);
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

/** Requests a second. Every answer has the same length, so that counting bytes counts answers. */
async function measure(port, headers, requests) {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const text = `GET /v2/status HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const length = await bytesOfOneAnswer(port, text);
  const each = Math.ceil(requests / CONNECTIONS);
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => drive(port, text, length, each)));
  return (each * CONNECTIONS * 1000) / (performance.now() - began);
}

function bytesOfOneAnswer(port, text) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let bytes = 0;
    let idle;
    socket.on('data', (part) => {
      bytes += part.length;
      clearTimeout(idle);
      idle = setTimeout(() => {
        socket.destroy();
        resolve(bytes);
      }, 50);
    });
    socket.on('error', reject);
    socket.write(text);
  });
}

function drive(port, text, length, count) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let sent = 0;
    let bytes = 0;
    const send = (answered) => {
      const due = Math.min(count, answered + PIPELINED) - sent;
      if (due > 0) socket.write(text.repeat(due));
      sent += Math.max(0, due);
    };
    socket.on('data', (part) => {
      bytes += part.length;
      const answered = Math.floor(bytes / length);
      if (answered >= count) {
        socket.destroy();
        if (bytes === count * length) resolve();
        else reject(new Error(`${bytes} bytes came for ${count} answers of ${length} bytes`));
      } else send(answered);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    send(0);
  });
}
