/**
 * An event store is shared: other programs write what they like, and their events are skipped. An unreadable event of
 * this service is reported with its position, after everything before it. An unhandled rejection fails the run.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { binaryEvent, type EventData, EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UnreadableEvent } from '../../src/events/unreadable-event.ts';
import type { EventFilter, EventLog, Position, RecordedEvent } from '../../src/storage/event-log.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { headAfter } from '../../src/storage/prepare-append.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { collect, freshStream, notes, textOf } from './samples.ts';

let standin: Standin;
let log: EventLog;
let others: EventStoreDBClient;
beforeAll(async () => {
  standin = await openStandin();
  log = await openEventStore(standin.url);
  others = new EventStoreDBClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true });
});
beforeEach(() => standin.control('DELETE', '/faults'));
afterAll(async () => {
  await others?.dispose();
  await log?.close();
  await standin?.close();
});

const hash = (): string => randomBytes(32).toString('hex');
/** As other programs write them. */
const json = (type: string, more: Partial<JSONEventData> = {}): EventData => ({
  ...jsonEvent({ type, data: { amount: 7 } }),
  ...more,
});
const orders = (): string => `orders-${randomUUID()}`;
const BYTES = Uint8Array.of(0, 159, 146, 150);
const FOREIGN: readonly [string, () => [stream: string, event: EventData]][] = [
  ['binary data without metadata', () => [orders(), binaryEvent({ type: 'OrderScanned', data: BYTES })]],
  ['JSON without metadata', () => [orders(), json('OrderPlaced')]],
  ['empty metadata', () => [orders(), json('OrderPlaced', { metadata: {} })]],
  ['metadata that is not JSON', () => [orders(), json('OrderPlaced', { metadata: BYTES })]],
  ['metadata that is a list', () => [orders(), json('OrderPlaced', { metadata: [1] as never })]],
  ['a link that leads nowhere', () => [orders(), binaryEvent({ type: '$>', data: Buffer.from('7@gone') })]],
  ['a type of ours in another stream', () => ['payment-17', json('PaymentSettled')]],
  ['a stream like ours with another type', () => [`payment-${hash()}`, json('RefundRequested')]],
];

const reasons = (events: readonly RecordedEvent[]): string[] => events.map(textOf);

/** What a subscriber gets until it has this many events, or gets an error. */
async function follow(from: Position | null, filter: EventFilter, count: number, live?: () => Promise<void>) {
  const events: RecordedEvent[] = [];
  let wrote = live === undefined;
  try {
    for await (const batch of log.subscribe(from, filter)) {
      events.push(...batch.events);
      if (batch.live && !wrote) {
        wrote = true;
        await live?.();
      }
      if (events.length >= count) break;
    }
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

describe('events of other programs', () => {
  const FILTERS: readonly [string, EventFilter][] = [
    ['all', { by: 'all' }],
    ['types', { by: 'types', types: ['EventSkipped', 'PaymentSettled', 'RefundRequested'] }],
    ['streams', { by: 'streams', prefixes: ['docket-', 'payment-', 'orders-'] }],
  ];

  async function writeBetween(): Promise<void> {
    await log.append(notes(freshStream(), ['before']));
    for (const [, foreign] of FOREIGN) await others.appendToStream(...foreign());
    await log.append(notes(freshStream(), ['after']));
  }

  it.each(FILTERS)(
    'are skipped by every reader of the log, when it catches up and follows it, by %s',
    async (_, filter) => {
      const start = await log.head();
      await writeBetween();
      expect(reasons((await collect(log, start, filter)).events)).toEqual(['before', 'after']);
      expect(reasons((await follow(start, filter, 2)).events)).toEqual(['before', 'after']);
      const following = await follow(await log.head(), filter, 2, writeBetween);
      expect(reasons(following.events)).toEqual(['before', 'after']);
    },
  );

  it.each(FOREIGN)('%s may be the newest event of the log', async (_, foreign) => {
    const before = await log.head();
    await others.appendToStream(...foreign());
    const head = await log.head();
    expect((head ?? '') > (before ?? '')).toBe(true);
    expect((await collect(log, before)).events).toEqual([]);
    await log.check();
  });

  it.each(['id', 'stream', 'text-id'])('without a required part (%s) end nothing', async (part) => {
    const start = await log.head();
    await writeBetween();
    await standin.control('POST', `/faults/incomplete?part=${part}&stream=orders-`);
    expect(reasons((await collect(log, start)).events)).toEqual(['before', 'after']);
    const following = await follow(await log.head(), { by: 'all' }, 2, writeBetween);
    expect(reasons(following.events)).toEqual(['before', 'after']);
  });
});

describe('an unreadable event of this service', () => {
  const metadata = { hash: hash(), recordedAt: '2026-03-01T12:00:00.000000Z' };
  const CASES: readonly [string, string, EventData][] = [
    ['without metadata', 'its metadata is missing', json('PaymentSettled')],
    ['with metadata that is not JSON', 'its metadata is not JSON', json('PaymentSettled', { metadata: BYTES })],
    [
      'with the metadata of another program',
      'its metadata was not written by this service',
      json('PaymentSettled', { metadata: { user: 'x' } }),
    ],
    ['with binary data', 'its data is not JSON', binaryEvent({ type: 'PaymentSettled', data: BYTES, metadata })],
    [
      'with data that is a list',
      'its data is not a JSON object',
      json('PaymentSettled', { data: [1] as never, metadata }),
    ],
    ['without data', 'its data is not JSON', binaryEvent({ type: 'PaymentSettled', data: new Uint8Array(), metadata })],
  ];
  const filter: EventFilter = { by: 'types', types: ['EventSkipped', 'PaymentSettled'] };

  it.each(CASES)('%s is reported with its position, after what comes before it', async (_, problem, event) => {
    const start = await log.head();
    const stream = `payment-${hash()}`;
    await log.append(notes(freshStream(), ['first', 'second']));
    await others.appendToStream(stream, event);
    const position = await log.head();
    const reported = {
      code: 'event_unreadable',
      message: `event PaymentSettled in stream ${stream}, revision 0, position ${position}: ${problem}`,
      hint: expect.stringContaining('backup'),
    };

    await expect(log.read(stream)).rejects.toMatchObject(reported);
    const read: RecordedEvent[] = [];
    const reading = (async () => {
      for await (const { events } of log.readAll(start, filter)) read.push(...events);
    })();
    await expect(reading).rejects.toMatchObject(reported);
    expect(reasons(read)).toEqual(['first', 'second']);
    const followed = await follow(start, filter, 3);
    expect(followed.error).toMatchObject(reported);
    expect(reasons(followed.events)).toEqual(['first', 'second']);
    // A reader that has passed it is not delayed.
    await log.append(notes(freshStream(), ['third']));
    expect(reasons((await collect(log, position, filter)).events)).toEqual(['third']);
  });

  it('is reported to live followers of the log, and the connection is not given up for it', async () => {
    const stream = `payment-${hash()}`;
    const doubts = log.doubts?.();
    const following = await follow(await log.head(), filter, 2, async () => {
      await log.append(notes(freshStream(), ['before']));
      await others.appendToStream(stream, json('PaymentSettled'));
    });
    expect(following.error).toBeInstanceOf(UnreadableEvent);
    expect(String(following.error)).toContain(`stream ${stream}, revision 0`);
    expect(reasons(following.events)).toEqual(['before']);
    expect(log.doubts?.()).toBe(doubts);
  });

  it.each(['id', 'stream'])('that is missing its %s ends nothing', async (part) => {
    const start = await log.head();
    const stream = freshStream();
    await log.append(notes(stream, ['first']));
    await standin.control('POST', `/faults/incomplete?part=${part}&stream=${stream}`);
    await expect(log.read(stream)).rejects.toThrow(/revision 0, position \d+\/\d+: it has no (id|stream)/);
    await expect(collect(log, start)).rejects.toBeInstanceOf(UnreadableEvent);
    await standin.control('DELETE', '/faults');
    expect(reasons((await collect(log, start)).events)).toEqual(['first']);
  });

  it('is named by its revision if another program wrote into a stream of ours', async () => {
    const stream = freshStream();
    const first = notes(stream, ['ours']);
    await log.append(first);
    await others.appendToStream(stream, json('OrderPlaced'));
    const place = `event OrderPlaced in stream ${stream}, revision 1, position ${await log.head()}`;
    await expect(log.read(stream)).rejects.toThrow(`${place}: another program wrote it`);
    expect(reasons(await log.read(stream, { limit: 1 }))).toEqual(['ours']);
    await expect(log.append(notes(stream, ['next'], { head: headAfter(first) }))).rejects.toMatchObject({
      code: 'revision_conflict',
    });
  });

  it('leaves no call behind that would keep the log from being closed', async () => {
    const stream = freshStream();
    const closing = await openEventStore(standin.url);
    await closing.append(notes(stream, ['ours']));
    await others.appendToStream(stream, json('OrderPlaced'));
    await Promise.all(
      Array.from({ length: 200 }, () => expect(closing.read(stream)).rejects.toBeInstanceOf(UnreadableEvent)),
    );
    await closing.close();
  });
});
