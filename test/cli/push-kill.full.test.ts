/**
 * Given a source that pushes while the service is killed in the middle, when the service starts again and the same body is
 * sent again, then everything is there once, and nothing is announced twice.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { freePort, type RunningProcess, spawnDocket, until } from '../support/processes.ts';

const DOCKETS = 8;
const BEFORE = 150;
const AFTER = 180;
const number = (index: number): string => `3:24-cv-0${1000 + index}`;

let directory: string;
let environment: NodeJS.ProcessEnv;
let url: string;
let service: RunningProcess | null = null;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-push-kill-'));
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
  environment = { DATA_DIR: join(directory, 'data'), PORT, ADMIN_PORT, SOLANA_LOCAL_PORT: '0', LOG_LEVEL: 'debug' };
  url = `http://127.0.0.1:${PORT}`;
});
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

async function command(...argv: string[]): Promise<string> {
  const running = spawnDocket(argv, environment);
  await until('the command ends', async () => running.child.exitCode !== null, { within: 30_000 });
  return running.output();
}

/** A line for each docket. */
const bodyOf = (entries: number): Buffer =>
  gzipSync(
    Array.from({ length: DOCKETS }, (_, index) =>
      JSON.stringify(
        rawDocket(
          Array.from({ length: entries }, (_, at) => rawEntry(at + 1, '2024-02-05', `NOTICE ${at} in case ${index}`)),
          { docket_number: number(index) },
        ),
      ),
    ).join('\n'),
  );

interface Report {
  readonly recorded: number;
  readonly unchanged: number;
  readonly refused: number;
  readonly new_filings: number;
}

const push = async (token: string, body: Buffer): Promise<Report> => {
  const answer = await fetch(`${url}/ingest/dockets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
    },
    body: body as never,
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as Report;
};

const logBytes = async (): Promise<number> => {
  const names = ['log.sqlite', 'log.sqlite-wal'];
  const sizes = names.map((name) => stat(join(environment.DATA_DIR ?? '', name)).catch(() => null));
  return (await Promise.all(sizes)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
};

/** Every filing that the log records as news, and as history, by docket. */
async function recordedFilings() {
  const storage = openSqlite({ directory: environment.DATA_DIR ?? '' });
  try {
    const byDocket = new Map<string, { history: string[]; news: string[] }>();
    for await (const { events } of storage.log.readAll(null, { by: 'types', types: ['FilingsRecorded'] })) {
      for (const { stream, data } of events) {
        const own = byDocket.get(stream) ?? { history: [], news: [] };
        const ids = (data.filings as { filingId: string }[]).map(({ filingId }) => filingId);
        (data.baseline ? own.history : own.news).push(...ids);
        byDocket.set(stream, own);
      }
    }
    return byDocket;
  } finally {
    await storage.close();
  }
}

it('loses nothing and announces nothing twice', async () => {
  const token = (await command('sources', 'token', 'new', 'county', '--json')).match(/dkt_push_[\w-]+/)?.[0] ?? '';
  let inTheMiddle = 0;
  for (const [entries, sinceBytes] of [
    [BEFORE, 60_000],
    [AFTER, 6_000],
  ] as const) {
    service = await start();
    const killAt = (await logBytes()) + sinceBytes;
    let isAnswered = false;
    const first = push(token, bodyOf(entries)).then(
      () => {
        isAnswered = true;
      },
      () => undefined,
    );
    while ((await logBytes()) <= killAt && !isAnswered) await delay(1);
    if (!isAnswered) inTheMiddle++;
    await service.kill();
    await first;
    service = await start();
    const again = await push(token, bodyOf(entries));
    expect([again.recorded + again.unchanged, again.refused]).toEqual([DOCKETS, 0]);
    expect(await push(token, bodyOf(entries))).toMatchObject({ recorded: 0, unchanged: DOCKETS, new_filings: 0 });
    expect(await service.stop()).toBe(0);
    expect(service.output()).toContain('/ingest/dockets');
    expect(service.output(), 'the log has no token').not.toContain('dkt_push_');
    const recorded = await recordedFilings();
    expect(recorded.size).toBe(DOCKETS);
    for (const { history, news } of recorded.values()) {
      expect([history.length, news.length]).toEqual([BEFORE, entries - BEFORE]);
      expect(new Set([...history, ...news]).size).toBe(entries);
    }
  }
  expect(inTheMiddle, 'pushes killed before they were answered').toBeGreaterThan(0);
  // What was killed is removed an hour later; what was answered has left nothing.
  expect((await readdir(join(environment.DATA_DIR ?? '', 'pushed'))).length).toBeLessThanOrEqual(2);
}, 120_000);
