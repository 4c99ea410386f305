/** A storage on a disk whose reads fail while a file exists: prints what it reports, one JSON object on stdout. */
import { rmSync, writeFileSync } from 'node:fs';
import { openSqlite } from '../../dist/storage/sqlite/open.js';

const [directory, failsWhile] = process.argv.slice(2);
const said = {};
const tell = async (what, work) => {
  try {
    await work();
    said[what] = 'ok';
  } catch ({ code, hint, nothingWritten, message }) {
    said[what] = { code, hint, nothingWritten, message };
  }
};

const storage = openSqlite({ directory });
const random = () => Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(Math.random() * 256)));
const names = [];
// More than the cache of a connection holds.
for (let n = 0; n < 100; n++) names.push(await storage.payloads.put('docket', random()));
const readAll = async () => {
  for (const name of names) await storage.payloads.get(name);
};
await tell('before', readAll);
writeFileSync(failsWhile, '');
await tell('read', readAll);
await tell('write', () => storage.payloads.put('docket', random()));
await tell('open', async () => openSqlite({ directory }));
rmSync(failsWhile);
await tell('read again', readAll);
await tell('write again', () => storage.payloads.put('docket', random()));
await storage.close();
process.stdout.write(JSON.stringify(said));
