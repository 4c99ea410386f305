// Registers the calls on a gRPC server.
import grpc from '@grpc/grpc-js';
import { append } from './calls/append.mjs';
import { batchAppend } from './calls/batch-append.mjs';
import { remove } from './calls/delete.mjs';
import { gossip, supportedMethods } from './calls/node-info.mjs';
import { read } from './calls/read.mjs';
import { Faults } from './faults.mjs';
import { KEEP_ALIVE_MS, MAX_CONCURRENT_STREAMS, MAX_MESSAGE_SIZE } from './limits.mjs';
import { messages, services } from './protocol.mjs';

/**
 * Resolves, once it listens, to `{ port, faults, close }`. In a cluster `view` provides what the node knows about it:
 * `address()`, where clients reach it, `members()`, and `admit(call, kind)`, which throws if the node does not serve a
 * call.
 */
export async function serve({ database, host, port, hold, view }) {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_SIZE,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    'grpc.keepalive_time_ms': KEEP_ALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEP_ALIVE_MS,
  });
  let bound = port;
  const at = (number) => `${host.includes(':') ? `[${host}]` : host}:${number}`;
  const ownAddress = () => ({ host: ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host, port: bound });
  const address = view?.address ?? ownAddress;
  const faults = new Faults({ admit: view?.admit, address, disconnect: () => server.drain(at(bound), 0) });
  const node = { database, faults, address, hold, members: view?.members };

  // Read responses are encoded when their events are written, and sent unchanged.
  const streams = {
    ...services.StreamsService,
    read: { ...services.StreamsService.read, responseSerialize: (bytes) => bytes },
  };
  server.addService(streams, {
    read: read(node),
    append: append(node),
    batchAppend: batchAppend(node),
    delete: remove(node, messages.DeleteResp, false),
    tombstone: remove(node, messages.TombstoneResp, true),
  });
  server.addService(services.ServerFeaturesService, { getSupportedMethods: supportedMethods(node) });
  server.addService(services.GossipService, { read: gossip(node) });

  bound = await new Promise((resolve, reject) =>
    server.bindAsync(at(port), grpc.ServerCredentials.createInsecure(), (error, actual) =>
      error ? reject(error) : resolve(actual),
    ),
  );
  return { port: bound, faults, close: () => server.forceShutdown() };
}
