/**
 * Free calls of the MCP endpoint against a bare Fastify route that accepts the same requests and sends the same bytes.
 * Ours parses and validates each message, and answers it by its id with a new request id. Each side runs in its own
 * process.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './support/pipelined.mjs';
import { freePort, startNode, until } from './support/processes.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const OURS = fileURLToPath(new URL('./support/mcp-server.mjs', import.meta.url));
const RIVAL = fileURLToPath(new URL('./rivals/bare-fastify-mcp.mjs', import.meta.url));
const PATH = '/v2/mcp';
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const call = (name, args) => ['tools/call', { name, arguments: args }];
const CALLS = [
  ['ping', ['ping', {}]],
  ['tools/list', ['tools/list', {}]],
  ['service_status', call('service_status', {})],
  ['service_pricing', call('service_pricing', {})],
  ['service_court_list, a search', call('service_court_list', { search: 'northern california' })],
];
const TARGET = 0.85;

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick ? { requests: 4_000, rounds: 5 } : { requests: 10_000, rounds: 21 };
  const folder = await mkdtemp(join(tmpdir(), 'mcp-'));
  const processes = [];
  try {
    const ours = await start(processes, OURS);
    const rows = [];
    for (const [index, [what, [method, params]]] of CALLS.entries()) {
      const sent = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const body = Buffer.from(await (await ask(ours, sent)).arrayBuffer());
      const file = join(folder, String(index));
      await writeFile(file, body);
      const rival = await start(processes, RIVAL, file);
      const rates = { ours: [], rival: [] };
      for (let round = 0; round <= size.rounds; round += 1) {
        const sides = [
          ['ours', ours],
          ['rival', rival],
        ];
        for (const [side, port] of round % 2 ? sides : sides.reverse()) {
          const rate = await measure(port, PATH, HEADERS, size.requests, sent);
          if (round) rates[side].push(rate);
        }
        progress(`${what}: ${round ? `round ${round} of ${size.rounds}` : 'warm-up'}`);
      }
      const ratio = median(rates.ours) / median(rates.rival);
      rows.push({
        what: `MCP ${what}, ${body.length.toLocaleString('en-US')} bytes`,
        unit: 'calls/s',
        ours: rounded(median(rates.ours)),
        rival: rounded(median(rates.rival)),
        ratio: rounded(ratio),
        target: `≥ ${TARGET}×`,
        met: ratio >= TARGET,
        spread: { ours: spread(rates.ours).map(rounded), rival: spread(rates.rival).map(rounded) },
      });
    }
    return { title: 'Free MCP calls against a bare Fastify route that sends the same bytes', rows };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

const ask = (port, body) => fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', headers: HEADERS, body });

async function start(processes, script, ...args) {
  const port = await freePort();
  const started = startNode([script, String(port), ...args]);
  processes.push(started);
  const answers = () => ask(port, '{"jsonrpc":"2.0","id":1,"method":"ping"}').then(({ status }) => status === 200);
  await until(`start of ${script}`, () => answers().catch(() => false), { process: started });
  return port;
}
