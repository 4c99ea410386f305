/**
 * A log that is watched for replacement. After an outage, its content is compared with what this process knew before it
 * is used, and before an append is acknowledged. If it is another log or was emptied, the process stops using it for
 * good. If events are missing, it waits for them: a node that rejoins its cluster may be behind.
 */
import type { BaseLogger } from 'pino';
import {
  differenceFrom,
  type LogIdentity,
  loadLogIdentity,
  type PaymentTarget,
} from '../commands/log-identity/log-identity.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog, EventMark, RecordedEvent } from '../storage/event-log.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { heldEvent } from './read-models.ts';

export interface WatchLogOptions {
  readonly log: EventLog;
  readonly identity: LogIdentity;
  /** The newest event known to be in the log. */
  readonly newest: EventMark | null;
  /** The configured target, read at each check; null while the chain cannot be asked. */
  readonly expected: () => Promise<PaymentTarget | null>;
  readonly logger: Pick<BaseLogger, 'error'>;
  /** Called once, when this process cannot use the log until a restart; another process may be able to. */
  readonly onLost?: () => void;
  /** Pauses before each new search for missing events, milliseconds: a node may be behind for a moment. */
  readonly looksMs?: readonly number[];
}

const LOOKS_MS = [100, 400, 1_000];
const OUTAGE_PAUSE_MS = 500;

export function watchLog({
  log,
  identity,
  newest: start,
  expected,
  logger,
  onLost,
  looksMs = LOOKS_MS,
}: WatchLogOptions): EventLog {
  /** The permanent fault of the log; null if there is none. */
  let fault: StorageFailure | null = null;
  /** The newest event that this process has read or written. */
  let newest = start;
  const doubts = (): number => log.doubts?.() ?? 0;
  let settled = doubts();
  /** Whether events were missing at the last comparison: then everything is compared again before it is used. */
  let behind = false;
  /** Whether the storage has reported that its files were replaced. */
  let replaced = false;
  let verifying: Promise<void> | null = null;
  let current: LogIdentity = identity;
  const leaves = log.readLeaves?.bind(log);

  const assertSame = (): void => {
    // A new error for each caller, with its own stack.
    if (fault) throw new StorageFailure(fault.code, fault.message, { nothingWritten: true });
  };

  const note = ({ position, stream, revision, id }: EventMark): void => {
    if (newest === null || position > newest.position) newest = { position, stream, revision, id };
  };

  const alarm = ({ code, hint, message }: StorageFailure, consequence: string): void =>
    logger.error({ code, reason: message, hint, logId: identity.logId, alarm: code }, consequence);

  const latch = (failure: StorageFailure): StorageFailure => {
    if (fault === null) {
      fault = failure;
      alarm(failure, 'the event log is not the one that this process knew: nothing is sold or written until a restart');
      onLost?.();
    }
    return failure;
  };

  const wentBack = (failure: StorageFailure): StorageFailure => {
    if (!behind)
      alarm(failure, 'the event log is missing recorded events: nothing is sold or written until they are back');
    behind = true;
    return failure;
  };

  /** The storage has reported this and logged its own alarm. */
  const noteReplaced = (error: unknown): never => {
    if (!replaced && error instanceof StorageFailure && error.code === 'storage_replaced') {
      replaced = true;
      onLost?.();
    }
    throw error;
  };

  async function compare(): Promise<LogIdentity> {
    for (let look = 0; ; look++) {
      const known = newest;
      const found = await loadLogIdentity(log);
      if (found !== null && found.logId !== identity.logId) {
        throw latch(new StorageFailure('log_differs', `the event log was ${identity.logId} and is now ${found.logId}`));
      }
      const isThere = found !== null && (known === null || (await heldEvent(log, known)) !== null);
      if (isThere) {
        behind = false;
        return found;
      }
      const wait = looksMs[look];
      if (wait === undefined) {
        if (found === null) {
          throw latch(
            new StorageFailure('log_emptied', `the event log was ${identity.logId} and no longer has an identity`),
          );
        }
        const reason = `event log ${identity.logId} no longer holds event ${known?.id}, which was at ${known?.position}`;
        throw wentBack(new StorageFailure('log_went_back', reason));
      }
      await pause(wait, undefined);
    }
  }

  /** Runs one check at a time; a check settles only doubts that existed when it started. */
  async function verify(): Promise<void> {
    assertSame();
    const asked = doubts();
    verifying ??= (async () => {
      const seen = doubts();
      current = await compare();
      settled = Math.max(settled, seen);
    })().finally(() => {
      verifying = null;
    });
    await verifying;
    if (settled < asked) await verify();
  }

  const settleDoubts = async (): Promise<void> => {
    assertSame();
    if (behind || doubts() !== settled) await verify();
  };

  /** Like `settleDoubts`, but waits out outages. */
  async function settleSometime(signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted) {
      try {
        return await settleDoubts();
      } catch (error) {
        // Behind: followers give up their lease, since the log of another node may be complete.
        if (fault || behind || !(error instanceof StorageFailure) || error.code === 'storage_closed') throw error;
        await pause(OUTAGE_PAUSE_MS, signal);
      }
    }
  }

  async function* watched<Batch extends { readonly events: readonly EventMark[] }>(
    batches: AsyncIterable<Batch>,
    settle: () => Promise<void>,
    signal?: AbortSignal,
  ): AsyncIterable<Batch> {
    for await (const batch of batches) {
      await settle();
      // Left unsettled: nothing may be used that was not compared.
      if (signal?.aborted) return;
      const last = batch.events.at(-1);
      if (last) note(last);
      yield batch;
    }
  }

  async function checked<Result>(reading: () => Promise<Result>): Promise<Result> {
    assertSame();
    const result = await reading();
    await settleDoubts();
    return result;
  }

  return {
    async append(append) {
      await settleDoubts().catch((error: unknown) => {
        throw asOfWrite(error, true);
      });
      const before = newest;
      const appended = await log.append(append);
      // A position that is not new belongs to a repeated append or to another log.
      const isOld = before !== null && appended.position <= before.position;
      if (fault || behind || isOld || doubts() !== settled) {
        await verify().catch((error: unknown) => {
          throw asOfWrite(error, false);
        });
      }
      const last = append.events.at(-1);
      if (last) note({ ...last, position: appended.position });
      return appended;
    },
    read: (stream, options): Promise<readonly RecordedEvent[]> => checked(() => log.read(stream, options)),
    readAll: (from, filter) => watched(log.readAll(from, filter), settleDoubts),
    ...(leaves && { readLeaves: (from) => watched(leaves(from), settleDoubts) }),
    subscribe: (from, filter, signal) =>
      watched(log.subscribe(from, filter, signal), () => settleSometime(signal), signal),
    head: () => checked(() => log.head()),
    countAfter: (from, limit) => checked(() => log.countAfter(from, limit)),
    ...(log.doubts && { doubts }),
    async check() {
      assertSame();
      await log.check().catch(noteReplaced);
      await verify();
      const wanted = await expected();
      const difference = wanted && differenceFrom(current, wanted);
      if (!difference) return;
      // The operator has configured another receiver; payments under way are still completed.
      throw difference.code === 'log_receiver_differs' ? difference : latch(difference);
    },
    close: () => log.close(),
  };
}

/** Turns the failure of a check into that of the append that needed it. */
const asOfWrite = (error: unknown, nothingWritten: boolean): unknown =>
  error instanceof StorageFailure
    ? new StorageFailure(error.code, error.message, { cause: error, nothingWritten })
    : error;
