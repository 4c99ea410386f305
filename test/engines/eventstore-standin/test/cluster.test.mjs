import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStoreDBClient } from '@eventstore/db-client';
import { event, ids, outcome, standin } from './standin.mjs';

/** A client that finds the leader by asking the nodes. */
const clusterClient = (t, ports) => {
  const client = EventStoreDBClient.connectionString(
    `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`,
  );
  t.after(() => client.dispose());
  return client;
};
const nodeClient = (t, port) => {
  const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);
  t.after(() => client.dispose());
  return client;
};
const untilAppended = async (client, stream) => {
  const one = event();
  for (let i = 0; i < 40; i++) {
    const answer = await outcome(client.appendToStream(stream, one, { requiresLeader: true }), 3000);
    if (answer.success) return;
  }
  assert.fail('no append went through');
};

test('a cluster has one leader, and its followers name it', async (t) => {
  const cluster = await standin(t, '--cluster', '3');
  const { leader, nodes } = await cluster.http('GET', '/cluster');
  await untilAppended(
    clusterClient(
      t,
      nodes.map(({ port }) => port),
    ),
    's',
  );
  const follower = nodes.find(({ index }) => index !== leader);
  const error = await outcome(nodeClient(t, follower.port).deleteStream('s', { requiresLeader: true }));
  assert.deepEqual([error.type, error.leader.port], ['not-leader', nodes[leader].port]);
  assert.equal((await ids(nodeClient(t, follower.port), 's')).length, 1, 'a client that requires no leader is served');
});

for (const how of ['kill', 'resign', 'freeze'])
  test(`a leader change: ${how}`, async (t) => {
    const cluster = await standin(t, '--cluster', '3');
    const before = await cluster.http('GET', '/cluster');
    const client = clusterClient(
      t,
      before.nodes.map(({ port }) => port),
    );
    await untilAppended(client, 'before');
    const after = await cluster.http('POST', `/cluster/change?how=${how}&election=50`);
    assert.notEqual(after.leader, before.leader);
    assert.equal(after.changes, before.changes + 1);
    // A client of a frozen node notices only its silence.
    await untilAppended(
      how === 'freeze' ? clusterClient(t, [after.nodes[after.leader].port, after.nodes[after.leader].port]) : client,
      'after',
    );
  });

test('what a deposed leader accepts and does not commit is neither answered nor written', async (t) => {
  const cluster = await standin(t, '--cluster', '3');
  const { leader, nodes } = await cluster.http('GET', '/cluster');
  const client = nodeClient(t, nodes[leader].port);
  client.supports = async () => false; // each append in its own call
  assert.equal((await client.appendToStream('s', event())).success, true);
  const changed = cluster.http('POST', '/cluster/change?how=resign&election=50');
  const appends = [];
  for (let i = 0; i < 20; i++) {
    appends.push(
      client.appendToStream('tail', event()).then(
        () => 'written',
        () => 'unknown',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  await changed;
  const written = (await Promise.all(appends)).filter((answer) => answer === 'written').length;
  const after = await cluster.http('GET', '/cluster');
  assert.equal((await ids(nodeClient(t, after.nodes[after.leader].port), 'tail')).length, written);
});

test('without a majority writes time out, then no node leads, and the cluster recovers', async (t) => {
  const cluster = await standin(t, '--cluster', '3');
  const { leader, nodes } = await cluster.http('GET', '/cluster');
  const client = nodeClient(t, nodes[leader].port);
  await untilAppended(client, 's');
  await cluster.http('POST', '/cluster/lose-majority');
  assert.equal((await outcome(client.deleteStream('s'))).type, 'timeout');
  assert.equal((await ids(client, 's')).length, 1, 'reads are answered for a while');
  while ((await cluster.http('GET', '/cluster')).leader !== null)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.notEqual((await outcome(client.deleteStream('s'))).success, true);
  await cluster.http('POST', '/cluster/recover');
  await untilAppended(
    clusterClient(
      t,
      nodes.map(({ port }) => port),
    ),
    't',
  );
});

test('the control port rejects what a cluster cannot do', async (t) => {
  const cluster = await standin(t, '--cluster', '3');
  for (const wrong of ['nonsense', 'change?how=nonsense', 'change?election=-1', 'kill?node=9'])
    assert.equal((await cluster.http('POST', `/cluster/${wrong}`)).status, 400, wrong);
  const alone = await standin(t);
  assert.equal((await alone.http('POST', '/cluster/change')).status, 404);
});
