/**
 * Runs the benchmarks: `node bench/run.mjs [NAME…] [--quick] [--json FILE]`. Prints a table for each, then all of it as
 * JSON, or writes the JSON to FILE. A missed target is no error: the exit code is 1 only if a benchmark failed to run.
 *
 * Each `bench/NAME.mjs` exports `run({ quick, progress })`, which returns `{ title, rows, … }`; a row is
 * `{ what, unit, ours, rival?, ratio?, target?, met?, spread?: { ours: [low, high], rival: [low, high] } }`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const NAMES = [
  'append',
  'rebuild',
  'rebuild-beside',
  'revenue',
  'audit-verify',
  'delta',
  'full-answer',
  'import',
  'push',
  'webhooks',
  'status',
  'sandbox',
  'mcp',
  'paid-query',
  'audit-heads',
  'batch',
  'deliveries',
  'engines',
  'sources-day',
];
const USAGE = `usage: node bench/run.mjs [NAME…] [--quick] [--json FILE]\nbenchmarks: ${NAMES.join(', ')}`;
const HERE = fileURLToPath(new URL('.', import.meta.url));

const say = (line) => process.stderr.write(`${line}\n`);

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: 'boolean' }, json: { type: 'string' }, help: { type: 'boolean' } },
    });
    const unknown = positionals.filter((name) => !NAMES.includes(name));
    if (unknown.length) throw new Error(`no such benchmark: ${unknown.join(', ')}`);
    return { quick: values.quick === true, json: values.json, help: values.help, names: positionals };
  } catch (error) {
    say(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

/** The rivals are not dependencies of the product: they are installed on the first comparison. */
function installRivals() {
  if (existsSync(`${HERE}node_modules`)) return;
  const verb = existsSync(`${HERE}package-lock.json`) ? 'ci' : 'install';
  say(`installing the rivals once: npm ${verb} --prefix bench`);
  const { status } = spawnSync('npm', [verb, '--prefix', HERE, '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) {
    say('the rivals could not be installed: run the command above by hand to see why');
    process.exit(1);
  }
}

const machine = () => ({
  processors: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()} ${arch()}`,
  node: process.version,
  date: new Date().toISOString(),
});

const figure = (value) => {
  if (value === undefined || value === null) return '';
  return typeof value === 'number' ? value.toLocaleString('en-US', { maximumSignificantDigits: 4 }) : String(value);
};
const withSpread = (value, range) => (range ? `${figure(value)} (${range.map(figure).join('–')})` : figure(value));

function table(rows) {
  const lines = [['what', 'unit', 'ours', 'rival', 'ratio', 'target', 'met']];
  for (const { what, unit, ours, rival, ratio, target, met, spread } of rows) {
    lines.push([
      what,
      unit ?? '',
      withSpread(ours, spread?.ours),
      withSpread(rival, spread?.rival),
      typeof ratio === 'number' ? `${figure(ratio)}×` : figure(ratio),
      figure(target),
      met === undefined ? '' : met ? 'yes' : 'no',
    ]);
  }
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function runOne(name, quick) {
  say(`${name}${quick ? ' (quick)' : ''}`);
  const began = performance.now();
  try {
    const { run } = await import(new URL(`${name}.mjs`, import.meta.url).href);
    const result = await run({ quick, progress: (line) => say(`  ${line}`) });
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`\n${result.title}\n${table(result.rows)}\n\n`);
    return { name, seconds, ...result };
  } catch (error) {
    say(`${name} broke: ${error.stack ?? error}`);
    return { name, error: String(error.message ?? error) };
  }
}

const { quick, json, help, names } = readArguments();
if (help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
if (!existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  say('the project is not built: npm ci, or npm run build, first');
  process.exit(1);
}
// Calls `exit`, so that processes that a benchmark started end too.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
installRivals();
const where = machine();
process.stdout.write(
  `${where.processors}, ${where.memoryGiB} GiB, ${where.system}, Node ${where.node}, ${where.date}\n`,
);
const benchmarks = [];
for (const name of names.length ? names : NAMES) benchmarks.push(await runOne(name, quick));
const text = `${JSON.stringify({ machine: where, quick, benchmarks }, null, json ? 2 : 0)}\n`;
if (json) writeFileSync(json, text);
else process.stdout.write(text);
process.exitCode = benchmarks.some(({ error }) => error) ? 1 : 0;
