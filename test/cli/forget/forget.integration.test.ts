/**
 * Given a stopped service on EventStoreDB and MongoDB,
 * when an operator runs docket forget,
 * then no document of MongoDB and no event holds the bytes any more, and the log verifies as before.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOwnStorage } from '../../../src/cli/service-storage.ts';
import { readConfig } from '../../../src/config.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { ADA, HOOK, sell } from '../../commands/forget/sold.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { openStandin, type Standin } from '../../support/standin.ts';
import { ENGINES, ownDatabase } from '../../support/storage.ts';

const missing = ENGINES.mongo === '' || ENGINES.eventStore === '' ? ' (skipped: no engines are configured)' : '';
const ACT = ['--reason', 'order of 2 March', '--by', 'J. Muster', '--yes', '--json'];

describe.skipIf(missing)(`docket forget on the engines${missing}`, { timeout: 300_000 }, () => {
  let folder: string;
  let standin: Standin;
  let environment: NodeJS.ProcessEnv;
  const database = ownDatabase();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docket-forget-'));
    standin = await openStandin();
    environment = { DATA_DIR: folder, EVENTSTORE_URL: standin.url, MONGODB_URL: database.url };
    const docket = rawDocket([rawEntry(1, '2024-02-01', 'NOTICE naming Quillfeder')], { case_name: 'Quillfeder v. M' });
    const path = join(folder, 'docket.json');
    await writeFile(path, JSON.stringify(docket));
    const imported = await docketInProcess(['import', path], environment);
    expect(imported, imported.err).toMatchObject({ code: 0 });
    const storage = await openOwnStorage(readConfig(environment));
    await sell(storage, systemClock, {
      case_id: '3:24-cv-01234',
      court_code: 'cand',
      case: { case_name: 'Quillfeder' },
    });
    await sell(storage, systemClock, { of: 'ada' });
    await storage.close();
  }, 120_000);
  afterAll(async () => {
    await standin?.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Every document of every collection, with binary data as text. */
  async function documents(): Promise<string> {
    const client = new MongoClient(database.url);
    try {
      let all = '';
      for (const { collectionName } of await client.db().collections()) {
        for await (const document of client.db().collection(collectionName).find()) {
          all += `${JSON.stringify(document)}\n`;
          if (document.bytes) all += `${Buffer.from(document.bytes.value()).toString('latin1')}\n`;
        }
      }
      return all;
    } finally {
      await client.close();
    }
  }

  it.each([
    ['callback-url', [HOOK], /s3cr3t-7d1f/, { answer: 0, target: 3, envelope: 2 }],
    ['docket', ['cand', '3:24-cv-01234'], /Quillfeder/, { docket: 2, answer: 1 }],
    ['wallet', [ADA], /"of":"ada"/, { answer: 1 }],
  ] as const)('%s: nothing of it is left in any document', async (kind, subject, bytes, removed) => {
    expect(await documents()).toMatch(bytes);
    const dry = await docketInProcess(['forget', kind, ...subject, '--dry-run', '--json'], environment);
    expect(dry, dry.err).toMatchObject({ code: 0 });
    const done = await docketInProcess(['forget', kind, ...subject, ...ACT], environment);
    expect(done, done.err).toMatchObject({ code: 0 });
    expect(JSON.parse(done.out)).toMatchObject({ removed });
    expect(await documents()).not.toMatch(bytes);
    const events = await docketInProcess(['audit', 'replay', 'all', '--json'], environment);
    expect(events.out).not.toMatch(bytes);
    const verified = await docketInProcess(['audit', 'verify', '--json'], environment);
    expect(verified.out).not.toMatch(/"rule":"(?:forg|redact|payload|docket|hash)/);
  });
});
