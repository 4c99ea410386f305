// How many filing types are classified correctly on labelled texts:
// node bench/filing-types.mjs PATH [--errors] [--only even|odd]
// PATH is tab separated with a header that names the columns text, primary_type and all_types.
import { readFileSync } from 'node:fs';
import { classifyFiling } from '../dist/dockets/classify.js';

const [path, ...options] = process.argv.slice(2);
if (path === undefined) {
  console.error('Usage: node bench/filing-types.mjs PATH [--errors]');
  process.exit(2);
}
const [header, ...lines] = readFileSync(path, 'utf8').split('\n');
const columns = header.split('\t');
const column = (name) => columns.indexOf(name);
const rows = lines
  .filter((line) => line !== '')
  .map((line) => line.split('\t'))
  .map((fields) => ({
    text: fields[column('text')],
    primary: fields[column('primary_type')],
    all: fields[column('all_types')].split(','),
  }))
  .filter((_, index) => !options.includes('--even') || index % 2 === 0)
  .filter((_, index) => !options.includes('--odd') || index % 2 === 1);

const confusions = new Map();
let primaries = 0;
let sets = 0;
for (const { text, primary, all } of rows) {
  const told = classifyFiling(text);
  if ([...told.all].sort().join() === [...all].sort().join()) sets += 1;
  if (told.primary === primary) primaries += 1;
  else {
    const pair = `${primary} told as ${told.primary}`;
    confusions.set(pair, [...(confusions.get(pair) ?? []), text]);
  }
}

// Processor time, which other programs on the machine affect little.
const started = process.cpuUsage();
const rounds = Math.ceil(100_000 / rows.length);
for (let round = 0; round < rounds; round += 1) for (const { text } of rows) classifyFiling(text);
const { user, system } = process.cpuUsage(started);
const microseconds = (user + system) / (rounds * rows.length);

const percent = (count) => `${((100 * count) / rows.length).toFixed(1)} %`;
console.log(`${rows.length} texts`);
console.log(`primary type right: ${primaries} (${percent(primaries)})`);
console.log(`all types right:    ${sets} (${percent(sets)})`);
console.log(`time for one text:  ${microseconds.toFixed(2)} µs`);
for (const [pair, texts] of [...confusions].sort((a, b) => b[1].length - a[1].length)) {
  console.log(`  ${String(texts.length).padStart(3)}  ${pair}`);
  if (options.includes('--errors')) for (const text of texts) console.log(`         ${text.slice(0, 150)}`);
}
