#!/usr/bin/env node
import { probes as allSubscriptions } from './calibration/all-subscriptions.mjs';
import { probes as appends } from './calibration/appends.mjs';
import { probes as client } from './calibration/client.mjs';
import { probes as data } from './calibration/data.mjs';
import { probes as deletes } from './calibration/deletes.mjs';
import { probes as filters } from './calibration/filters.mjs';
import { probes as idempotency } from './calibration/idempotency.mjs';
// Asks a node about seventy small questions through the official client and prints the answers as JSON without ids, times or
// absolute positions, so that the answers of two nodes can be compared with diff.
import { Kit } from './calibration/kit.mjs';
import { probes as pace } from './calibration/pace.mjs';
import { probes as reads } from './calibration/reads.mjs';
import { probes as streamSubscriptions } from './calibration/stream-subscriptions.mjs';

const areas = {
  appends,
  idempotency,
  reads,
  data,
  deletes,
  'stream subscriptions': streamSubscriptions,
  '$all subscriptions': allSubscriptions,
  filters,
  pace,
  client,
};
const [url, only] = process.argv.slice(2);
if (!url || url === '--help') {
  process.stderr.write(
    'usage: node calibrate.mjs URL [REGEX]\n  URL    e.g. esdb://localhost:2113?tls=false (a node that nothing else writes to)\n  REGEX  only the probes whose "area: name" matches\n',
  );
  process.exit(url ? 0 : 2);
}

const wanted = new RegExp(only ?? '');
const results = {};
for (const [area, probes] of Object.entries(areas)) {
  for (const [name, probe] of Object.entries(probes)) {
    const label = `${area}: ${name}`;
    if (!wanted.test(label)) continue;
    const kit = new Kit(url);
    const started = Date.now();
    try {
      results[label] = await probe(kit);
    } catch (error) {
      results[label] = { probeFailed: kit.error(error) };
    }
    await Promise.race([kit.client.dispose(), new Promise((resolve) => setTimeout(resolve, 500))]);
    process.stderr.write(`${String(Date.now() - started).padStart(6)} ms  ${label}\n`);
  }
}
process.stdout.write(`${JSON.stringify(results, null, 1)}\n`);
process.exit(0);
