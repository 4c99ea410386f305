/** Given a row of the log that was changed, every reader learns which event it is, and what to do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { decodeEvent } from '../../src/events/codec.ts';
import { SigningKeyCreated } from '../../src/events/signing-key.ts';
import { UnreadableEvent } from '../../src/events/unreadable-event.ts';
import { leavesOf, NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { contextOf, notes } from './samples.ts';

const STREAM = 'wallet-7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const AT = '2026-03-01T12:00:00.000000Z';

let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'unreadable-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  await log.append(notes('docket-x', ['opened']));
  await log.append(
    prepareAppend({
      stream: STREAM,
      head: NO_STREAM,
      events: [SigningKeyCreated.of({ keyId: 'k1', masterVersion: 1, createdAt: AT })],
      context: contextOf(),
      recordedAt: AT,
    }),
  );
  await Promise.all([log.close(), payloads.close(), cells.close()]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function change(column: 'data' | 'metadata', text: string): void {
  const file = new Database(join(directory, 'log.sqlite'));
  expect(file.prepare(`UPDATE events SET ${column} = ? WHERE stream = ?`).run(text, STREAM).changes).toBe(1);
  file.close();
}

it.each([
  ['data', '{"keyId":', 'its data is not JSON'],
  ['data', '[]', 'its data is not a JSON object'],
  ['metadata', 'null', 'its metadata is not a JSON object'],
  ['metadata', '{}', 'its metadata was not written by this service'],
] as const)('%s %s', async (column, text, problem) => {
  change(column, text);
  const { code, out, err } = await docketInProcess(['audit', 'replay', 'keys', '--json'], {
    DATA_DIR: directory,
  });
  expect(code).toBe(EXIT.found);
  const { error } = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { error: Record<string, string> };
  expect(error).toMatchObject({ code: 'event_unreadable', hint: expect.stringContaining('backup') });
  expect(error.message).toBe(
    `event SigningKeyCreated in stream ${STREAM}, revision 0, position 00000000000000000002: ${problem}`,
  );
  expect(err).not.toMatch(/^\s+at /m);
});

it.each(['{"hash":', '{}', '{"hash":7}', 'null'])(
  'metadata %s is reported to a reader of hashes alone, after the events before it',
  async (text) => {
    change('metadata', text);
    const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
    const seen: string[] = [];
    const reading = async () => {
      for await (const leaves of leavesOf(log, null)) seen.push(...leaves.map(({ stream }) => stream));
    };
    await expect(reading()).rejects.toBeInstanceOf(UnreadableEvent);
    expect(seen).toEqual(['docket-x']);
    await Promise.all([log.close(), payloads.close(), cells.close()]);
  },
);

it('data of another shape is reported by its members, without their values', async () => {
  change('data', '{"keyId":"k1","masterVersion":"geheim","createdAt":"geheim"}');
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const failures: unknown[] = [];
  for (const recorded of await log.read(STREAM)) {
    try {
      decodeEvent(recorded);
    } catch (error) {
      failures.push(error);
    }
  }
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  expect(failures).toEqual([expect.any(UnreadableEvent)]);
  expect(String(failures[0])).toMatch(/revision 0, position 0+2: the data does not fit the schema \(.*masterVersion: /);
  expect(String(failures[0])).not.toContain('geheim');
});

it('what comes before it can still be read and followed', async () => {
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  await log.append(notes('docket-z', ['later']));
  change('data', '{"keyId":');
  const place = `stream ${STREAM}, revision 0, position 00000000000000000002`;
  for (const batches of [log.readAll(null, { by: 'all' }), log.subscribe(null, { by: 'all' })]) {
    const streams: string[] = [];
    const reading = (async () => {
      for await (const { events } of batches) streams.push(...events.map(({ stream }) => stream));
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'event_unreadable',
      message: expect.stringContaining(place),
    });
    expect(streams).toEqual(['docket-x']);
  }
  // With a filter that does not match it, no reader meets it.
  const others: string[] = [];
  for await (const { events } of log.readAll(null, { by: 'streams', prefixes: ['docket-'] }))
    others.push(...events.map(({ stream }) => stream));
  expect(others).toEqual(['docket-x', 'docket-z']);
  await Promise.all([log.close(), payloads.close(), cells.close()]);
});

it('one that is written while the log is followed is reported to its follower', async () => {
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const seen: string[] = [];
  const following = (async () => {
    for await (const { events, live } of log.subscribe(null, { by: 'all' })) {
      seen.push(...events.map(({ stream }) => stream));
      if (!live || seen.includes('docket-y')) continue;
      const file = new Database(join(directory, 'log.sqlite'));
      file
        .prepare(
          "INSERT INTO events (type, stream, revision, id, metadata, data) VALUES ('X', 'docket-q', 0, 'q', '{', '{}')",
        )
        .run();
      file.close();
      await log.append(notes('docket-y', ['after']));
    }
  })();
  await expect(following).rejects.toMatchObject({
    code: 'event_unreadable',
    place: { stream: 'docket-q', revision: 0 },
  });
  expect(seen).toEqual(['docket-x', STREAM]);
  await Promise.all([log.close(), payloads.close(), cells.close()]);
});
