/** What gRPC and the client throw becomes an error of the call. An unhandled rejection fails the run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  convertToCommandError,
  jsonEvent,
  NO_STREAM,
  NotLeaderError,
  UnavailableError,
  UnknownError,
} from '@eventstore/db-client';
import { type Channel, Metadata, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedClient } from '../../../src/storage/eventstoredb/client.ts';
import { isDisconnection } from '../../../src/storage/eventstoredb/failures.ts';
import { readableStatus } from '../../../src/storage/eventstoredb/guarded-calls.ts';
import { openStandin, type Standin } from '../../support/standin.ts';

/** With its channel accessible, as the client's own reconnection has it. */
class OpenedClient extends GuardedClient {
  channel(): Promise<Channel> {
    return this.getChannel();
  }
}

let standin: Standin;
beforeAll(async () => {
  standin = await openStandin();
});
afterAll(() => standin?.close());

const connect = (): OpenedClient =>
  new OpenedClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true }, undefined);

const append = (client: GuardedClient, stream: string) =>
  client.appendToStream(stream, jsonEvent({ type: 'Tested', data: {} }), { expectedRevision: NO_STREAM });

async function drain(reading: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of reading) count++;
  return count;
}

const rejected = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error) => error,
  );

describe('a channel that is closed between asking for the client and calling it', () => {
  const calls: [string, (client: GuardedClient) => Promise<unknown>][] = [
    ['an append', (client) => append(client, 'shut')],
    ['a read of a stream', (client) => drain(client.readStream('first'))],
    ['a read of $all', (client) => drain(client.readAll({ maxCount: 1 }))],
    ['a subscription', (client) => drain(client.subscribeToAll())],
  ];

  it.each(calls)('%s fails as unavailable, and the next one succeeds', async (_, call) => {
    const client = connect();
    await rejected(append(client, 'first'));
    const channel = await client.channel();
    const outcome = rejected(call(client));
    channel.close();
    const error = await outcome;
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as Error).message).toContain('Channel has been shut down');
    expect(isDisconnection(error)).toBe(true);
    expect(await drain(client.readStream('first'))).toBe(1);
    await client.dispose();
    await client.retire();
  });

  it('ends the process if the client is used without the guard', async () => {
    const script = `
      import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
      const client = new EventStoreDBClient({ endpoint: '127.0.0.1:${standin.ports[0]}' }, { insecure: true });
      client.supports = async () => false;
      await client.appendToStream('unguarded', jsonEvent({ type: 'Tested', data: {} }));
      const channel = await client.getChannel();
      client.appendToStream('unguarded', jsonEvent({ type: 'Tested', data: {} })).catch(() => {});
      channel.close();
      setTimeout(() => process.exit(0), 5_000);
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Channel has been shut down') });
  });
});

describe('an error with unexpected metadata', () => {
  const statusOf = (entries: Readonly<Record<string, string>>, code = status.NOT_FOUND) => {
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
    return { code, details: 'said by the server', metadata };
  };
  const read = (entries: Readonly<Record<string, string>>) =>
    convertToCommandError(Object.assign(new Error('said by the server'), readableStatus(statusOf(entries))));

  it('keeps the class of a complete error', () => {
    const error = read({ exception: 'not-leader', 'leader-endpoint-host': 'b', 'leader-endpoint-port': '2113' });
    expect(error).toBeInstanceOf(NotLeaderError);
    expect((error as NotLeaderError).leader).toEqual({ address: 'b', port: 2113 });
  });

  it('treats a leader change that names no leader as unavailable', () => {
    expect(read({ exception: 'not-leader' })).toBeInstanceOf(UnavailableError);
    expect(read({ exception: 'stream-deleted' })).toBeInstanceOf(UnknownError);
  });

  it('never throws', () => {
    const kinds = ['not-leader', 'stream-deleted', 'wrong-expected-version', 'maximum-append-size-exceeded'];
    const more = ['missing-required-metadata-property', 'scavenge-not-found', 'user-not-found', 'user-conflict', 'x'];
    const key = fc.constantFrom(
      ...['leader-endpoint-host', 'leader-endpoint-port', 'stream-name', 'expected-version', 'actual-version'],
      ...['maximum-append-size', 'required-metadata-properties', 'scavenge-id', 'login-name'],
    );
    const value = fc.oneof(fc.stringMatching(/^[ -~]{0,8}$/), fc.integer().map(String));
    fc.assert(
      fc.property(fc.constantFrom(...kinds, ...more), fc.dictionary(key, value), (exception, entries) => {
        expect(read({ ...entries, exception })).toBeInstanceOf(Error);
      }),
    );
  });
});
