// A basic query with a delta on a docket of 100,000 entries against one of 100. Target: at most 1.2 times the time.
import { ingestDocket } from '../dist/commands/docket/ingest.js';
import { findCourt } from '../dist/courts/registry.js';
import { createCaseQueries } from '../dist/queries/case-answer.js';
import { systemClock, toInstant } from '../dist/runtime/instant.js';
import { readJuriscraperDocket } from '../dist/sources/juriscraper/juriscraper.js';
import { median, openBench, syntheticDocket } from './support/dockets.mjs';

const NEW = 20;
const TARGET = 1.2;

async function prepare(bench, number, entries) {
  const docket = syntheticDocket(number, entries + NEW);
  const before = { ...docket, docket_entries: docket.docket_entries.slice(0, entries) };
  const first = await ingestDocket(
    bench.ports,
    readJuriscraperDocket(before, bench.options()).snapshot,
    bench.context(),
  );
  await bench.ports.waitUntilProjected(first.position);
  const lastChecked = toInstant(systemClock.now());
  await ingestDocket(bench.ports, readJuriscraperDocket(docket, bench.options()).snapshot, bench.context());
  return {
    court: findCourt('cand'),
    courtCode: 'cand',
    caseId: docket.docket_number,
    lastChecked,
    since: lastChecked,
    context: 'basic',
    language: null,
    filingTypes: null,
  };
}

export async function run({ quick = false } = {}) {
  const bench = await openBench();
  try {
    const sizes = [100, quick ? 10_000 : 100_000];
    const asked = [];
    for (const [index, size] of sizes.entries()) asked.push(await prepare(bench, index + 1, size));
    const queries = createCaseQueries({ readStore: bench.readStore, clock: systemClock });
    const times = sizes.map(() => []);
    const rounds = quick ? 200 : 1_500;
    for (let round = 0; round < rounds; round++) {
      // The two sides alternate, so that a noisy machine disturbs both.
      for (const [side, query] of asked.entries()) {
        const started = performance.now();
        const answer = await queries.answerCase(query);
        times[side].push(performance.now() - started);
        if (answer.body?.delta.change_count !== NEW) throw new Error(JSON.stringify(answer).slice(0, 300));
      }
    }
    const [small, large] = times.map((all) => median(all.slice(Math.floor(rounds / 10))));
    const ratio = large / small;
    return {
      title: `A basic query with a delta of ${NEW} filings, by the size of the docket`,
      rows: [
        {
          what: `${sizes[1].toLocaleString('en-US')} entries (rival: the same on ${sizes[0]})`,
          unit: 'ms',
          ours: Number(large.toFixed(3)),
          rival: Number(small.toFixed(3)),
          ratio: Number(ratio.toFixed(2)),
          target: `<= ${TARGET}x`,
          met: ratio <= TARGET,
        },
      ],
    };
  } finally {
    await bench.close();
  }
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
