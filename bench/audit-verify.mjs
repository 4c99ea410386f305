/**
 * Verifying a log against a bare loop that only reads, parses and hashes the same rows and compares each with its chain.
 * Alone: `node bench/audit-verify.mjs [--quick]`; EVENTS sets the size of the log, LOG a folder that keeps it.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { writeAuditLog } from './support/audit-log.mjs';
import { inFolder } from './support/events.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const EVENTS = 1_000_000;
const QUICK_EVENTS = 100_000;
const RUNS = 3;
const FLOOR_TARGET = 0.6;
const MOST_MIB = 300;
const SIDE = fileURLToPath(new URL('./support/verify-side.mjs', import.meta.url));

async function side(name, directory, ...options) {
  const { stdout } = await promisify(execFile)(process.execPath, [SIDE, name, directory, ...options]);
  return JSON.parse(stdout);
}

const rate = ({ events, seconds }) => events / seconds;
const mebibytes = ({ rss }) => rss / 2 ** 20;

async function measure(directory, quick, progress) {
  const results = { floor: [], events: [], whole: [] };
  for (let run = 0; run < (quick ? 1 : RUNS); run++) {
    results.floor.push(await side('floor', directory));
    results.events.push(await side('ours', directory, '--no-payloads'));
    results.whole.push(await side('ours', directory));
    const [floor, events, whole] = Object.values(results).map((list) => rounded(rate(list.at(-1))));
    progress(`events a second: bare loop ${floor}, verify without content ${events}, verify ${whole}`);
  }
  return results;
}

function row(what, ours, floor, target) {
  const [ourRates, floorRates] = [ours.map(rate), floor.map(rate)];
  const ratio = rounded(median(ourRates) / median(floorRates));
  return {
    what,
    unit: 'events/s',
    ours: rounded(median(ourRates)),
    rival: rounded(median(floorRates)),
    ratio,
    ...(target && { target: `≥ ${target}×`, met: ratio >= target }),
    spread: { ours: spread(ourRates).map(rounded), rival: spread(floorRates).map(rounded) },
  };
}

export async function run({ quick = false, progress = () => {} } = {}) {
  const asked = Number(process.env.EVENTS) || (quick ? QUICK_EVENTS : EVENTS);
  const kept = process.env.LOG;
  const measured = async (directory) => {
    if (!existsSync(join(directory, 'log.sqlite'))) {
      mkdirSync(directory, { recursive: true });
      await writeAuditLog(directory, asked, progress);
    }
    return measure(directory, quick, progress);
  };
  const { floor, events, whole } = kept ? await measured(kept) : await inFolder(measured);
  const count = floor[0].events.toLocaleString('en-US');
  const most = Math.max(...[...events, ...whole].map(mebibytes));
  const rows = [
    row(`${count} events, without content`, events, floor, FLOOR_TARGET),
    row(`${count} events, with content`, whole, floor),
    {
      what: 'memory (peak of the process)',
      unit: 'MiB',
      ours: rounded(most),
      rival: rounded(Math.max(...floor.map(mebibytes))),
      target: `< ${MOST_MIB}`,
      met: most < MOST_MIB,
    },
  ];
  return { title: 'Verifying a log, against hashing it in a bare loop', rows };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const result = await run({
    quick: process.argv.includes('--quick'),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  console.table(result.rows.map(({ spread: _, ...figures }) => figures));
}
