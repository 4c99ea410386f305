import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../../src/commands/handle.ts';
import { claimPayment } from '../../../src/commands/payment/claim.ts';
import { payment } from '../../../src/commands/payment/payment.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { type CommandContext, type EventLog, NO_STREAM, RevisionConflict } from '../../../src/storage/event-log.ts';
import { withPayloadsFirst } from '../../../src/storage/payloads-first.ts';
import { openSqlite, type SqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';
import { altered } from '../../payments/world.ts';
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

describe('a claim that was recorded, though the log reports that another writer was first', () => {
  /** An engine that does not recognize a repeated append if others have written after it. */
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
      { ...storage, log: conflicting(read), clock: systemClock },
      stream,
      { state: payment.initialState, head: NO_STREAM },
      { ...purchase, authorization: { ...purchase.authorization, requestId } },
      [],
      { ...context, commandId: requestId },
    );
  const reading: EventLog['read'] = (...asked) => storage.log.read(...asked);

  it('is its own, and its outcome is recorded after it', async () => {
    const stream = paymentStream('c'.repeat(64));
    const claim = await claimBy(MINE, reading, stream);
    const ours = await load(storage.log, payment, stream);
    expect(claim).toEqual({ claimed: ours });
    expect(await claimBy(THEIRS, reading, stream)).toMatchObject({ used: { problem: 'payment_already_used' } });
  });

  it('has no known owner while the log cannot be read', async () => {
    const broken = new StorageFailure('storage_unavailable', 'silent');
    const silent: EventLog['read'] = () => Promise.reject(broken);
    expect(await claimBy(MINE, silent, paymentStream('d'.repeat(64)))).toEqual({ unknown: broken });
  });
});

describe('a claim that the log rejects', () => {
  const full = (nothingWritten: boolean) => new StorageFailure('storage_full', 'no room', { nothingWritten });
  const claimOn = (log: EventLog, stream: string) =>
    claimPayment(
      { ...storage, log, clock: systemClock, patience: { appendRepeatsMs: [0, 0] } },
      stream,
      { state: payment.initialState, head: NO_STREAM },
      purchase,
      [],
      context,
    );
  /** Each attempt fails with the next error; the last one repeats for all further attempts. */
  const failing = (...failures: readonly Error[]): EventLog => {
    let attempts = 0;
    return altered(storage.log, {
      append: () => Promise.reject(failures[Math.min(attempts++, failures.length - 1)]),
    });
  };

  it('has no owner if the log is certain that nothing was written, and can be made again', async () => {
    const stream = paymentStream('1'.repeat(64));
    const failure = full(true);
    expect(await claimOn(failing(failure), stream)).toEqual({ unwritten: failure });
    expect(await storage.log.read(stream)).toEqual([]);
    expect(await claimOn(storage.log, stream)).toHaveProperty('claimed');
  });

  it.each([
    ['says no such thing', [full(false)]],
    ['said no such thing of an earlier attempt', [full(false), full(true)]],
    ['says no such thing of the last attempt', [full(true), full(true), full(false)]],
    ['fails in a way of its own', [new Error('broken')]],
  ])('may be recorded if the log %s', async (_title, failures) => {
    expect(await claimOn(failing(...failures), paymentStream('2'.repeat(64)))).toHaveProperty('unknown');
  });

  it('still succeeds if its stream shows it', async () => {
    const stream = paymentStream('3'.repeat(64));
    const mistaken = altered(storage.log, {
      async append(append) {
        await storage.log.append(append);
        throw full(true);
      },
    });
    expect(await claimOn(mistaken, stream)).toEqual({ claimed: await load(storage.log, payment, stream) });
  });

  it('belongs to another payment that claimed it in the meantime', async () => {
    const stream = paymentStream('4'.repeat(64));
    const overtaken = altered(storage.log, {
      async append() {
        const theirs = { ...purchase, authorization: { ...purchase.authorization, requestId: randomUUID() } };
        const found = { state: payment.initialState, head: NO_STREAM };
        await claimPayment({ ...storage, clock: systemClock }, stream, found, theirs, [], context);
        throw full(true);
      },
    });
    expect(await claimOn(overtaken, stream)).toMatchObject({ used: { problem: 'payment_already_used' } });
  });

  it('stays rejected if the log cannot be read either', async () => {
    const failure = full(true);
    const gone = altered(failing(failure), { read: () => Promise.reject(full(false)) });
    expect(await claimOn(gone, paymentStream('5'.repeat(64)))).toEqual({ unwritten: failure });
  });
});

describe('content that a claim references and that is stored first', () => {
  const full = (nothingWritten: boolean) => new StorageFailure('storage_full', 'no room', { nothingWritten });
  const refusing = (failure: Error): EventLog => altered(storage.log, { append: () => Promise.reject(failure) });
  /** Claims once on this log. @returns whether the content exists afterwards */
  async function keeps(log: EventLog, stream: string): Promise<boolean> {
    const content = await storage.payloads.seal('answer', Buffer.from('paid'));
    await claimPayment(
      {
        log: withPayloadsFirst(log, storage.payloads),
        payloads: storage.payloads,
        clock: systemClock,
        patience: { appendRepeatsMs: [] },
      },
      stream,
      { state: payment.initialState, head: NO_STREAM },
      { ...purchase, authorization: { ...purchase.authorization, requestId: randomUUID() } },
      [content],
      { ...context, commandId: randomUUID() },
    ).catch(() => undefined);
    return (await storage.payloads.get(content.name)) !== null;
  }

  it('is kept if the claim is recorded, or may be', async () => {
    expect(await keeps(storage.log, paymentStream('6'.repeat(64)))).toBe(true);
    expect(await keeps(refusing(full(false)), paymentStream('7'.repeat(64)))).toBe(true);
  });

  it('is removed if the claim is another’s, or was not recorded', async () => {
    const taken = paymentStream('8'.repeat(64));
    expect(await keeps(storage.log, taken)).toBe(true);
    expect(await keeps(storage.log, taken)).toBe(false);
    expect(await keeps(refusing(full(true)), paymentStream('9'.repeat(64)))).toBe(false);
  });
});
