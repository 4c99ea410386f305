/**
 * The client asks cluster members for the leader with calls that bypass our interceptors, and it parses the answers in
 * a callback, where a throw ends the process. Importing this module guards those calls too, for the whole process.
 */
import services from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { guardedCall } from './guarded-calls.ts';

type Read = (
  request: unknown,
  metadata: unknown,
  options: object,
  callback: (error: unknown, answer: unknown) => void,
) => unknown;

const client = services.GossipClient.prototype as unknown as { read: Read };
const { read } = client;

client.read = function guardedRead(request, metadata, options, callback) {
  return read.call(this, request, metadata, { ...options, interceptors: [guardedCall] }, callback);
};
