/**
 * Given CourtListener's webhooks (test/sources/webhooks/sender.ts), when its messages come in any of the ways that are on
 * record, then each is acknowledged at once, and its entries are in their case once. Each row of the record is a test.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { handleWithRetry } from '../../../src/commands/handle.ts';
import { alert } from '../../../src/commands/source/alert.ts';
import { SourceCaseFound, sourceStream } from '../../../src/events/source.ts';
import { type Micros, systemClock, toMicros } from '../../../src/runtime/instant.ts';
import { startWebhookRole, type WebhookRole } from '../../../src/service/webhook-role.ts';
import { NO_STREAM, type RecordedEvent } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { silent } from '../../http/serving.ts';
import { openWorld, type World } from '../../http/world.ts';
import { type EntryRow, entryRow, openSender, reordered } from './sender.ts';

const SECRET = 'k3y-of_the.mill~7f0c9d51e6a84b2299';
const MINUTE: Micros = 60_000_000;
const context = {
  commandId: 'test',
  requestId: null,
  correlationId: 'test',
  causationId: null,
  actor: 'test',
};

let world: World;
let role: WebhookRole;
const clock = { at: systemClock.now(), now: () => clock.at };
const sender = () => openSender({ url: `${world.url}/ingest/courtlistener/${SECRET}`, clock });

beforeAll(async () => {
  world = await openWorld({ webhookSecret: SECRET });
  role = startWebhookRole({ ...world, clock: systemClock, logger: silent, owner: 'test' });
});
afterAll(async () => {
  await role.stop();
  await world.close();
});

/** A case that CourtListener knows by this id. */
async function knownCase(docket: number, caseNumber: string): Promise<string> {
  const stream = sourceStream.sourceCase('courtlistener', String(docket));
  const found = SourceCaseFound.of({
    source: 'courtlistener',
    sourceCaseId: String(docket),
    court: 'ilnd',
    caseNumber,
  });
  await world.storage.log.append(
    prepareAppend({ stream, head: NO_STREAM, events: [found], context, recordedAt: '2026-06-01T00:00:00.000000Z' }),
  );
  return `docket-ilnd-${caseNumber}`;
}

const streamOf = (stream: string): Promise<readonly RecordedEvent[]> => world.storage.log.read(stream);
const filingsOf = async (stream: string) =>
  (await streamOf(stream)).flatMap(({ type, data }) =>
    type === 'FilingsRecorded'
      ? (data.filings as { readonly entryNumber: number | null; readonly availableAt: string }[])
      : [],
  );
const checksOf = async (stream: string) => (await streamOf(stream)).filter(({ type }) => type === 'DocketChecked');

/** What became of every message so far, once none is waiting. */
async function settled(): Promise<readonly { readonly outcome: unknown; readonly stream: string }[]> {
  for (;;) {
    const streams = new Map<string, RecordedEvent[]>();
    const all = world.storage.log.readAll(null, { by: 'streams', prefixes: ['source-webhook-'] });
    for await (const { events } of all) {
      for (const event of events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
    }
    const open = [...streams.values()].filter((events) => !events.some(({ type }) => type === 'WebhookApplied'));
    const left: string[] = [];
    for await (const { name } of world.storage.payloads.list('pushed', '2999-01-01T00:00:00.000000Z')) left.push(name);
    if (open.length === 0 && left.length === 0) {
      return [...streams].map(([stream, events]) => ({ stream, outcome: events.at(-1)?.data.outcome }));
    }
    await sleep(10);
  }
}
const newestOutcome = async () => (await settled()).at(-1)?.outcome;
const alertOf = (...rows: readonly EntryRow[]) => ({ results: rows.map(entryRow) });

it('row 24: the same key twice, with the keys in another order, has one effect', async () => {
  const stream = await knownCase(7_001, '1:26-cv-02401');
  const from = sender();
  const rows = [{ id: 1, docket: 7_001, number: 1, text: 'COMPLAINT against Canal Street Salt.' }];
  const first = await from.send(alertOf(...rows), { key: 'row 24' });
  const again = await openSender({ url: `${world.url}/ingest/courtlistener/${SECRET}`, clock }).send(
    reordered(alertOf(...rows)),
    { key: 'row 24' },
  );
  expect([first.status, again.status]).toEqual(['successful', 'successful']);
  await settled();
  expect(await filingsOf(stream)).toHaveLength(1);
  expect(await checksOf(stream)).toHaveLength(1);
});

it('row 25: a late answer and a redirect are failures to the sender; ours answer at once and never redirect', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/slow') return;
    response.writeHead(308, { location: '/there' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = clock.at;
  try {
    for (const path of ['/slow', '/moved']) {
      const from = openSender({ url: base + path, clock, timeoutMs: 50 });
      const times: number[] = [];
      expect((await from.send({ results: [] })).status).toBe('in_progress');
      while (from.isEnabled()) {
        times.push(((from.nextAt() ?? 0) - clock.at) / MINUTE);
        clock.at = from.nextAt() ?? clock.at;
        await from.retry();
      }
      expect(times).toEqual([3, 9, 27, 81, 243, 729, 2_187]);
      expect([from.events()[0]?.status, from.mails()]).toEqual(['failed', [2, 6, 8]]);
    }
  } finally {
    server.closeAllConnections();
    server.close();
    clock.at = start;
  }
  // Nobody applies messages here, and they are acknowledged all the same.
  await role.stop();
  const from = sender();
  for (const payload of [alertOf({ id: 2, docket: 7_002 }), { results: 'None' }, null]) {
    expect((await from.send(payload)).attempts.map(({ status }) => status)).toEqual([200]);
  }
  const slashed = openSender({ url: `${world.url}/ingest/courtlistener/${SECRET}/`, clock });
  expect((await slashed.send({})).attempts[0]?.status).toBe(404);
  role = startWebhookRole({ ...world, clock: systemClock, logger: silent, owner: 'test' });
  await settled();
});

it('row 26: a message 54 hours late, after newer ones, overwrites nothing; what it alone has is new on arrival', async () => {
  const stream = await knownCase(7_003, '1:26-cv-02403');
  const from = sender();
  const OLD = '2026-06-16T09:00:00.000000-07:00';
  const NEW = '2026-06-18T15:00:00.000000-07:00';
  await from.send(
    alertOf({ id: 31, docket: 7_003, number: 2, text: 'AMENDED ORDER to pay.', day: '2026-06-17', modified: NEW }),
  );
  await settled();
  const before = systemClock.now();
  await from.send(
    alertOf(
      { id: 31, docket: 7_003, number: 2, text: 'ORDER to pay.', day: '2026-06-16', modified: OLD },
      { id: 30, docket: 7_003, number: 1, text: 'COMPLAINT.', day: '2026-06-15', modified: OLD },
    ),
  );
  expect(await newestOutcome()).toBe('recorded');
  const events = await streamOf(stream);
  expect(events.filter(({ type }) => type === 'FilingRevised')).toEqual([]);
  const filings = await filingsOf(stream);
  expect(filings.map(({ entryNumber }) => entryNumber)).toEqual([2, 1]);
  expect(toMicros(String(filings[1]?.availableAt))).toBeGreaterThanOrEqual(before);
  // The look is as old as what it shows, in whatever order the messages come.
  expect((await checksOf(stream)).map(({ data }) => data.askedAt)).toEqual([
    '2026-06-18T22:00:00.000000Z',
    '2026-06-16T16:00:00.000000Z',
  ]);
  await from.send(
    alertOf({ id: 31, docket: 7_003, number: 2, text: 'ORDER to pay.', day: '2026-06-16', modified: OLD }),
  );
  expect(await newestOutcome()).toBe('unchanged');
});

it('row 27: an alert with two entries, one without a number, is two filings', async () => {
  const stream = await knownCase(7_004, '1:26-cv-02404');
  await sender().send(
    alertOf(
      {
        id: 41,
        docket: 7_004,
        number: 24,
        shortText: 'memorandum opinion and order',
        time: '14:58:37',
        documentId: '067130412266',
      },
      { id: 42, docket: 7_004, shortText: 'terminate hearings', time: '15:01:04' },
    ),
  );
  await settled();
  expect((await filingsOf(stream)).map(({ entryNumber }) => entryNumber)).toEqual([24, null]);
  const [check] = await checksOf(stream);
  expect([check?.data.source, check?.data.complete]).toEqual(['courtlistener', false]);
});

it('row 28: test messages of the panel are accepted without effect', async () => {
  const stream = await knownCase(7_005, '1:26-cv-02405');
  const from = sender();
  const { acms_document_guid: _, ...document } = entryRow({ id: 51, docket: 7_005 }).recap_documents[0] ?? {};
  const before = (await settled()).length;
  for (const [payload, version] of [
    [alertOf({ id: 51, docket: 7_005, number: 1, text: 'Sample.' }), 1],
    [alertOf({ id: 52, docket: 99_999_999, number: 1, text: 'Sample.' }), 2],
    [{ results: [{ id: 53, docket: 99_999_998, description: 'None', recap_documents: [document] }] }, 2],
    [{ results: [{ docket: 7_005 }] }, 2],
    [{ results: [{ description: 'Sample.' }, 'None', null] }, 2],
    ['None', 2],
  ] as const) {
    expect((await from.send(payload, { version, isTest: true })).status).toBe('successful');
  }
  expect((await settled()).slice(before).map(({ outcome }) => outcome)).toEqual([
    'ignored',
    'unknown_case',
    'unknown_case',
    'unreadable',
    'unreadable',
    'unreadable',
  ]);
  expect(await streamOf(stream)).toEqual([]);
});

it('row 29: a wrong secret is nowhere; other types are acknowledged and left', async () => {
  const wrong = openSender({ url: `${world.url}/ingest/courtlistener/${'x'.repeat(34)}`, clock });
  expect((await wrong.send(alertOf({ id: 61, docket: 7_001 }))).attempts[0]?.status).toBe(404);
  const before = (await settled()).length;
  for (const eventType of [2, 3, 4, 5]) {
    expect((await sender().send({ results: [{ id: 1 }] }, { eventType })).status).toBe('successful');
  }
  expect((await settled()).slice(before).map(({ outcome }) => outcome)).toEqual(Array(4).fill('ignored'));
});

it('an entry of a case that is known only by its alert opens it', async () => {
  const subscription = {
    source: 'courtlistener',
    sourceCaseId: '7006',
    alertId: '9001',
    court: 'ilnd',
    caseNumber: '1:26-cv-02406',
    by: 'Ann Lee',
  } as const;
  const stream = sourceStream.alert('courtlistener', '7006');
  const ports = { ...world.storage, clock: systemClock };
  await handleWithRetry(ports, alert, stream, { type: 'Subscribe', subscription }, context);
  await sender().send(alertOf({ id: 71, docket: 7_006, number: 5, text: 'MOTION to dismiss.' }));
  expect(await newestOutcome()).toBe('recorded');
  expect(await filingsOf('docket-ilnd-1:26-cv-02406')).toHaveLength(1);
  // The sender tells that it has ended the alert.
  const disabled = [{ id: 9001, docket: 7_006, alert_type: 0 }];
  await sender().send({ old_alerts: [], disabled_alerts: disabled }, { eventType: 4 });
  expect(await newestOutcome()).toBe('recorded');
  expect((await streamOf(stream)).map(({ type, data }) => [type, data.why])).toEqual([
    ['AlertSubscribed', undefined],
    ['AlertEnded', 'disabled_by_source'],
  ]);
});

it('what was received while no process applied it is applied in the order of arrival', async () => {
  const stream = await knownCase(7_007, '1:26-cv-02407');
  await role.stop();
  const from = sender();
  for (let number = 1; number <= 12; number++) {
    await from.send(alertOf({ id: 700 + number, docket: 7_007, number, text: `NOTICE ${number}.` }));
  }
  expect(await streamOf(stream)).toEqual([]);
  role = startWebhookRole({ ...world, clock: systemClock, logger: silent, owner: 'test' });
  await settled();
  const numbers = (await filingsOf(stream)).map(({ entryNumber }) => entryNumber);
  expect(numbers).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
});
