import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { eventTypeFilter, NO_STREAM } from '@eventstore/db-client';
import { event, ids, outcome, sleep, standin } from './standin.mjs';

/** Follows a subscription until it ends: 'ended', the error, or 'open'. */
function follow(subscription) {
  const state = { how: 'open', events: 0, caughtUp: false };
  subscription.on('caughtUp', () => {
    state.caughtUp = true;
  });
  subscription.on('error', () => {});
  (async () => {
    try {
      for await (const _ of subscription) state.events++;
      state.how = 'ended';
    } catch (error) {
      state.how = error;
    }
  })();
  return state;
}
const until = async (condition) => {
  for (let i = 0; i < 300 && !condition(); i++) await sleep(10);
  assert.ok(condition());
};

test('silent, written and not', async (t) => {
  const node = await standin(t);
  for (const written of [true, false]) {
    const stream = `silent-${written}`;
    const one = event();
    await node.fault(`silent?written=${written}&count=1&stream=silent-`);
    assert.equal(
      (await node.client().appendToStream('other', event())).success,
      true,
      'another stream is not affected',
    );
    assert.equal(
      await outcome(node.client().appendToStream(stream, one, { expectedRevision: NO_STREAM })),
      'no answer',
    );
    assert.equal((await ids(node.client(), stream)).length, written ? 1 : 0);
    assert.equal(
      (await node.client().appendToStream(stream, one, { expectedRevision: NO_STREAM })).nextExpectedRevision,
      0n,
      'repeated, it is recognized or written',
    );
    assert.equal((await ids(node.client(), stream)).length, 1);
  }
});

test('silent applies to appends with credentials and to deletions', async (t) => {
  const node = await standin(t, '--fault', 'silent?written=true');
  const client = node.client();
  assert.equal(
    (
      await outcome(
        client.appendToStream('s', event(), { credentials: { username: 'u', password: 'p' }, deadline: 500 }),
      )
    ).type,
    'deadline-exceeded',
  );
  assert.equal((await outcome(client.deleteStream('s', { deadline: 500 }))).type, 'deadline-exceeded');
  await node.clear();
  assert.deepEqual(await ids(client, 's'), [], 'written, then deleted');
});

test('timeout, written and not', async (t) => {
  const node = await standin(t);
  const client = node.client();
  for (const written of [true, false]) {
    await node.fault(`timeout?written=${written}&count=1`);
    assert.equal((await outcome(client.appendToStream(`t-${written}`, event()))).type, 'deadline-exceeded');
    assert.equal((await ids(client, `t-${written}`)).length, written ? 1 : 0);
  }
});

test('drop-subscriptions ends them silently, abort-subscriptions with an error', async (t) => {
  const node = await standin(t);
  const client = node.client();
  await client.appendToStream('s', event());
  const open = () =>
    [
      client.subscribeToStream('s'),
      client.subscribeToAll(),
      client.subscribeToAll({ filter: eventTypeFilter({ prefixes: ['Tested'] }) }),
      client.subscribeToStream('missing'),
    ].map(follow);
  const ready = (states) => until(() => states.slice(0, 3).every((state) => state.caughtUp));
  let states = open();
  await ready(states);
  assert.equal((await node.http('GET', '/health')).subscriptions, 4);
  await node.fault('drop-subscriptions');
  await until(() => states.every((state) => state.how === 'ended'));
  assert.equal((await node.http('GET', '/health')).subscriptions, 0);
  states = open();
  await ready(states);
  await node.fault('abort-subscriptions');
  await until(() => states.every((state) => state.how.type === 'timeout'));
  assert.match(states[0].how.message, /Consumer too slow/);
  states = open();
  await ready(states);
  await node.fault('abort-subscriptions?code=UNAVAILABLE&message=gone');
  await until(() => states.every((state) => state.how.type === 'unavailable'));
  const again = follow(client.subscribeToStream('s'));
  await until(() => again.caughtUp);
  assert.equal(again.events, 1);
});

test('unavailable, not-ready', async (t) => {
  const node = await standin(t);
  const client = node.client();
  await client.appendToStream('s', event());
  await node.fault('unavailable');
  assert.equal((await outcome(client.appendToStream('s', event()))).type, 'unavailable');
  assert.equal((await outcome(ids(client, 's'))).type, 'unavailable');
  assert.equal((await outcome(client.deleteStream('s'))).type, 'unavailable');
  await node.clear();
  assert.equal((await client.appendToStream('s', event())).success, true);
  await node.fault('not-ready');
  assert.equal((await outcome(client.appendToStream('s', event()))).message, 'Could not recognize Server Is Not Ready');
  assert.equal((await outcome(ids(client, 's'))).type, 'unavailable');
  await node.clear();
  assert.equal((await ids(client, 's')).length, 2, 'nothing was written meanwhile');
});

test('not-leader sends the client to the leader', async (t) => {
  const [follower, leader] = [await standin(t), await standin(t)];
  const client = follower.client();
  await follower.fault(`not-leader?host=127.0.0.1&port=${leader.port}`);
  const error = await outcome(client.appendToStream('s', event()));
  assert.deepEqual([error.type, error.leader], ['not-leader', { address: '127.0.0.1', port: leader.port }]);
  assert.equal((await outcome(client.appendToStream('s', event()))).success, true);
  assert.equal((await ids(leader.client(), 's')).length, 1);
  await follower.fault('not-leader?only=requires-leader');
  assert.equal((await outcome(follower.client().appendToStream('s', event()))).success, true);
  assert.equal((await outcome(follower.client().deleteStream('s', { requiresLeader: true }))).type, 'not-leader');
});

test('slow', async (t) => {
  const node = await standin(t);
  const client = node.client();
  await client.appendToStream('s', event());
  await node.fault('slow?ms=300');
  const started = Date.now();
  const late = client.appendToStream('s', event());
  await sleep(100);
  await node.clear();
  assert.equal((await ids(client, 's')).length, 2, 'it is written before it is answered');
  await late;
  assert.ok(Date.now() - started >= 300);
});

test('disconnect', async (t) => {
  const node = await standin(t);
  const client = node.client();
  await client.appendToStream('s', event());
  const state = follow(client.subscribeToStream('s'));
  await until(() => state.caughtUp);
  await node.fault('disconnect');
  await until(() => state.how !== 'open');
  let answer;
  for (let i = 0; i < 5 && !answer?.success; i++) answer = await outcome(client.appendToStream('s', event()));
  assert.equal(answer.success, true, 'the client reconnects');
});

for (const [what, call] of [
  ['a read', 'readStream("mine")'],
  ['a subscription', 'subscribeToAll()'],
])
  test(`incomplete events end ${what} of the plain client, and its process`, async (t) => {
    const node = await standin(t);
    await node.client().appendToStream('mine', event());
    const script = `
      import { EventStoreDBClient } from '@eventstore/db-client';
      const client = EventStoreDBClient.connectionString('${node.url}');
      const stream = client.${call}.on('error', () => {}).on('data', () => {});
      setTimeout(() => process.exit(0), 5000);`;
    const run = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]).catch((error) => error);
    for (const part of ['id', 'stream', 'text-id']) {
      await node.fault(`incomplete?part=${part}&stream=mine`);
      const { code, stderr } = await run();
      assert.equal(code, 1, `${part}: ${stderr}`);
    }
    await node.fault('incomplete?part=id&stream=yours');
    let events = 0;
    for await (const _ of node.client().readStream('mine')) events++;
    assert.equal(events, 1, 'another stream is not affected');
  });

test('the control port explains itself', async (t) => {
  const node = await standin(t);
  assert.equal((await node.http('GET', '/health')).standin, true);
  assert.deepEqual(Object.keys((await node.http('GET', '/faults')).lasting), [
    'silent',
    'timeout',
    'unavailable',
    'not-ready',
    'not-leader',
    'deny',
    'incomplete',
    'slow',
  ]);
  for (const wrong of [
    'nonsense',
    'silent?written=perhaps',
    'silent?nonsense=1',
    'slow?ms=-1',
    'incomplete?part=nonsense',
    'abort-subscriptions?code=NONSENSE',
    'not-leader?only=nonsense',
  ]) {
    const answer = await node.fault(wrong);
    assert.equal(answer.status, 400, wrong);
    assert.ok(answer.error.length > 10);
  }
  assert.equal((await node.http('GET', '/nonsense')).status, 404);
  await node.fault('slow?ms=5');
  assert.deepEqual((await node.http('GET', '/faults')).active, { slow: { ms: 5 } });
  assert.deepEqual((await node.http('DELETE', '/faults/slow')).active, {});
});

test('--live-buffer drops a live subscriber that is that far behind; it resubscribes and misses nothing', async (t) => {
  const node = await standin(t, '--live-buffer', '32');
  const client = node.client();
  await client.appendToStream('s', event());
  const first = follow(client.subscribeToStream('s'));
  await until(() => first.caughtUp);
  await client.appendToStream(
    's',
    Array.from({ length: 30 }, () => event()),
  );
  await until(() => first.events === 31);
  await client.appendToStream(
    's',
    Array.from({ length: 200 }, () => event()),
  );
  await until(() => first.how.type === 'timeout');
  assert.ok(first.events >= 31 && first.events < 231);
  const second = follow(client.subscribeToStream('s', { fromRevision: BigInt(first.events - 1) }));
  await until(() => second.caughtUp);
  assert.equal(first.events + second.events, 231);
});
