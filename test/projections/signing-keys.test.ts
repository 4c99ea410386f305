import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rotateSigningKey } from '../../src/commands/signing-key/use.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { SIGNING_KEYS, signingKeyRecords } from '../../src/projections/signing-keys.ts';
import { missingMasterVersions } from '../../src/queries/missing-master-versions.ts';
import { type Micros, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { healthChecks } from '../../src/service/health-checks.ts';
import { silent } from '../http/serving.ts';
import { openTestStorage } from '../support/storage.ts';

const ONE = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const noon: Micros = toMicros('2026-05-01T12:00:00.000000Z');
const HALF_AN_HOUR: Micros = 1_800_000_000;

let directory: string;
let storage: Awaited<ReturnType<typeof openTestStorage>>;
let now = noon;
const clock = { now: () => now };
beforeEach(async () => {
  now = noon;
  directory = mkdtempSync(join(tmpdir(), 'signing-keys-'));
  storage = await openTestStorage(directory);
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true, force: true });
});

let made = 0;
const rotate = (wallet: string, keyId: string, masterVersion: number) => {
  const commandId = `rotation ${++made}`;
  const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
  return rotateSigningKey({ log: storage.log, clock }, wallet, { keyId, masterVersion }, context);
};

const runnerOf = () =>
  createProjectionRunner({
    ...storage,
    projections: [signingKeyRecords as never],
    clock,
    logger: silent,
    owner: `test ${++made}`,
  });

describe('the read model of signing keys', () => {
  it('shows the key of each wallet, the key it replaced and until when that is valid', async () => {
    await rotate(ONE, 'K1', 1);
    await rotate(OTHER, 'L1', 1);
    now += 1;
    await rotate(ONE, 'K2', 2);
    await rotate(ONE, 'K3', 3);
    await runnerOf().catchUp();
    const records = await storage.readStore.load(SIGNING_KEYS, [ONE, OTHER]);
    expect(records.get(ONE)?.document).toEqual({
      wallet: ONE,
      currentKeyId: 'K3',
      currentCreatedAt: toInstant(noon + 1),
      masterVersion: 3,
      previousKeyId: 'K2',
      previousMasterVersion: 2,
      previousValidUntil: toInstant(noon + 1 + HALF_AN_HOUR),
      rotations: 2,
    });
    expect(records.get(OTHER)?.document).toMatchObject({
      currentKeyId: 'L1',
      previousKeyId: null,
      previousMasterVersion: null,
      previousValidUntil: null,
      rotations: 0,
    });
  });

  it('shows which missing master keys current keys need', async () => {
    await rotate(ONE, 'K1', 1);
    await rotate(ONE, 'K2', 4);
    await rotate(OTHER, 'L1', 2);
    await runnerOf().catchUp();
    const missing = (...known: readonly number[]) => missingMasterVersions(storage.readStore, known);
    expect(await missing(2, 4)).toEqual([]);
    expect(await missing(4, 2, 9)).toEqual([]);
    expect(await missing(4)).toEqual([2]);
    expect(await missing(3)).toEqual([2, 4]);
    expect(await missing(1, 2)).toEqual([4]);
    // /readyz also reports it, for people to check: this node still signs what it can.
    const look = (versions: readonly number[]) =>
      healthChecks({ ...storage, masterKeys: { versions } } as never).signing_keys?.();
    expect(await look([4, 2])).toEqual({ status: 'nominal', reason: null });
    expect(await look([4])).toMatchObject({ status: 'degraded', reason: expect.stringContaining('version 2') });
  });
});
