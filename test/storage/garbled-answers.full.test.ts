/**
 * Answers of an event store and of MongoDB that are complete by their protocols, but have wrong bytes inside. Only the
 * current call may fail. An unhandled rejection, or an uncaught exception, fails the run.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { type EventStoreDBClient, jsonEvent, NO_STREAM, type ResolvedEvent } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UnreadableEvent } from '../../src/events/unreadable-event.ts';
import { GuardedClient } from '../../src/storage/eventstoredb/client.ts';
import { recordedEvent } from '../../src/storage/eventstoredb/recorded-events.ts';
import { openMongo } from '../../src/storage/mongodb/open.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { seeded } from '../support/fault-proxy.ts';
import { SEED } from '../support/seed.ts';

const ROUNDS = 30 * Number(process.env.KILLS ?? 20);

/** With up to three wrong bytes, or without its end. */
function spoiled(bytes: Uint8Array, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  const pick = (below: number) => Math.floor(random() * below);
  for (let count = 1 + pick(3); count > 0; count--) copy[pick(copy.length)] = pick(256);
  return pick(4) === 0 ? copy.subarray(0, pick(copy.length)) : copy;
}

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe(`an event store that answers with wrong bytes, seed ${SEED}`, () => {
  const random = seeded(SEED);
  let server: Server;
  let client: EventStoreDBClient;

  function eventBytes(): Uint8Array {
    const id = new shared.UUID();
    id.setString('8b0ba2d5-58ee-4f4e-a1f1-0ad1e6a3c0de');
    const stream = new shared.StreamIdentifier();
    stream.setStreamName(Buffer.from(`payment-${'a'.repeat(64)}`).toString('base64'));
    const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
    recorded.setId(id);
    recorded.setStreamIdentifier(stream);
    recorded.setStreamRevision('7');
    recorded.setCommitPosition('1234');
    recorded.setPreparePosition('1234');
    recorded
      .getMetadataMap()
      .set('type', 'PaymentSettled')
      .set('content-type', 'application/json')
      .set('created', '638000');
    recorded.setData(Buffer.from('{"a":1}').toString('base64'));
    recorded.setCustomMetadata(Buffer.from('{"hash":"a","recordedAt":"b"}').toString('base64'));
    const event = new streams.ReadResp.ReadEvent();
    event.setEvent(recorded);
    event.setLink(recorded);
    event.setCommitPosition('1234');
    const response = new streams.ReadResp();
    response.setEvent(event);
    return response.serializeBinary();
  }
  function checkpointBytes(): Uint8Array {
    const checkpoint = new streams.ReadResp.Checkpoint();
    checkpoint.setCommitPosition('1234');
    checkpoint.setPreparePosition('1234');
    const response = new streams.ReadResp();
    response.setCheckpoint(checkpoint);
    return response.serializeBinary();
  }
  function appendedBytes(): Uint8Array {
    const position = new streams.AppendResp.Position();
    position.setCommitPosition('1234');
    position.setPreparePosition('1234');
    const success = new streams.AppendResp.Success();
    success.setCurrentRevision('7');
    success.setPosition(position);
    const response = new streams.AppendResp();
    response.setSuccess(success);
    return response.serializeBinary();
  }

  beforeAll(async () => {
    const asItIs = (bytes: Buffer) => bytes;
    const { read, append } = streamServices.StreamsService;
    server = new Server();
    server.addService(
      { read: { ...read, responseSerialize: asItIs }, append: { ...append, responseSerialize: asItIs } } as never,
      {
        read(call: ServerWritableStream<unknown, Buffer>) {
          for (const bytes of [eventBytes(), checkpointBytes(), eventBytes()]) call.write(spoiled(bytes, random));
          call.end();
        },
        append(call: NodeJS.ReadableStream, reply: (error: object | null, value?: Buffer) => void) {
          call.on('data', () => undefined).on('error', () => undefined);
          call.on('end', () =>
            random() < 0.1 ? reply({ code: status.UNKNOWN }) : reply(null, spoiled(appendedBytes(), random)),
          );
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    client = new GuardedClient({ endpoint: `127.0.0.1:${port}` }, { insecure: true }, undefined);
  });
  afterAll(async () => {
    await client?.dispose();
    server?.forceShutdown();
  });

  const seen = { events: 0, unforeseen: [] as unknown[] };

  /** Every event is read, skipped or reported. */
  async function judged(events: AsyncIterable<ResolvedEvent>): Promise<void> {
    for await (const { event } of events) {
      if (!event) continue;
      seen.events++;
      try {
        recordedEvent(event);
      } catch (error) {
        if (!(error instanceof UnreadableEvent)) seen.unforeseen.push(error);
      }
    }
  }

  it(
    'fails only the current call',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const appending = client.appendToStream('s', jsonEvent({ type: 'Tested', data: {} }), {
          expectedRevision: NO_STREAM,
          deadline: 2_000,
        });
        // An answer that is neither counts as missing: the adapter has a time limit for that.
        const late = new Promise((resolve) => setTimeout(resolve, 200).unref());
        await Promise.all([
          Promise.race([outcomeOf(appending), late]),
          outcomeOf(judged(client.readStream('s'))),
          outcomeOf(judged(client.subscribeToAll() as AsyncIterable<ResolvedEvent>)),
        ]);
      }
      expect(seen.unforeseen).toEqual([]);
      expect(seen.events).toBeGreaterThan(0);
    },
    10 * 60_000,
  );
});

describe(`a MongoDB that answers with wrong bytes, seed ${SEED}`, () => {
  const random = seeded(SEED);
  const HEADER = 16;
  let server: NetServer;
  /** Whether the first messages of a connection are valid. */
  let greets: boolean;

  const GREETING = {
    ok: 1,
    isWritablePrimary: true,
    ismaster: true,
    helloOk: true,
    minWireVersion: 0,
    maxWireVersion: 21,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(0),
  };

  function answerTo(message: Buffer): Buffer {
    const isQuery = message.readInt32LE(12) === 2004;
    const isGreeting = message.includes('hello') || message.includes('ismaster');
    const document = BSON.serialize(
      isGreeting ? GREETING : { ok: 1, n: 1, cursor: { id: 0, ns: 'a.b', firstBatch: [{ _id: 'x' }] } },
    );
    const body = isGreeting && greets ? Buffer.from(document) : spoiled(document, random);
    const front = isQuery ? Buffer.alloc(20) : Buffer.alloc(5);
    if (isQuery) front.writeInt32LE(1, 16);
    const header = Buffer.alloc(HEADER);
    header.writeInt32LE(HEADER + front.length + body.length, 0);
    header.writeInt32LE(message.readInt32LE(4), 8);
    header.writeInt32LE(isQuery ? 1 : 2013, 12);
    return Buffer.concat([header, front, body]);
  }

  beforeAll(async () => {
    server = createServer((socket) => {
      let bytes = Buffer.alloc(0);
      socket
        .on('error', () => undefined)
        .on('data', (chunk) => {
          bytes = Buffer.concat([bytes, chunk]);
          while (bytes.length >= HEADER && bytes.length >= bytes.readInt32LE(0)) {
            const length = bytes.readInt32LE(0);
            socket.write(answerTo(bytes.subarray(0, length)));
            bytes = bytes.subarray(length);
          }
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server?.close());

  const url = () => `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/test?directConnection=true`;

  /**
   * What cannot be decoded is a failure of the storage; a wrong value that can be decoded may fail in any way, in the
   * call.
   */
  function expectJudged(error: unknown): void {
    if (error === null) return;
    expect(error).toBeInstanceOf(Error);
    expect(BSON.BSONError.isBSONError(error), String(error)).toBe(false);
    if (error instanceof StorageFailure) expect(error.code).toBe('storage_unavailable');
  }

  it('to its first messages is not reached', async () => {
    greets = false;
    for (let round = 0; round < 5; round++) {
      const error = await outcomeOf(openMongo(url()).then((opened) => opened.close()));
      expectJudged(error);
    }
  });

  it(
    'to later ones fails only the current call',
    async () => {
      greets = true;
      for (let round = 0; round < ROUNDS / 50; round++) {
        const error = await outcomeOf(
          openMongo(url()).then(async ({ readStore, close }) => {
            try {
              await readStore.find({ collection: 'cases', limit: 1 }, 1);
            } finally {
              await close();
            }
          }),
        );
        expectJudged(error);
      }
    },
    10 * 60_000,
  );
});
