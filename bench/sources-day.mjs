/**
 * A day simulated on a virtual clock: 2,000 watched cases, the feeds of all courts, and CourtListener's smallest and largest
 * budget. Real feeds, source, watch and ingest on a real storage, against servers that imitate the courts and CourtListener.
 * The rival is the other budget: what does a larger account buy?
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const HOUR = 3_600_000_000;
const MINUTE = HOUR / 60;
const BUDGETS = { largest: '25/min,300/hour,1400/day', smallest: '5/min,50/hour,125/day' };
const DAY = { entriesPerCase: 0.5, otherEntries: 40, pastEntries: 20, micros: 24 * HOUR, seed: 19, paidPerHour: 1 };
const FULL = { ...DAY, cases: 2_000, feeds: 1_000 };
const QUICK = { ...DAY, cases: 200, feeds: 20 };

export async function run({ quick, progress }) {
  const { simulateDay, ratesOf } = await import(pathToFileURL(compiled()).href);
  const reports = {};
  for (const [name, rates] of Object.entries(BUDGETS)) {
    progress(`the ${name} budget, ${rates}`);
    reports[name] = await simulateDay({
      ...(quick ? QUICK : FULL),
      rates: ratesOf(rates),
      progress: (hour) => hour % 6 === 0 && progress(`hour ${hour}`),
    });
    const { missing, doubled, refused, shortestPoll } = reports[name];
    const broken = missing.length + doubled + refused;
    if (broken > 0 || shortestPoll < 5 * MINUTE) throw new Error(`a rule is broken: ${JSON.stringify(reports[name])}`);
  }
  const { largest, smallest } = reports;
  const row = (what, unit, of, more = {}) => ({ what, unit, ours: of(largest), rival: of(smallest), ...more });
  const times = (what, unit, micros, of) =>
    ['p50', 'p90', 'p99', 'most'].map((share) =>
      row(`${what}, ${share}`, unit, (report) => Number((of(report)[share] / micros).toPrecision(3))),
    );
  const none = (value) => ({ target: 0, met: value === 0 });
  return {
    title: `A day of ${largest.watched} watched cases and ${largest.feeds} feeds; ours: ${BUDGETS.largest}, rival: ${BUDGETS.smallest}`,
    rows: [
      row('entries of watched cases', '', ({ entries }) => entries),
      row('entries missing at the end', '', ({ missing }) => missing.length, none(largest.missing.length)),
      row('requests to CourtListener', '', ({ requests }) => requests),
      row('refused by it for a rate', '', ({ refused }) => refused, none(largest.refused)),
      row('paid looks that the budget refused', '', ({ paidRefused }) => paidRefused),
      row('polls of feeds', '', ({ polls }) => polls),
      ...times('from an entry to its being served', 'min', MINUTE, ({ delay }) => delay),
      ...times('age of a case, by any source', 'h', HOUR, ({ age }) => age),
      ...times('age of the last whole look', 'h', HOUR, ({ lookAge }) => lookAge),
      row('texts that CourtListener has', '', ({ texts }) => texts),
      row('of them served', '', ({ textsServed }) => textsServed),
      row('requests a day that freshness needs', '', ({ plan }) => plan?.requestsPerDayNeeded),
      row('cases told as not to be kept fresh', '', ({ plan }) => plan?.cannotBeKept),
      row('seconds to simulate', 's', ({ seconds }) => Math.round(seconds)),
    ],
  };
}

/** Compiles the simulation, which is TypeScript like the tests that it belongs to, and returns its path. */
function compiled() {
  const output = join(ROOT, 'node_modules/.cache/sources-day');
  mkdirSync(output, { recursive: true });
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const project = join(ROOT, 'test/processes/sources/tsconfig.json');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', output], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the simulation could not be compiled:\n${stdout}`);
  cpSync(join(ROOT, 'registry'), join(output, 'registry'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(output, 'package.json'));
  return join(output, 'test/processes/sources/day.js');
}
