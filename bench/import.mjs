/**
 * Import rate: from the file to visible answers, classified and masked. Target: 20,000 filings a second on two cores.
 * Also measures the command as a user runs it, `docket import` of a folder with a million filings, and its peak memory:
 * ten times the filings must not need more of it.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProjectionThread } from '../dist/cli/projection-thread.js';
import { importItems } from '../dist/commands/docket/import.js';
import { readDocketFile } from '../dist/sources/files/docket-files.js';
import { median, openBench, syntheticDocket } from './support/dockets.mjs';
import { DOCKET, peakMemory, startNode } from './support/processes.mjs';
import { rounded } from './support/statistics.mjs';

const TARGET = 20_000;
const MEMORY_TARGET = 1.25;
const SAMPLE_MS = 50;
const MIB = 1024 * 1024;
const COUNT = new Intl.NumberFormat('en-US');

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

/** Writes dockets as files, one by one, so that at most one is in memory. @returns bytes on disk */
function writeFolder(folder, dockets, entries) {
  mkdirSync(folder);
  for (let number = 1; number <= dockets; number++) {
    const name = `docket-${String(number).padStart(5, '0')}.json`;
    writeFileSync(join(folder, name), JSON.stringify(syntheticDocket(number, entries)));
  }
  return bytesIn(folder);
}

const bytesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/**
 * `docket import FOLDER` in its own process, from its start until answers show everything.
 * @throws Error if it did not record every filing
 */
async function importFolder(dockets, entries) {
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-import-'));
  try {
    const files = join(directory, 'files');
    const data = join(directory, 'data');
    const fileBytes = writeFolder(files, dockets, entries);
    const started = performance.now();
    const child = startNode([DOCKET, 'import', files], { DATA_DIR: data });
    let peak = null;
    const sampling = setInterval(() => {
      peak = peakMemory(child.pid) ?? peak;
    }, SAMPLE_MS);
    const code = await child.ended();
    const seconds = (performance.now() - started) / 1000;
    clearInterval(sampling);
    if (code !== 0) throw new Error(`docket import ended with ${code}:\n${child.output()}`);
    const filings = dockets * entries;
    assertRecorded(child.output(), dockets, filings);
    return { rate: filings / seconds, seconds, peak, fileBytes, dataBytes: bytesIn(data) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The last line of the report must count all of them as recorded, and none in any other way. */
function assertRecorded(output, dockets, filings) {
  const line = `all: ${dockets} dockets, ${filings} entries recorded as its history`;
  if (!output.split('\n').includes(line))
    throw new Error(`docket import did not say "${line}":\n${output.slice(-2000)}`);
}

/** The rows of the command. The first size is the baseline for the memory of the second. */
async function measureCommand(quick, progress) {
  const entries = quick ? 1_000 : 5_000;
  const sizes = quick ? [20_000] : [100_000, 1_000_000];
  const runs = [];
  for (const filings of sizes) {
    progress(`docket import of ${COUNT.format(filings)} filings`);
    runs.push(await importFolder(filings / entries, entries));
  }
  const [last, first] = [runs.at(-1), runs.at(-2)];
  const what = `docket import, ${COUNT.format(sizes.at(-1))} filings in files of ${COUNT.format(entries)}`;
  const rate = Math.round(last.rate);
  const rows = [
    {
      what,
      unit: 'filings/s visible',
      ours: rate,
      target: `>= ${TARGET}`,
      met: rate >= TARGET,
      seconds: rounded(last.seconds),
      fileMiB: Math.round(last.fileBytes / MIB),
      dataMiB: Math.round(last.dataBytes / MIB),
    },
  ];
  if (last.peak === null) return rows;
  const memory = { what: `${what}: peak memory`, unit: 'MiB resident', ours: Math.round(last.peak / MIB) };
  if (!first?.peak) return [...rows, memory];
  const ratio = last.peak / first.peak;
  return [
    ...rows,
    {
      ...memory,
      what: `${memory.what} (rival: ${COUNT.format(sizes.at(-2))} filings)`,
      rival: Math.round(first.peak / MIB),
      ratio: rounded(ratio),
      target: `<= ${MEMORY_TARGET}x`,
      met: ratio <= MEMORY_TARGET,
    },
  ];
}

export async function run({ quick = false, progress = () => {} } = {}) {
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
  rows.push(...(await measureCommand(quick, progress)));
  return { title: 'Import of dockets, classified and masked, from file to answer', rows };
}

if (process.argv[1] === import.meta.filename)
  console.table((await run({ quick: process.argv.includes('--quick') })).rows);
