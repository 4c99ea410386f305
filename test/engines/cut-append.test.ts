/**
 * Given a client that dies in the middle of an append, when its connection ends, then the stand-in for EventStoreDB
 * writes nothing of it, as a node does: the request was never completed.
 */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { EventStoreDBClient, jsonEvent, StreamNotFoundError } from '@eventstore/db-client';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStandin, type Standin } from '../support/standin.ts';

const load = createRequire(import.meta.url);
const { StreamsClient } = load('@eventstore/db-client/generated/streams_grpc_pb.js');
const { AppendReq } = load('@eventstore/db-client/generated/streams_pb.js');
const { Empty, StreamIdentifier, UUID } = load('@eventstore/db-client/generated/shared_pb.js');

let standin: Standin;
let client: EventStoreDBClient;
beforeAll(async () => {
  standin = await openStandin();
  client = new EventStoreDBClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true });
});
afterAll(async () => {
  await client?.dispose();
  await standin?.close();
});

function optionsFor(stream: string) {
  const identifier = new StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream).toString('base64'));
  const options = new AppendReq.Options();
  options.setStreamIdentifier(identifier);
  options.setNoStream(new Empty());
  const request = new AppendReq();
  request.setOptions(options);
  return request;
}

function message(id: string) {
  const uuid = new UUID();
  uuid.setString(id);
  const proposed = new AppendReq.ProposedMessage();
  proposed.setId(uuid);
  proposed.getMetadataMap().set('type', 'Noted').set('content-type', 'application/json');
  proposed.setData(Buffer.from('{}').toString('base64'));
  const request = new AppendReq();
  request.setProposedMessage(proposed);
  return request;
}

it.each(['after one of two events', 'after the second event, before the end'])('%s', async (when) => {
  const stream = `cut-${when.length}`;
  const sockets: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect(standin.ports[0] as number, '127.0.0.1');
    sockets.push(near, far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  const dying = new StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = dying.append(() => undefined);
  call.on('error', () => undefined);
  const sent = (request: unknown) => new Promise<void>((resolve) => call.write(request, () => resolve()));
  await sent(optionsFor(stream));
  await sent(message('0b0ad886-ecb1-4d7a-907b-71197f9446ae'));
  if (when.startsWith('after the second')) await sent(message('1b0ad886-ecb1-4d7a-907b-71197f9446ae'));
  // What was sent has arrived once another append over the same connection is answered.
  const other = new EventStoreDBClient({ endpoint: `127.0.0.1:${port}` }, { insecure: true });
  await other.appendToStream(`${stream}-other`, jsonEvent({ type: 'Noted', data: {} }));
  await other.dispose();
  for (const socket of sockets) socket.destroy();
  await client.appendToStream(`${stream}-later`, jsonEvent({ type: 'Noted', data: {} }));
  const read = async () => {
    const events = [];
    for await (const { event } of client.readStream(stream)) events.push(event?.type);
    return events;
  };
  await expect(read()).rejects.toThrow(StreamNotFoundError);
  dying.close();
  proxy.close();
});
