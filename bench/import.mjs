// Import rate: from the file to what answers show, classified and masked. Target: 20,000 filings a second on two cores.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProjectionThread } from '../dist/cli/projection-thread.js';
import { importItems } from '../dist/commands/docket-import.js';
import { readDocketFile } from '../dist/dockets/docket-files.js';
import { median, openBench, syntheticDocket } from './support/dockets.mjs';

const TARGET = 20_000;

async function importOnce(name, dockets, entries) {
  const bench = await openBench({ project: false });
  const thread = await startProjectionThread({ ...process.env, DATA_DIR: bench.directory });
  try {
    const folder = join(bench.directory, 'files');
    mkdirSync(folder);
    const file = join(folder, 'dockets.ndjson');
    writeFileSync(
      file,
      Array.from({ length: dockets }, (_, index) => JSON.stringify(syntheticDocket(index + 1, entries))).join('\n'),
    );
    globalThis.gc?.();
    const started = performance.now();
    const position = await importItems(bench.ports, readDocketFile(file), bench.options(), bench.context(), (item) => {
      if (item.outcome !== 'imported') throw new Error(`${name}: ${JSON.stringify(item)}`);
    });
    const recorded = performance.now();
    await bench.ports.waitUntilProjected(position);
    const visible = performance.now();
    const filings = dockets * entries;
    return {
      recorded: filings / ((recorded - started) / 1000),
      visible: filings / ((visible - started) / 1000),
      memory: process.memoryUsage().rss / 1024 / 1024,
    };
  } finally {
    await thread.stop();
    await bench.close();
  }
}

export async function run({ quick = false } = {}) {
  const shapes = quick
    ? [['20 dockets of 500 entries', 20, 500]]
    : [
        ['200 dockets of 500 entries', 200, 500],
        ['1 docket of 100,000 entries', 1, 100_000],
        ['2,000 dockets of 20 entries', 2_000, 20],
      ];
  const rows = [];
  for (const [name, dockets, entries] of shapes) {
    const runs = [];
    for (let i = 0; i < (quick ? 1 : 3); i++) runs.push(await importOnce(name, dockets, entries));
    const visible = runs.map((one) => one.visible);
    const ours = Math.round(median(visible));
    rows.push({
      what: name,
      unit: 'filings/s visible',
      ours,
      target: `>= ${TARGET}`,
      met: ours >= TARGET,
      spread: { ours: [Math.round(Math.min(...visible)), Math.round(Math.max(...visible))] },
      recorded: Math.round(median(runs.map((one) => one.recorded))),
      residentMiB: Math.round(Math.max(...runs.map((one) => one.memory))),
    });
  }
  return { title: 'Import of dockets, classified and masked, from file to answer', rows };
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
