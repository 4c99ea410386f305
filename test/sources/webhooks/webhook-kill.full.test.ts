/**
 * Given CourtListener's webhooks while the service is killed again and again, when it starts again and the sender repeats
 * what was not acknowledged, then every message was received once and applied once, every filing is there once, and no
 * content waits.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SourceCaseFound, sourceStream } from '../../../src/events/source.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { NO_STREAM, type RecordedEvent } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { freePort, type RunningProcess, spawnDocket, until } from '../../support/processes.ts';
import { entryRow, openSender } from './sender.ts';

const SECRET = 'k3y-of_the.mill~7f0c9d51e6a84b2299';
const CASES = 3;
/** Of each case. */
const MESSAGES = 24;
const KILLS = Number(process.env.KILLS ?? 4);
const docketOf = (index: number): number => 7_100 + index;
const numberOf = (index: number): string => `1:26-cv-0${3_000 + index}`;

let directory: string;
let environment: NodeJS.ProcessEnv;
let service: RunningProcess | null = null;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-webhook-kill-'));
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
  environment = {
    DATA_DIR: join(directory, 'data'),
    PORT,
    ADMIN_PORT,
    SOLANA_LOCAL_PORT: '0',
    LOG_LEVEL: 'debug',
    COURTLISTENER_WEBHOOK_SECRET: SECRET,
  };
  // The service founds its log; then the cases are known.
  service = await start();
  expect(await service.stop()).toBe(0);
  await withStorage(async ({ log }) => {
    for (let index = 0; index < CASES; index++) {
      const id = String(docketOf(index));
      const found = { source: 'courtlistener', sourceCaseId: id, court: 'ilnd', caseNumber: numberOf(index) } as const;
      const context = { commandId: id, requestId: null, correlationId: id, causationId: null, actor: 'test' };
      const stream = sourceStream.sourceCase('courtlistener', id);
      const recordedAt = '2026-06-01T00:00:00.000000Z';
      await log.append(
        prepareAppend({ stream, head: NO_STREAM, events: [SourceCaseFound.of(found)], context, recordedAt }),
      );
    }
  });
}, 90_000);
afterAll(async () => {
  await service?.kill();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<RunningProcess> {
  const started = spawnDocket(['serve'], environment);
  const ready = async () => (await fetch(`http://127.0.0.1:${environment.ADMIN_PORT}/readyz`)).status === 200;
  await until('the service is ready', ready, { process: started, within: 60_000 });
  return started;
}

async function withStorage<Result>(work: (storage: ReturnType<typeof openSqlite>) => Promise<Result>): Promise<Result> {
  const storage = openSqlite({ directory: environment.DATA_DIR ?? '' });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

const messagesIn = (storage: ReturnType<typeof openSqlite>): Promise<Map<string, RecordedEvent[]>> =>
  byStream(storage, ['source-webhook-']);

async function byStream({ log }: ReturnType<typeof openSqlite>, prefixes: readonly string[]) {
  const streams = new Map<string, RecordedEvent[]>();
  for await (const { events } of log.readAll(null, { by: 'streams', prefixes })) {
    for (const event of events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
  }
  return streams;
}

it('every message is received and applied once', { timeout: 120_000 }, async () => {
  const clock = { at: systemClock.now(), now: () => clock.at };
  const from = openSender({ url: `http://127.0.0.1:${environment.PORT}/ingest/courtlistener/${SECRET}`, clock });
  service = await start();
  // While the service is down nothing new is sent, so that the kills meet messages under way.
  let isUp = true;
  const sending = (async () => {
    for (let number = 1; number <= MESSAGES; number++) {
      for (let index = 0; index < CASES; index++) {
        while (!isUp) await delay(5);
        const id = index * 1_000 + number;
        await from.send({ results: [entryRow({ id, docket: docketOf(index), number, text: `NOTICE ${number}.` })] });
        // A clock of the sender's: what failed is due again soon.
        clock.at += 60_000_000;
        await from.retry();
      }
    }
  })();
  for (let kill = 0; kill < KILLS; kill++) {
    const before = from.events().length;
    while (from.events().length < before + 3 && from.events().length < CASES * MESSAGES) await delay(2);
    await delay(kill * 7);
    isUp = false;
    await service.kill();
    service = await start();
    isUp = true;
  }
  await sending;
  while (from.events().some(({ status }) => status === 'in_progress')) {
    clock.at = Math.max(clock.at, from.nextAt() ?? clock.at);
    await from.retry();
  }
  expect(from.isEnabled()).toBe(true);
  expect(from.events().every(({ status }) => status === 'successful')).toBe(true);
  const streams = Array.from({ length: CASES }, (_, index) => `docket-ilnd-${numberOf(index)}`);
  await until(
    'everything is applied',
    () =>
      withStorage(async (storage) => {
        const messages = [...(await messagesIn(storage)).values()];
        return messages.length === CASES * MESSAGES && messages.every((events) => events.length === 2);
      }),
    { process: service, within: 60_000 },
  );
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toContain(SECRET);

  await withStorage(async (storage) => {
    for (const events of (await messagesIn(storage)).values()) {
      expect(events.map(({ type }) => type)).toEqual(['WebhookReceived', 'WebhookApplied']);
    }
    for (const stream of streams) {
      const filings = (await storage.log.read(stream)).flatMap(({ type, data }) =>
        type === 'FilingsRecorded' ? (data.filings as { entryNumber: number; availableAt: string }[]) : [],
      );
      expect(filings.map(({ entryNumber }) => entryNumber).sort((a, b) => a - b)).toEqual(
        Array.from({ length: MESSAGES }, (_, at) => at + 1),
      );
      expect(new Set(filings.map(({ availableAt }) => availableAt)).size).toBe(MESSAGES);
    }
    const left: string[] = [];
    for await (const { name } of storage.payloads.list('pushed', '2999-01-01T00:00:00.000000Z')) left.push(name);
    const named = [...(await messagesIn(storage)).values()].flatMap(([received]) => received?.data.content ?? []);
    // An append that was killed may leave content that no event names; housekeeping removes that.
    expect(left.filter((name) => named.includes(name))).toEqual([]);
  });
  const audit = spawnDocket(['audit', 'verify', '--json'], environment);
  await until('the audit ends', async () => audit.child.exitCode !== null, { within: 60_000 });
  expect([audit.child.exitCode, audit.output()]).toEqual([0, expect.any(String)]);
});
