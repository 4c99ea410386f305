/** Kills writing processes repeatedly, and checks what they left (`kill -9` at random moments). */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';

const CHILD = fileURLToPath(new URL('./kill-child.mjs', import.meta.url));
const PROCESSES = 2;
const APPENDS_BEFORE_KILL = 4;

interface Acknowledged {
  /** Content hash by blob name. */
  readonly payloads: Map<string, string>;
  /** Id of the last event of each append, by stream and revision. */
  readonly appends: Map<string, { readonly id: string; readonly position: string }>;
}

/** Runs the loop; returns how much was acknowledged and found. */
export async function killInALoop(kills: number): Promise<{ readonly events: number; readonly payloads: number }> {
  if (!existsSync(fileURLToPath(new URL('../../dist/storage/sqlite/open.js', import.meta.url)))) {
    throw new Error('this test runs the built project: npm run build first');
  }
  const directory = await mkdtemp(join(tmpdir(), 'docket-kill-'));
  const acknowledged: Acknowledged = { payloads: new Map(), appends: new Map() };
  try {
    for (let kill = 0; kill < kills; kill++) {
      await loadAndKill(directory, acknowledged);
      await verify(directory, acknowledged);
    }
    await finish(directory);
    await verifyProjection(directory);
    return { events: acknowledged.appends.size, payloads: acknowledged.payloads.size };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function loadAndKill(directory: string, acknowledged: Acknowledged): Promise<void> {
  const children = Array.from({ length: PROCESSES }, (_, index) => {
    const child = spawn(process.execPath, [CHILD, directory, `child${index}`, 'load'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout });
    const first = once(lines, 'line');
    lines.on('line', (line) => remember(line, acknowledged));
    return { child, first, ended: Promise.all([once(child, 'exit'), once(lines, 'close')]) };
  });
  const before = acknowledged.appends.size;
  await Promise.all(children.map(({ first, ended }) => Promise.race([first, ended])));
  // A slow machine may acknowledge nothing until a random moment.
  const isAlive = () => children.every(({ child }) => child.exitCode === null);
  while (isAlive() && acknowledged.appends.size < before + APPENDS_BEFORE_KILL) await sleep(1);
  await sleep(Math.random() * 300);
  for (const { child } of children) {
    child.kill('SIGKILL');
    await sleep(Math.random() * 20);
  }
  for (const { child, ended } of children) {
    await ended;
    expect(child.signalCode).toBe('SIGKILL');
  }
}

function remember(line: string, { payloads, appends }: Acknowledged): void {
  const words = line.split(' ');
  // The last line of a killed process may be truncated; then it does not count.
  if (words[0] === 'put' && words[2]?.length === 64) payloads.set(words[1] ?? '', words[2]);
  if (words[0] === 'append' && words[4]?.length === 36) {
    appends.set(`${words[1]} ${words[2]}`, { id: words[4], position: words[3] ?? '' });
  }
}

async function verify(directory: string, acknowledged: Acknowledged): Promise<void> {
  const storage = openSqlite({ directory });
  const byPlace = new Map<string, RecordedEvent>();
  const hashes = new Map<string, string>();
  const revisions = new Map<string, number>();
  const appendSizes = new Map<string, number>();
  let position = 0;
  for await (const { events } of storage.log.readAll(null, { by: 'all' })) {
    for (const event of events) {
      const { stream, revision } = event;
      position++;
      expect(Number(event.position), 'positions have no gap').toBe(position);
      expect(revision, 'revisions have no gap').toBe((revisions.get(stream) ?? -1) + 1);
      expect(event.metadata.hash, 'the hash chain is whole').toBe(hashEvent(hashes.get(stream) ?? '', event));
      revisions.set(stream, revision);
      hashes.set(stream, event.metadata.hash);
      byPlace.set(`${stream} ${revision}`, event);
      const append = `${event.metadata.requestId} ${event.data.answeredCases}`;
      appendSizes.set(append, (appendSizes.get(append) ?? 0) + 1);
    }
  }
  for (const [append, size] of appendSizes) expect(size, 'no append is torn').toBe(Number(append.split(' ')[1]));
  for (const [place, { id, position: known }] of acknowledged.appends) {
    expect(byPlace.get(place), `the acknowledged event ${place} is there`).toMatchObject({ id, position: known });
  }
  for (const [name, hash] of acknowledged.payloads) {
    const content = await storage.payloads.get(name);
    expect(content && createHash('sha256').update(content).digest('hex'), 'an acknowledged payload').toBe(hash);
  }
  // Payloads come before the events that name them, acknowledged or not.
  for (const event of byPlace.values()) {
    expect(await storage.payloads.get(String(event.data.answer)), 'a payload that an event names').not.toBeNull();
  }
  await storage.close();
}

async function finish(directory: string): Promise<void> {
  const child = spawn(process.execPath, [CHILD, directory, 'finisher', 'finish'], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
}

async function verifyProjection(directory: string): Promise<void> {
  const storage = openSqlite({ directory });
  const expected = new Map<string, { events: number; bytes: number; last: string }>();
  for await (const { events } of storage.log.readAll(null, { by: 'all' })) {
    for (const event of events) {
      const bytes = (await storage.payloads.get(String(event.data.answer)))?.length ?? 0;
      for (const id of [event.stream, 'all']) {
        const before = expected.get(id) ?? { events: 0, bytes: 0 };
        expected.set(id, { events: before.events + 1, bytes: before.bytes + bytes, last: event.metadata.hash });
      }
    }
  }
  expect(expected.size).toBeGreaterThan(1);
  const documents = await storage.readStore.load('totals', [...expected.keys()]);
  const found = new Map([...documents].map(([id, { document }]) => [id, document]));
  expect(found).toEqual(expected);
  expect(await storage.readStore.checkpoint('totals', 1)).toBe(await storage.log.head());
  await storage.close();
}
