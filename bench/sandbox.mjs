/**
 * `GET /v2/case` in the sandbox against a bare Fastify route that sends the same bytes. Ours validates every parameter,
 * writes a separate `meta` into each answer and gives it a new id. Each side runs in its own process.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './support/pipelined.mjs';
import { freePort, startNode, until } from './support/processes.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const OURS = fileURLToPath(new URL('./support/sandbox-server.mjs', import.meta.url));
const RIVAL = fileURLToPath(new URL('./rivals/bare-fastify-sandbox.mjs', import.meta.url));
const CASE = '/v2/case?court_code=cand&case_id=3:24-cv-01234&last_checked=2024-03-01T00:00:00Z&test=1';
const WAYS = [
  ['basic', CASE],
  ['full', `${CASE}&context=full`],
];
const TARGET = 0.7;

export async function run({ quick = false, progress = () => {} } = {}) {
  const size = quick ? { requests: 5_000, rounds: 5 } : { requests: 10_000, rounds: 21 };
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const processes = [];
  try {
    const ours = await start(processes, OURS);
    const rows = [];
    for (const [context, path] of WAYS) {
      const body = Buffer.from(await (await fetch(`http://127.0.0.1:${ours}${path}`)).arrayBuffer());
      const file = join(folder, context);
      await writeFile(file, body);
      const rival = await start(processes, RIVAL, file);
      const rates = { ours: [], rival: [] };
      for (let round = 0; round <= size.rounds; round += 1) {
        const sides = [
          ['ours', ours],
          ['rival', rival],
        ];
        for (const [side, port] of round % 2 ? sides : sides.reverse()) {
          const rate = await measure(port, path, {}, size.requests);
          if (round) rates[side].push(rate);
        }
        progress(`${context}: ${round ? `round ${round} of ${size.rounds}` : 'warm-up'}`);
      }
      const ratio = median(rates.ours) / median(rates.rival);
      rows.push({
        what: `sandbox GET /v2/case, ${context}, ${body.length.toLocaleString('en-US')} bytes`,
        unit: 'requests/s',
        ours: rounded(median(rates.ours)),
        rival: rounded(median(rates.rival)),
        ratio: rounded(ratio),
        target: `≥ ${TARGET}×`,
        met: ratio >= TARGET,
        spread: { ours: spread(rates.ours).map(rounded), rival: spread(rates.rival).map(rounded) },
      });
    }
    return { title: 'The sandbox against a bare Fastify route that sends the same bytes', rows };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(processes, script, ...args) {
  const port = await freePort();
  const started = startNode([script, String(port), ...args]);
  processes.push(started);
  const answers = () => fetch(`http://127.0.0.1:${port}${CASE}`).then(({ status }) => status === 200);
  await until(`start of ${script}`, () => answers().catch(() => false), { process: started });
  return port;
}
