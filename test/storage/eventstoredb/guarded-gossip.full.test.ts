/** A member of the cluster that answers nonsense when asked for the leader is skipped, and ends nothing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEventStore } from '../../../src/storage/eventstoredb/open.ts';
import { openStandin, type Standin } from '../../support/standin.ts';
import { freshStream, notes } from '../samples.ts';

let member: Server;
let port: number;
let answer: gossip.ClusterInfo | null;
let asked: number;
beforeEach(async () => {
  asked = 0;
  answer = new gossip.ClusterInfo();
  member = new Server();
  member.addService(gossipServices.GossipService as never, {
    read: (_: unknown, reply: (error: object | null, value?: gossip.ClusterInfo) => void) => {
      asked++;
      return answer ? reply(null, answer) : reply({ code: status.UNAVAILABLE });
    },
  });
  port = await new Promise<number>((resolve, reject) => {
    member.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
});
afterEach(() => member.forceShutdown());

/** Claims to be the leader. */
function leader(over: (info: gossip.MemberInfo) => void = () => undefined): gossip.MemberInfo {
  const endPoint = new gossip.EndPoint();
  endPoint.setAddress('127.0.0.1');
  endPoint.setPort(port);
  const info = new gossip.MemberInfo();
  info.setState(gossip.MemberInfo.VNodeState.LEADER);
  info.setIsAlive(true);
  info.setHttpEndPoint(endPoint);
  over(info);
  return info;
}

/** A UUID of no valid version and variant. */
function invalidId(): shared.UUID {
  const halves = new shared.UUID.Structured();
  halves.setMostSignificantBits('-1');
  halves.setLeastSignificantBits('1');
  const id = new shared.UUID();
  id.setStructured(halves);
  return id;
}

const endPointOf = (address: string, at: number) => (info: gossip.MemberInfo) => {
  info.getHttpEndPoint()?.setAddress(address);
  info.getHttpEndPoint()?.setPort(at);
};
const NONSENSE: readonly [string, () => gossip.ClusterInfo | null][] = [
  ['nothing', () => null],
  ['no members', () => new gossip.ClusterInfo()],
  ['a member without anything', () => of(new gossip.MemberInfo())],
  ['a leader with an invalid id', () => of(leader((info) => info.setInstanceId(invalidId())))],
  ['a leader without an address', () => of(leader((info) => info.clearHttpEndPoint()))],
  ['a leader at an invalid address', () => of(leader(endPointOf('not an address:', 70_000)))],
  ['itself, though it is not an event store', () => of(leader())],
];
function of(info: gossip.MemberInfo): gossip.ClusterInfo {
  const cluster = new gossip.ClusterInfo();
  cluster.addMembers(info);
  return cluster;
}

describe('a member that answers', () => {
  it.each(NONSENSE)('%s ends nothing', async (_, nonsense) => {
    answer = nonsense();
    const url = `esdb://127.0.0.1:${port},127.0.0.1:${port}?tls=false&maxDiscoverAttempts=2&discoveryInterval=10`;
    await expect(openEventStore(url)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(asked).toBeGreaterThan(0);
  });

  it('an invalid id ends the process if the client is used without the guard', async () => {
    answer = of(leader((info) => info.setInstanceId(invalidId())));
    const script = `
      import { EventStoreDBClient } from '@eventstore/db-client';
      const endpoint = { address: '127.0.0.1', port: ${port} };
      const client = new EventStoreDBClient({ endpoints: [endpoint, endpoint] }, { insecure: true });
      client.readAll({ maxCount: 1 }).on('error', () => {}).on('data', () => {});
      setTimeout(() => process.exit(0), 60_000);
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('UUID') });
  });

  describe('among valid ones', () => {
    let cluster: Standin;
    beforeEach(async () => {
      cluster = await openStandin('--cluster', '3');
    });
    afterEach(() => cluster?.close());

    it('an invalid id is skipped', async () => {
      answer = of(leader((info) => info.setInstanceId(invalidId()).setIsAlive(false)));
      const log = await openEventStore(cluster.url.replace('esdb://', `esdb://127.0.0.1:${port},`));
      const stream = freshStream();
      await log.append(notes(stream, ['a']));
      expect(await log.read(stream)).toHaveLength(1);
      await log.close();
    });
  });
});
