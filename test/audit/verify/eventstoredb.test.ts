/**
 * `docket audit verify` on EventStoreDB, here on its stand-in: given a shared event store, when the log in it is
 * verified, then other programs' events are skipped, and what looks like ours and is broken is one breach.
 */
import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { BaselineCompleted, DocketChecked, DocketOpened } from '../../../src/events/docket.ts';
import type { DomainEvent } from '../../../src/events/event.ts';
import { LOG_HEAD_STREAM, LogHeadKeyIntroduced, LogHeadRecorded } from '../../../src/events/log-head.ts';
import { LOG_IDENTITY_STREAM } from '../../../src/events/log-identity.ts';
import { PaymentAuthorized, paymentStream } from '../../../src/events/payment.ts';
import { MASTER_KEY_STREAM } from '../../../src/events/signing-key.ts';
import { type EventLog, NO_STREAM, type StreamHead } from '../../../src/storage/event-log.ts';
import { openEventStore } from '../../../src/storage/eventstoredb/open.ts';
import { headAfter, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { collect, contextOf, NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { openStandin, type Standin } from '../../support/standin.ts';
import { docketNumber, FOUNDED, headOver, INTRODUCED, KEY } from './sample-log.ts';

const ONE = docketNumber(1);

let standin: Standin;
let log: EventLog;
let others: EventStoreDBClient;
const heads = new Map<string, StreamHead>();

beforeAll(async () => {
  standin = await openStandin();
  log = await openEventStore(standin.url);
  others = new EventStoreDBClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true });
  await write(LOG_IDENTITY_STREAM, FOUNDED);
  await write(MASTER_KEY_STREAM, INTRODUCED);
  await foreign();
  await write(ONE, DocketOpened.of({ court: 'cand', caseNumber: '3:25-cv-00001' }));
  await write(ONE, ...checks(600), BaselineCompleted.of({ askedAt: NOON, filingCount: 0 }));
  await foreign();
  await write(LOG_HEAD_STREAM, LogHeadKeyIntroduced.of({ masterVersion: 1, publicKey: KEY.publicKey }));
  await head();
});
afterAll(async () => {
  await others?.dispose();
  await log?.close();
  await standin?.close();
});

async function write(stream: string, ...events: readonly DomainEvent[]): Promise<void> {
  const head = heads.get(stream) ?? NO_STREAM;
  const append = prepareAppend({ stream, head, events, context: contextOf(), recordedAt: NOON });
  await log.append(append);
  heads.set(stream, headAfter(append));
}

const checks = (count: number) =>
  Array.from({ length: count }, () =>
    DocketChecked.of({ source: 's', askedAt: NOON, complete: true, outcome: 'unchanged', ingestId: null }),
  );

const foreign = () =>
  others.appendToStream(`orders-${randomUUID()}`, jsonEvent({ type: 'OrderPlaced', data: { n: 1 } }));

async function head(): Promise<void> {
  const { events } = await collect(log, null);
  const rows = events.map(({ stream, revision, metadata }) => ({
    stream,
    revision,
    metadata: JSON.stringify(metadata),
  }));
  await write(LOG_HEAD_STREAM, LogHeadRecorded.of({ ...headOver(rows), masterVersion: 1 }));
}

async function verify(...argv: readonly string[]) {
  const environment = { EVENTSTORE_URL: standin.url, MONGODB_URL: 'mongodb://127.0.0.1:9/' };
  const { code, out } = await docketInProcess(['audit', 'verify', '--no-payloads', '--json', ...argv], environment);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, breaches: lines.slice(0, -1), summary: lines.at(-1).summary };
}

it('verifies the log in a shared event store, in several batches, without MongoDB', async () => {
  const { code, breaches, summary } = await verify();
  expect([code, breaches]).toEqual([EXIT.ok, []]);
  expect(summary).toMatchObject({ events: 606, streams: 4, heads: 1, proven_up_to: { size: 605, events_after: 1 } });
});

it('finds an event that looks like ours and is broken, and continues after it', async () => {
  const broken = `payment-${'ab'.repeat(32)}`;
  await others.appendToStream(broken, jsonEvent({ type: 'PaymentSettled', data: { amount: '1' } }));
  await write(ONE, ...checks(1));
  const { code, breaches, summary } = await verify();
  expect([code, summary.events]).toEqual([EXIT.found, 608]);
  expect(breaches).toMatchObject([{ rule: 'event_readable', stream: broken, revision: 0 }]);
});

it('finds an event that another program wrote into a stream of ours', async () => {
  const { events } = await collect(log, null, { by: 'streams', prefixes: [ONE] });
  const last = events.at(-1)!;
  const event = jsonEvent({ type: 'DocketChecked', data: { ...last.data }, metadata: { ...last.metadata } });
  await others.appendToStream(ONE, event as never);
  const { code, breaches } = await verify();
  expect(code).toBe(EXIT.found);
  expect(breaches).toMatchObject([
    { rule: 'event_readable' },
    { rule: 'hash_matches', stream: ONE, revision: last.revision + 1 },
  ]);
});

it('does not judge where the newest append ends, since its events become readable one by one', async () => {
  const before = (await verify()).breaches;
  const payment = paymentStream('cd'.repeat(32));
  const { network, mint, receiver } = FOUNDED.data;
  await write(
    payment,
    PaymentAuthorized.of({
      requestId: randomUUID(),
      wallet: receiver,
      dialect: 'self-paid',
      network,
      mint,
      payTo: receiver,
      amount: '990000',
      queries: 1,
      endpoint: 'GET /v2/case',
      requestHash: 'ef'.repeat(32),
      identifierHash: null,
    }),
  );
  expect((await verify()).breaches).toEqual(before);
  await write(docketNumber(2), DocketOpened.of({ court: 'cand', caseNumber: '3:25-cv-00002' }));
  const cut = { rule: 'payment_order', stream: payment, revision: null };
  expect((await verify()).breaches).toEqual([...before, expect.objectContaining(cut)]);
});
