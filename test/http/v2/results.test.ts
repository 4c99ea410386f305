import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeServer } from '../../../src/http/server.ts';
import { registerResults } from '../../../src/http/v2/results.ts';
import { createFreshness } from '../../../src/projections/freshness.ts';
import { PAYMENTS, payments } from '../../../src/projections/payments.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import type { ReadStore } from '../../../src/storage/read-store.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';
import { altered } from '../../payments/world.ts';
import { noKeyCalls, testResultIds } from '../../support/key-calls.ts';
import { openTestStorage } from '../../support/storage.ts';
import { silent } from '../serving.ts';

describe('a paid result', () => {
  let directory: string;
  let storage: Storage;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'results-'));
    storage = await openTestStorage(directory);
    await storage.readStore.prepare(PAYMENTS, 1, payments.collections);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function asked(log: Partial<Storage['log']>, readStore: Partial<ReadStore>) {
    const app = makeServer({ publicUrl: 'https://dockets.example', clock: systemClock }, silent);
    const stores = { ...storage, log: altered(storage.log, log), readStore: altered(storage.readStore, readStore) };
    const runner = createProjectionRunner({
      ...stores,
      projections: [payments],
      clock: systemClock,
      logger: silent,
      owner: randomUUID(),
    });
    registerResults(app, {
      ...stores,
      freshness: createFreshness({ ...stores, runner, projection: PAYMENTS }),
      clock: systemClock,
      keyCalls: noKeyCalls,
      resultIds: testResultIds(),
    });
    const answer = await app.inject(`/v2/results/${randomUUID()}`);
    await app.close();
    const { code, details } = answer.json().error;
    return { status: answer.statusCode, code, details };
  }

  it('is looked up again while the read model is behind the log', async () => {
    const behind = await asked({ head: async () => '9' }, { checkpoint: async () => '1' });
    expect(behind).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      details: { component: 'read_store', retry_after: 2 },
    });
  });

  it('is looked up again if the storage fails', async () => {
    const full = async () => {
      throw new StorageFailure('storage_full', 'the disk is full');
    };
    expect(await asked({}, { find: full })).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      details: { component: 'storage', retry_after: 2 },
    });
  });
});
