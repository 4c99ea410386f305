/**
 * Measures masking on the labelled corpus, by kind of personal detail: how many details it hides (recall), how many of
 * its removals are details (precision), and its speed. `node bench/masking.mjs [--split tune|held-out] [--errors]
 * [FILE]`; `--errors` lists the mistakes, and is only for the half that rules may be tuned to.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { maskPersonalDetails } from '../dist/dockets/mask.js';
import { readCorpus, scoreMasking } from './support/masking-score.mjs';

const CORPUS = new URL('../test/dockets/masking-corpus.tsv', import.meta.url);
const TEXTS_TIMED = 100_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { split: { type: 'string' }, errors: { type: 'boolean' } },
});
const corpus = readCorpus(readFileSync(positionals[0] ?? CORPUS, 'utf8'));
const splits = values.split === undefined ? ['tune', 'held-out'] : [values.split];
if (values.errors && splits.includes('held-out') && positionals.length === 0) {
  console.error('--errors works only with --split tune: rules must not be tuned to the other half');
  process.exit(2);
}

const percent = (part, whole) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);
for (const split of splits) {
  const entries = corpus.filter((entry) => entry.split === split);
  const { kinds, all, faults } = scoreMasking(entries, maskPersonalDetails);
  console.log(
    `\n${split}: ${entries.length} texts, ${entries.filter(({ details }) => !details.length).length} without details`,
  );
  console.log('kind       details   recall    maskings  precision');
  for (const [kind, { details, hidden, maskings, right }] of [...kinds, ['all', all]]) {
    console.log(
      `${kind.padEnd(10)} ${String(details).padStart(7)}  ${percent(hidden, details).padStart(8)}  ${String(maskings).padStart(8)}  ${percent(right, maskings).padStart(8)}`,
    );
  }
  if (!values.errors) continue;
  for (const { id, kind, fault, detail, masked } of faults)
    console.log(`${id} ${fault} ${kind}: ${detail}\n      ${masked}`);
}

// Processor time, which other programs on the machine affect little.
const characters = corpus.reduce((sum, { text }) => sum + text.length, 0) / corpus.length;
for (const { text, country } of corpus) maskPersonalDetails(text, country);
const started = process.cpuUsage();
const rounds = Math.ceil(TEXTS_TIMED / corpus.length);
for (let round = 0; round < rounds; round += 1) {
  for (const { text, country } of corpus) maskPersonalDetails(text, country);
}
const { user, system } = process.cpuUsage(started);
const microseconds = (user + system) / (rounds * corpus.length);
console.log(`\ntime for a text of ${characters.toFixed(0)} characters: ${microseconds.toFixed(2)} µs`);
