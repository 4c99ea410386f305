import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ANY, BACKWARDS, END, NO_STREAM } from '@eventstore/db-client';
import { event, ids, outcome, sleep, standin, temporaryDirectory } from './standin.mjs';

test('what was acknowledged survives kill -9, once and in order', async (t) => {
  const directory = temporaryDirectory(t);
  const acknowledged = new Map();
  const count = () => [...acknowledged.values()].reduce((sum, list) => sum + list.length, 0);
  for (let round = 1; round <= 5; round++) {
    const node = await standin(t, '--db', directory);
    const client = node.client();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const stream = `kill-${writer}`;
      for (;;) {
        const written = [event(), event()];
        const answer = await client.appendToStream(stream, written).catch((error) => error);
        if (!answer.success) return;
        acknowledged.set(stream, [...(acknowledged.get(stream) ?? []), ...written.map(({ id }) => id)]);
      }
    });
    while (count() < round * 100) await sleep(5);
    await sleep(Math.random() * 50);
    await node.kill('SIGKILL');
    await Promise.all(writers);
  }
  const client = (await standin(t, '--db', directory)).client();
  for (const [stream, expected] of acknowledged) {
    const found = await ids(client, stream);
    assert.equal(new Set(found).size, found.length, 'nothing twice');
    const kept = new Set(expected);
    assert.deepEqual(
      found.filter((id) => kept.has(id)),
      expected,
      'nothing lost, and in order',
    );
  }
});

test('positions, revisions and metadata are the same after a restart', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await standin(t, '--db', directory);
  const client = first.client();
  await client.appendToStream('kept', [event({ a: 'ü' }, { metadata: { m: 1 } }), event(), event()]);
  await client.appendToStream('gone', event());
  await client.deleteStream('gone');
  await client.appendToStream('buried', event());
  await client.tombstoneStream('buried');
  await client.setStreamMetadata('kept', { truncateBefore: 1 });
  await client.appendToStream('kept', []);
  const everything = async (node) => {
    const out = [];
    for await (const resolved of node.client().readAll()) out.push(resolved);
    return out;
  };
  const before = await everything(first);
  await first.kill('SIGTERM');
  const second = await standin(t, '--db', directory);
  assert.deepEqual(await everything(second), before);
  const again = second.client();
  assert.equal((await ids(again, 'kept')).length, 2);
  assert.equal((await outcome(again.appendToStream('buried', event()))).type, 'stream-deleted');
  const { position } = await again.appendToStream('kept', event(), { expectedRevision: 2n });
  assert.ok(position.commit > before.at(-1).event.position.commit);
  const epochs = [];
  for await (const {
    event: { data },
  } of again.readStream('$epoch-information'))
    epochs.push(data);
  assert.equal(epochs.length, 2);
});

test('a restart forgets which ids were written, except to an exact expectation', async (t) => {
  const directory = temporaryDirectory(t);
  const [loose, strict] = [event(), event()];
  const first = await standin(t, '--db', directory);
  for (let i = 0; i < 2; i++) await first.client().appendToStream('loose', loose, { expectedRevision: ANY });
  await first.client().appendToStream('strict', strict, { expectedRevision: NO_STREAM });
  assert.equal((await ids(first.client(), 'loose')).length, 1);
  await first.kill('SIGKILL');
  const client = (await standin(t, '--db', directory)).client();
  await client.appendToStream('loose', loose, { expectedRevision: ANY });
  await client.appendToStream('strict', strict, { expectedRevision: NO_STREAM });
  assert.equal((await ids(client, 'loose')).length, 2);
  assert.equal((await ids(client, 'strict')).length, 1);
});

test('a truncated append is removed as a whole', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await standin(t, '--db', directory);
  await first.client().appendToStream('whole', [event(), event()]);
  const log = join(directory, 'events.log');
  const size = statSync(log).size;
  await first.client().appendToStream('cut', [event(), event(), event()]);
  await first.kill('SIGKILL');
  truncateSync(log, statSync(log).size - 5);
  const second = await standin(t, '--db', directory);
  assert.deepEqual(await ids(second.client(), 'cut'), []);
  assert.equal((await ids(second.client(), 'whole')).length, 2);
  assert.match((await second.kill('SIGTERM')).err, /removed \d+ bytes/);
  assert.ok(statSync(log).size >= size);
});

test('a log that is damaged before its end, foreign or in use is rejected', async (t) => {
  const directory = temporaryDirectory(t);
  const node = await standin(t, '--db', directory);
  for (let i = 0; i < 10; i++) await node.client().appendToStream('damaged', event());
  await assert.rejects(standin(t, '--db', directory), process.platform === 'linux' ? /in use/ : undefined);
  await node.kill('SIGTERM');
  const log = join(directory, 'events.log');
  const bytes = readFileSync(log);
  bytes[Math.floor(bytes.length / 2)] ^= 0xff;
  writeFileSync(log, bytes);
  await assert.rejects(standin(t, '--db', directory), /damaged at byte/);
  writeFileSync(log, 'something else');
  await assert.rejects(standin(t, '--db', directory), /not a log of the stand-in/);
  const real = temporaryDirectory(t);
  appendFileSync(join(real, 'chunk-000000.000000'), '');
  await assert.rejects(standin(t, '--db', real), /holds an EventStoreDB database/);
});

test('SIGTERM ends it cleanly', async (t) => {
  const node = await standin(t);
  const subscription = node.client().subscribeToAll();
  subscription.on('error', () => {});
  await sleep(100);
  const { code, err } = await node.kill('SIGTERM');
  assert.equal(code, 0);
  assert.match(err, /not EventStoreDB/);
});

test('the largest appends are read back whole', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await standin(t, '--db', directory);
  const data = { text: 'x'.repeat(1_048_000) };
  await first.client().appendToStream('large', event(data));
  await first.kill('SIGKILL');
  const client = (await standin(t, '--db', directory)).client();
  for await (const { event: read } of client.readStream('large', {
    fromRevision: END,
    direction: BACKWARDS,
    maxCount: 1,
  }))
    assert.deepEqual(read.data, data);
});
