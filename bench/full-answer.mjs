/**
 * The full answer (`context=full`) of a docket of 100,000 entries, from the read models to the bytes sent, against the
 * minimum for any JSON answer: `JSON.stringify` of the same body. Such an answer is truncated to 2 MiB, keeping the
 * newest entries, so its size is bounded for any docket.
 */
import { ingestDocket } from '../dist/commands/docket/ingest.js';
import { findCourt } from '../dist/courts/registry.js';
import { createCaseQueries, MAX_RESULT_BYTES } from '../dist/queries/case-answer.js';
import { systemClock } from '../dist/runtime/instant.js';
import { readJuriscraperDocket } from '../dist/sources/juriscraper/juriscraper.js';
import { openBench, syntheticDocket } from './support/dockets.mjs';
import { median, rounded, spread } from './support/statistics.mjs';

const COUNT = new Intl.NumberFormat('en-US');
const FULL = { entries: 100_000, rounds: 60, warmUp: 10 };
const QUICK = { entries: 10_000, rounds: 10, warmUp: 2 };

async function prepare(bench, entries) {
  const { snapshot } = readJuriscraperDocket(syntheticDocket(1, entries), bench.options());
  const { position } = await ingestDocket(bench.ports, snapshot, bench.context());
  await bench.ports.waitUntilProjected(position);
  return {
    court: findCourt('cand'),
    courtCode: 'cand',
    caseId: snapshot.caseNumber,
    lastChecked: null,
    since: null,
    context: 'full',
    language: null,
    filingTypes: null,
  };
}

/** @throws Error if the answer is not the expected one for a docket of this size */
function assertAnswer(answer, bytes, entries) {
  const history = answer.body?.case.docket_history;
  const details = answer.truncationDetails;
  const whole = !answer.truncated && history?.length === entries;
  const cut =
    details?.total_entries === entries &&
    details.entries_included === history?.length &&
    // The answer is truncated only because one more entry would not fit.
    bytes > MAX_RESULT_BYTES * 0.95;
  if (!(whole || cut) || bytes > MAX_RESULT_BYTES) {
    throw new Error(`${bytes} bytes, ${history?.length} entries: ${JSON.stringify(details ?? answer).slice(0, 300)}`);
  }
}

export async function run({ quick = false } = {}) {
  const { entries, rounds, warmUp } = quick ? QUICK : FULL;
  const bench = await openBench();
  try {
    const query = await prepare(bench, entries);
    const queries = createCaseQueries({ readStore: bench.readStore, clock: systemClock });
    const times = { ours: [], floor: [] };
    let [bytes, included] = [0, 0];
    for (let round = -warmUp; round < rounds; round++) {
      // The two alternate, so that a noisy machine disturbs both.
      const started = performance.now();
      const answer = await queries.answerCase(query);
      const sent = Buffer.from(JSON.stringify(answer.body));
      const answered = performance.now();
      const same = Buffer.from(JSON.stringify(answer.body));
      const serialised = performance.now();
      assertAnswer(answer, sent.length, entries);
      if (!same.equals(sent)) throw new Error('the same body was serialized in two ways');
      [bytes, included] = [sent.length, answer.body.case.docket_history.length];
      if (round < 0) continue;
      times.ours.push(answered - started);
      times.floor.push(serialised - answered);
    }
    const [ours, floor] = [median(times.ours), median(times.floor)];
    const what = `full answer of a docket of ${COUNT.format(entries)} entries`;
    return {
      title: 'The full answer of a large docket, against JSON.stringify of the same body',
      rows: [
        {
          what,
          unit: 'ms',
          ours: rounded(ours),
          rival: rounded(floor),
          ratio: rounded(ours / floor),
          spread: { ours: spread(times.ours).map(rounded), rival: spread(times.floor).map(rounded) },
        },
        {
          what: `${what}: size`,
          unit: 'bytes',
          ours: bytes,
          target: `<= ${COUNT.format(MAX_RESULT_BYTES)}`,
          met: bytes <= MAX_RESULT_BYTES,
        },
        { what: `${what}: newest entries in it`, unit: `of ${COUNT.format(entries)}`, ours: included },
      ],
    };
  } finally {
    await bench.close();
  }
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
