/** Signing keys on a real log: many writers on two nodes, and a log that does not always report what it did. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureSigningKey, loadSigningKeys, rotateSigningKey } from '../../../src/commands/signing-key/use.ts';
import { walletStream } from '../../../src/events/signing-key.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import type { EventLog } from '../../../src/storage/event-log.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';

const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';

let directory: string;
let nodes: readonly ReturnType<typeof openSqlite>[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signing-keys-'));
  // Two nodes, each with its own connections.
  nodes = [openSqlite({ directory }), openSqlite({ directory })];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  rmSync(directory, { recursive: true, force: true });
});

const logOf = (index: number): EventLog => nodes[index % nodes.length]!.log;
/** A log with other appends. */
const appending = (append: EventLog['append']): EventLog => ({
  ...({} as EventLog),
  append,
  read: (stream, options) => logOf(0).read(stream, options),
});
const context = () => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
};
const ensure = (log: EventLog) =>
  ensureSigningKey({ log, clock: systemClock, newKeyId: randomUUID, appendRepeatsMs: [1, 1] }, WALLET, 1, context());
const rotate = (log: EventLog, keyId: string = randomUUID()) =>
  rotateSigningKey(
    { log, clock: systemClock, appendRepeatsMs: [1, 1] },
    WALLET,
    { keyId, masterVersion: 1 },
    context(),
  );

describe('a wallet’s keys', () => {
  it('are one key if twenty callers request the first at once, on two nodes', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => ensure(logOf(index))));
    expect(new Set(all.map(({ keys }) => keys[0]?.keyId)).size).toBe(1);
    expect((await loadSigningKeys(logOf(0), WALLET)).keys).toHaveLength(1);
  });

  it('form one sequence if twenty callers rotate at once, on two nodes, each twice', async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    const all = await Promise.all([...ids, ...ids].map((keyId, index) => rotate(logOf(index), keyId)));
    const { keys } = await loadSigningKeys(logOf(1), WALLET);
    expect(keys.map(({ keyId }) => keyId).sort()).toEqual(ids.sort());
    keys.forEach(({ replaced }, index) => {
      expect(replaced?.keyId).toBe(keys[index - 1]?.keyId);
    });
    // Each caller saw a part of that sequence.
    for (const told of all) expect(keys.slice(0, told.keys.length)).toEqual(told.keys);
  });

  it('are made once if the log gives no answer, whether it recorded them or not', async () => {
    let calls = 0;
    const silent = appending(async (append) => {
      calls++;
      if (calls === 1) throw new StorageFailure('storage_unavailable', 'not recorded');
      const done = await logOf(0).append(append);
      if (calls === 2) throw new StorageFailure('storage_unavailable', 'recorded, but not confirmed');
      return done;
    });
    expect((await rotate(silent)).keys).toHaveLength(1);
    expect([calls, (await logOf(1).read(walletStream(WALLET))).length]).toEqual([3, 1]);
  });

  it('are left to the next caller if the log stays silent', async () => {
    const dead = appending(() => Promise.reject(new StorageFailure('storage_unavailable', 'gone')));
    await expect(rotate(dead, 'K1')).rejects.toThrow(StorageFailure);
    expect((await rotate(logOf(0), 'K1')).keys.map(({ keyId }) => keyId)).toEqual(['K1']);
    await expect(ensure(dead)).resolves.toMatchObject({ keys: [{ keyId: 'K1' }] });
  });
});
