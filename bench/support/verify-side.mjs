/**
 * One side of the benchmark of `docket audit verify`, in a process of its own, so that its memory is its own. Prints
 * `{ events, seconds, cpuSeconds, rss }`. `node verify-side.mjs ours|floor FOLDER`
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { main } from '../../dist/cli/main.js';
import { canonicalJson } from '../../dist/events/canonical-json.js';
import { Database } from '../../dist/storage/sqlite/driver.js';

const [side, directory] = process.argv.slice(2);

/** Reads, parses, makes canonical, hashes, and compares with the hash and the chain: nothing less proves a chain. */
function floor() {
  const database = new Database(join(directory, 'log.sqlite'), { readonly: true });
  const rows = database
    .prepare('SELECT stream, revision, id, type, metadata, data FROM events ORDER BY position')
    .raw();
  const newest = new Map();
  let events = 0;
  for (const [stream, revision, id, type, metadataText, dataText] of rows.iterate()) {
    const { hash, ...metadata } = JSON.parse(metadataText);
    const text = canonicalJson([newest.get(stream) ?? '', stream, revision, id, type, JSON.parse(dataText), metadata]);
    if (createHash('sha256').update(text).digest('hex') !== hash) throw new Error(`${stream} ${revision}`);
    newest.set(stream, hash);
    events++;
  }
  return events;
}

async function ours() {
  let out = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      out += chunk;
      done();
    },
  });
  const context = { environment: { DATA_DIR: directory }, stdin: process.stdin, stdout, stderr: process.stderr };
  const code = await main(['audit', 'verify', '--json', ...process.argv.slice(4)], { ...context, interactive: false });
  const { summary } = JSON.parse(out.trimEnd().split('\n').at(-1));
  if (code !== 0) throw new Error(`exit code ${code}: ${JSON.stringify(summary)}`);
  return summary.events;
}

const began = performance.now();
const events = side === 'floor' ? floor() : await ours();
const seconds = (performance.now() - began) / 1000;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
process.stdout.write(`${JSON.stringify({ events, seconds, cpuSeconds, rss: maxRSS * 1024 })}\n`);
