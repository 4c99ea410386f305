/**
 * Given logs whose rows were changed behind the service's back, `docket audit replay` marks invalid events and goes
 * on. Given the events of payments and callbacks, it shows those of one request.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replayLines } from '../../../src/cli/audit/replay-columns.ts';
import { EXIT } from '../../../src/cli/command.ts';
import { DeliveryAttemptFinished, DeliveryScheduled } from '../../../src/events/delivery.ts';
import type { DomainEvent } from '../../../src/events/event.ts';
import { PaymentAuthorized, PaymentIdClaimed, QueryFailed } from '../../../src/events/payment.ts';
import { type EventLog, NO_STREAM, type StreamHead } from '../../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openSqliteLog } from '../../../src/storage/sqlite/open.ts';
import { contextOf, NOON, notes } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const REQUEST = '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e';
const OTHER_REQUEST = '00000000-5a34-4b8e-9c3d-2f1a7b6c5d4e';
const HASH = '0123456789abcdef'.repeat(4);
const PAYMENT = `payment-${HASH}`;
const OTHER_PAYMENT = `payment-${'f'.repeat(64)}`;
const IDENTIFIER = `payment-id-${'a'.repeat(64)}`;
const DELIVERY = `delivery-${OTHER_REQUEST}`;

const authorized = (requestId: string) =>
  PaymentAuthorized.of({
    requestId,
    wallet: WALLET,
    dialect: 'x402-v2',
    network: 'solana:x',
    mint: 'mint',
    payTo: 'us',
    amount: '990000',
    queries: 1,
    endpoint: 'GET /v2/case',
    requestHash: HASH,
    identifierHash: null,
  });
const scheduled = DeliveryScheduled.of({
  deliveryId: OTHER_REQUEST,
  wallet: WALLET,
  requestId: REQUEST,
  payment: HASH,
  caseId: null,
  courtCode: null,
  caseNumber: null,
  target: HASH,
  origin: 'https://agent.example:8443',
  envelope: HASH,
  keepUntil: NOON,
  createdAt: NOON,
});
const attempted = DeliveryAttemptFinished.of({
  attempt: 2,
  redelivery: false,
  keyId: 'k1',
  startedAt: NOON,
  finishedAt: NOON,
  outcome: 'failed',
  responseCode: 503,
  failureClass: 'http_5xx',
  durationMs: 12,
  nextAttemptAt: '2026-03-01T12:05:00.000000Z',
});

let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'docket-replay-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const add = async (stream: string, event: DomainEvent, head: StreamHead = NO_STREAM) =>
    appended(log, stream, event, head);
  await log.append(notes('docket-x', ['one', 'two', 'three']));
  const head = await add(PAYMENT, authorized(REQUEST));
  await add(OTHER_PAYMENT, authorized(OTHER_REQUEST));
  await add(IDENTIFIER, PaymentIdClaimed.of({ payment: HASH, requestId: REQUEST, requestHash: HASH, expected: 0 }));
  await add(PAYMENT, QueryFailed.of({ requestId: REQUEST, code: 'case_not_found', status: 404 }), head);
  await add(DELIVERY, attempted, await add(DELIVERY, scheduled));
  await Promise.all([log.close(), payloads.close(), cells.close()]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function appended(log: EventLog, stream: string, event: DomainEvent, head: StreamHead): Promise<StreamHead> {
  const append = prepareAppend({ stream, head, events: [event], context: contextOf(), recordedAt: NOON });
  await log.append(append);
  return headAfter(append);
}

const run = (...argv: string[]) => docketInProcess(['audit', 'replay', ...argv], { DATA_DIR: directory });
const json = async (...argv: string[]) => {
  const { code, out } = await run(...argv, '--json');
  return {
    code,
    lines: out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
};
const sql = (statement: string): void => {
  const file = new Database(join(directory, 'log.sqlite'));
  file.exec('DROP TRIGGER IF EXISTS events_are_final');
  file.exec(statement);
  file.close();
};

it('a log that holds has no mark', async () => {
  const { code, out, err } = await run('all');
  expect([code, err]).toEqual([EXIT.ok, '']);
  expect(out).not.toContain('!');
  expect(out).toMatch(/9 events in 5 streams\n$/);
});

it('--request shows its payment, its payment identifier and its deliveries', async () => {
  const { lines } = await json('all', '--request', REQUEST.toUpperCase());
  expect(lines.map(({ stream, revision }) => `${stream} ${revision}`)).toEqual([
    `${PAYMENT} 0`,
    `${IDENTIFIER} 0`,
    `${PAYMENT} 1`,
    `${DELIVERY} 0`,
    `${DELIVERY} 1`,
  ]);
});

it('a payment shows wallet, amount, endpoint and reason; a delivery host, attempt, outcome and what comes next', async () => {
  const cells = async (family: string) =>
    (await run(family)).out.split('\n').map((line) => line.trim().split(/ {2,}/).slice(4));
  expect((await cells('payments')).slice(0, 5)).toEqual([
    ['WALLET', 'USDC', 'ENDPOINT', 'REASON', 'TRANSACTION'],
    ['7dNXsDvC', '0.99', 'GET /v2/case'],
    ['7dNXsDvC', '0.99', 'GET /v2/case'],
    [],
    ['case_not_found (404)'],
  ]);
  expect((await cells('deliveries')).slice(0, 3)).toEqual([
    ['ORIGIN', 'ATTEMPT', 'OUTCOME', 'CODE', 'FAILURE', 'NEXT'],
    ['https://agent.example:8443'],
    ['2/7', 'failed', '503', 'http_5xx', '2026-03-01T12:05:00Z'],
  ]);
});

it.each([
  [
    'a changed amount',
    `UPDATE events SET data = replace(data, '990000', '1') WHERE stream = '${PAYMENT}'`,
    `${PAYMENT} 0 its hash does not match its content and the event before it`,
  ],
  [
    'a removed event',
    "DELETE FROM events WHERE stream = 'docket-x' AND revision = 1",
    'docket-x 2 revision 1 is missing before it',
  ],
  [
    'a removed first event',
    "DELETE FROM events WHERE stream = 'docket-x' AND revision = 0",
    'docket-x 1 revision 0 is missing before it',
  ],
  [
    'a changed actor',
    `UPDATE events SET metadata = replace(metadata, '"test"', '"root"') WHERE stream = '${DELIVERY}' AND revision = 1`,
    `${DELIVERY} 1 its hash does not match its content and the event before it`,
  ],
])('%s is marked at exactly that event, also outside the asked time', async (_, statement, expected) => {
  sql(statement);
  for (const argv of [['all'], ['all', '--from', '2030-01-01T00:00:00Z']]) {
    const { code, lines } = await json(...argv);
    const wrong = lines
      .filter(({ problem }) => problem)
      .map((line) => `${line.stream} ${line.revision} ${line.problem}`);
    expect([code, wrong]).toEqual([EXIT.found, [expected]]);
  }
  const { code, out, err } = await run('all');
  expect([code, err]).toEqual([EXIT.found, expect.stringMatching(/^1 event is invalid, marked with !\.\n.*backup/)]);
  expect(out.split('\n').filter((line) => line.startsWith('!'))).toHaveLength(1);
});

it('an unreadable event is one line, and what follows it is printed', async () => {
  sql("UPDATE events SET data = '{' WHERE stream = 'docket-x' AND revision IN (0, 1)");
  const { code, out, err } = await run('all');
  expect(code).toBe(EXIT.found);
  expect(out.match(/^! .*$/gm)).toEqual(
    [0, 1].map((revision) =>
      expect.stringMatching(
        `^! event EventSkipped in stream docket-x, revision ${revision}, position .*: its data is not JSON$`,
      ),
    ),
  );
  expect(out).toMatch(/9 events in 5 streams\n$/);
  expect(err).toMatch(/^2 events are invalid, marked with !\.\n/);
});

it('on a terminal a line is never longer than the terminal is wide', async () => {
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const events = await log.read(DELIVERY);
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  for (const room of [20, 80, 100, 200]) {
    const lines = replayLines('deliveries', room);
    for (const line of [lines.header, ...events.map((event) => lines.of(event, null))])
      expect(line.length).toBeLessThanOrEqual(room);
  }
  expect(replayLines('deliveries', 190).header).toContain('ORIGIN');
  expect(replayLines('deliveries', 160).header).not.toContain('ORIGIN');
});
