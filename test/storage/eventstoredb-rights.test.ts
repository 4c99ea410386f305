/** A user of the event store without a right learns which one is missing. The stand-in refuses; it has no users. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../src/storage/event-log.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { DOCKET } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { freshStream, notes } from './samples.ts';

let standin: Standin;
let log: EventLog;
beforeAll(async () => {
  standin = await openStandin();
  log = await openEventStore(standin.url);
});
beforeEach(() => standin.control('DELETE', '/faults'));
afterAll(async () => {
  await log?.close();
  await standin?.close();
});

describe('a user who may not', () => {
  const deny = (right: string) => standin.control('POST', `/faults/deny?right=${right}`);
  const denied = (right: string) => ({
    code: 'storage_denied',
    message: expect.stringContaining(`may not ${right}`),
    hint: expect.stringContaining('Rights in EventStoreDB'),
  });

  it('read $all can neither start nor run a check', async () => {
    await deny('read-all');
    await expect(openEventStore(standin.url)).rejects.toMatchObject(denied('read $all'));
    await expect(log.check()).rejects.toMatchObject(denied('read $all'));
    await expect(log.head()).rejects.toMatchObject(denied('read $all'));
  });

  it('read streams, or append to them, fails at once and writes nothing', async () => {
    const stream = freshStream();
    await deny('append');
    await expect(log.append(notes(stream, ['one']))).rejects.toMatchObject({
      ...denied('append to streams'),
      nothingWritten: true,
    });
    await deny('read');
    await expect(log.read(stream)).rejects.toMatchObject(denied('read streams'));
    await standin.control('DELETE', '/faults');
    expect(await log.read(stream)).toEqual([]);
  });

  it('read $all gets this from docket doctor', async () => {
    await deny('read-all');
    const environment = {
      ...process.env,
      EVENTSTORE_URL: standin.url,
      MONGODB_URL: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200',
    };
    const run = promisify(execFile)(process.execPath, [DOCKET, 'doctor'], { env: environment });
    await expect(run).rejects.toMatchObject({ stdout: expect.stringContaining('may not read $all') });
  });
});
