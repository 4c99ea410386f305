/**
 * What a process does before it uses a log: it gives a new log its identity, and compares the identities of log, read
 * models and chain. A difference ends the start. If the log is only older than its read models, they are rebuilt.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { isRejection } from '../commands/decider.ts';
import { handleWithRetry } from '../commands/handle.ts';
import {
  differenceFrom,
  type LogIdentity,
  loadLogIdentity,
  logIdentity,
  type PaymentTarget,
} from '../commands/log-identity/log-identity.ts';
import { LOG_IDENTITY_STREAM } from '../events/log-identity.ts';
import { AFTER_SETTLEMENT } from '../processes/after-settlement.ts';
import { forgetCursor } from '../processes/follow-log.ts';
import { SOURCE_WEBHOOKS } from '../processes/sources/webhooks.ts';
import type { Projection } from '../projections/projection.ts';
import type { Clock } from '../runtime/instant.ts';
import { assertNotMidCopy } from '../storage/copy-marker.ts';
import type { CommandContext, EventLog, EventMark, Position } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import {
  type Checkpoint,
  discrepancies,
  dropBeside,
  readCheckpoints,
  readCheckpointsBeside,
  startOver,
} from './read-models.ts';

export interface IdentifyLogOptions {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly projections: readonly Projection[];
  /** The payment target that this process is configured for. */
  readonly expected: PaymentTarget;
  /** Version of the service. */
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'error'>;
  readonly context: CommandContext;
}

export interface IdentifiedLog {
  readonly identity: LogIdentity;
  /** The newest event known to be in the log. */
  readonly newest: EventMark | null;
}

/**
 * The identity of the log, after all parts agree.
 * @throws StorageFailure that names the difference
 */
export async function identifyLog(options: IdentifyLogOptions): Promise<IdentifiedLog> {
  const { log, readStore, projections, expected, logger } = options;
  await assertNotMidCopy(readStore);
  // In this order, because other nodes may be writing: no checkpoint may look newer than the head.
  const before = await readCheckpoints(readStore, projections);
  const beside = await readCheckpointsBeside(readStore, projections);
  const headBefore = await headOf(log);
  const known = await knownIdentity(log, readStore, before, headBefore);
  const identity = known ?? (await found(options));
  const difference = differenceFrom(identity, expected);
  if (difference) throw difference;
  assertMadeFrom(identity, await readStore.belongTo(identity.logId));
  const wrong = await discrepancies(log, readStore, before, headBefore);
  // Before the read models, so that a start killed in between finds them wrong again.
  if (wrong.length > 0) for (const name of [AFTER_SETTLEMENT, SOURCE_WEBHOOKS]) await forgetCursor(readStore, name);
  for (const { projection, generation, reason } of wrong) {
    logger.error(
      { projection, generation, reason, logId: identity.logId, alarm: 'read_model_rebuilt' },
      'the read model does not match the log and is rebuilt: the log is older than the read model, or was restored',
    );
    const rebuilt = projections.find(({ name }) => name === projection);
    if (rebuilt) await startOver(log, readStore, rebuilt, generation);
  }
  for (const { projection, generation, reason } of await discrepancies(log, readStore, beside, headBefore)) {
    logger.error({ projection, generation, reason }, 'a read model that readers do not see does not match the log');
    await dropBeside(readStore, projection, generation);
  }
  const { logId, network, genesisHash, receiver } = identity;
  const checkpoints = await readCheckpoints(readStore, projections);
  logger.info(
    { logId, network, genesisHash, receiver, head: await log.head(), checkpoints },
    known ? 'the event log is the expected one' : 'the event log has been given its identity',
  );
  const folded = checkpoints.map(({ projection, generation }) => readStore.newestEvent(projection, generation));
  const marks = [
    ...(await log.read(LOG_IDENTITY_STREAM)).slice(-1),
    ...(await Promise.all(folded)),
  ] as (EventMark | null)[];
  const newest = marks.reduce((most, mark) => (mark && (!most || mark.position > most.position) ? mark : most), null);
  return { identity, newest };
}

/**
 * Compares the log and the read models, for a process that does not create an identity. Null for a log without one.
 * @throws StorageFailure if they do not belong together, or if the log is older than the read models
 */
export async function compareLog({
  log,
  readStore,
  projections,
}: Pick<IdentifyLogOptions, 'log' | 'readStore' | 'projections'>): Promise<LogIdentity | null> {
  await assertNotMidCopy(readStore);
  const checkpoints = await readCheckpoints(readStore, projections);
  const head = await headOf(log);
  const identity = await knownIdentity(log, readStore, checkpoints, head);
  const [wrong] = await discrepancies(log, readStore, checkpoints, head);
  if (wrong) {
    throw new StorageFailure(
      'read_models_ahead',
      `the read model ${wrong.projection} does not match the log: ${wrong.reason}`,
    );
  }
  return identity;
}

/** The identity of the log, unless the read models were built from another one. @throws StorageFailure */
async function knownIdentity(
  log: EventLog,
  readStore: ReadStore,
  checkpoints: readonly Checkpoint[],
  head: Position | null,
): Promise<LogIdentity | null> {
  // In this order: a process that creates an identity writes it to the log before the read models.
  const madeFrom = await readStore.logId();
  const identity = await loadLogIdentity(log);
  if (identity) {
    if (madeFrom !== null) assertMadeFrom(identity, madeFrom);
    return identity;
  }
  if (head === null && (madeFrom !== null || checkpoints.some(({ position }) => position !== null))) {
    const of = madeFrom === null ? 'a log' : `event log ${madeFrom}`;
    throw new StorageFailure('log_missing', `there are read models of ${of}, but the event log is empty`);
  }
  if (madeFrom !== null) {
    throw new StorageFailure(
      'log_differs',
      `the read models were built from event log ${madeFrom}; this log has no identity`,
    );
  }
  return null;
}

/** @throws StorageFailure */
export function assertMadeFrom({ logId }: Pick<LogIdentity, 'logId'>, madeFrom: string | null): void {
  if (madeFrom === logId) return;
  const of = madeFrom === null ? 'an unknown log' : `event log ${madeFrom}`;
  throw new StorageFailure('log_differs', `the event log is ${logId}, but the read models were built from ${of}`);
}

/** If several nodes start at once, the first creates the identity and the others find it. */
async function found({ log, clock, context, expected, version }: IdentifyLogOptions): Promise<LogIdentity> {
  const command = { type: 'Found', logId: randomUUID(), ...expected, version } as const;
  const founded = await handleWithRetry({ log, clock }, logIdentity, LOG_IDENTITY_STREAM, command, context);
  if (isRejection(founded) || founded.state === null)
    throw new Error('the event log has no identity after it was created');
  return founded.state;
}

/** Position of the newest event of this service; null if there is none, even if the engine wrote events of its own. */
async function headOf(log: EventLog): Promise<Position | null> {
  const head = await log.head();
  if (head === null) return null;
  for await (const { events } of log.readAll(null, { by: 'all' })) if (events.length > 0) return head;
  return null;
}
