import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/commands/handle.ts';
import { payment } from '../../src/commands/payment.ts';
import { claimPayment } from '../../src/commands/payment-claim.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { systemClock } from '../../src/instant.ts';
import { type CommandContext, type EventLog, NO_STREAM, RevisionConflict } from '../../src/storage/event-log.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { altered } from '../payments/world.ts';
import { purchase } from './payment.fixtures.ts';

let directory: string;
let storage: SqliteStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'claim-'));
  storage = openSqlite({ directory });
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const context: CommandContext = {
  commandId: purchase.authorization.requestId,
  requestId: purchase.authorization.requestId,
  correlationId: purchase.authorization.requestId,
  causationId: null,
  actor: 'test',
};

describe('a claim that was recorded, though the log says that somebody else wrote first', () => {
  /** An engine that does not recognise the repetition of an append that others have written after. */
  const conflicting = (read: EventLog['read']): EventLog =>
    altered(storage.log, {
      read,
      async append(append) {
        const { revision } = await storage.log.append(append);
        throw new RevisionConflict(append.stream, append.expected, revision);
      },
    });
  const [MINE, THEIRS] = [randomUUID(), randomUUID()];
  /** Of a stream that was read as empty. */
  const claimBy = (requestId: string, read: EventLog['read'], stream: string) =>
    claimPayment(
      { log: conflicting(read), clock: systemClock },
      stream,
      { state: payment.initialState, head: NO_STREAM },
      { ...purchase, authorization: { ...purchase.authorization, requestId } },
      { ...context, commandId: requestId },
    );
  const reading: EventLog['read'] = (...asked) => storage.log.read(...asked);

  it('is its own, and its outcome is recorded behind it', async () => {
    const stream = paymentStream('c'.repeat(64));
    const claim = await claimBy(MINE, reading, stream);
    const ours = await load(storage.log, payment, stream);
    expect(claim).toEqual({ claimed: ours });
    expect(await claimBy(THEIRS, reading, stream)).toMatchObject({ used: { problem: 'payment_already_used' } });
  });

  it('is not known to be anybody’s while the log cannot be read', async () => {
    const broken = new StorageFailure('storage_unavailable', 'silent');
    const silent: EventLog['read'] = () => Promise.reject(broken);
    expect(await claimBy(MINE, silent, paymentStream('d'.repeat(64)))).toEqual({ unknown: broken });
  });
});
