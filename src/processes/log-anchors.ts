/**
 * Anchors the newest head hourly or daily (docs/design/audit.md#anchors). Runs between the rounds of `log-heads.ts`, under
 * the same lease.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { AnchorFailed, type AnchorPorts, anchorNewestHead } from '../commands/log-head/anchor-head.ts';
import { loadNewestHeads } from '../commands/log-head/newest-heads.ts';
import { LogHeadAnchored } from '../events/log-head.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { CommandContext, RecordedEvent } from '../storage/event-log.ts';
import { Trouble } from '../storage/trouble.ts';

export interface LogAnchorsPorts extends AnchorPorts {
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  readonly every: 'hourly' | 'daily';
}

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const EVERY: Readonly<Record<LogAnchorsPorts['every'], Micros>> = { hourly: HOUR, daily: 24 * HOUR };
/** By how much the clocks of two nodes may differ. A time further ahead came from a clock that was wrong. */
const CLOCKS_DIFFER: Micros = 300 * MICROS_PER_SECOND;
/** After a failure. */
const RETRY_AFTER: Micros = 300 * MICROS_PER_SECOND;
const NAME = 'log-anchors';

/** @returns what to do after each round: anchors the newest head if one is due. Never throws */
export function createLogAnchors(ports: LogAnchorsPorts): (signal: AbortSignal) => Promise<void> {
  const { log, clock, logger } = ports;
  const every = EVERY[ports.every];
  const trouble = new Trouble(logger, { process: NAME });
  /** Null until the log was asked when the last anchor was recorded. */
  let due: Micros | null = null;

  return async (signal) => {
    const now = clock.now();
    try {
      // Another node may have anchored: the log is asked again before each one.
      if (due !== null && now < due && due <= now + every + CLOCKS_DIFFER) return;
      const last = await lastAnchored(now - every);
      if (last !== null && now < last + every && last <= now + CLOCKS_DIFFER) {
        due = last + every;
        return;
      }
      const outcome = await anchorNewestHead(ports, { by: NAME, context: contextOf(), signal });
      trouble.recovered();
      if (outcome.anchored === null || !outcome.isNew) return;
      due = clock.now() + every;
      const { size, root, transaction } = outcome.anchored;
      logger.info({ size, root, transaction }, 'the newest head of the log is anchored on the chain');
    } catch (error) {
      if (signal.aborted) return;
      due = clock.now() + RETRY_AFTER;
      if (error instanceof AnchorFailed) {
        logger.warn(
          { code: error.code, reason: error.message, alarm: 'log_anchor_failed' },
          'the newest head of the log could not be anchored; retrying in five minutes',
        );
      } else trouble.failed(error, 'the newest head of the log could not be anchored; retrying');
    }
  };

  /** When the last anchor was recorded, if it was after a time; null otherwise. */
  async function lastAnchored(after: Micros): Promise<Micros | null> {
    let last: Micros | null = null;
    await loadNewestHeads(log, (events: readonly RecordedEvent[]) => {
      const anchor = events.findLast(({ type }) => type === LogHeadAnchored.type);
      last = anchor ? toMicros(anchor.metadata.recordedAt) : null;
      const [oldest] = events;
      return anchor !== undefined || (oldest !== undefined && toMicros(oldest.metadata.recordedAt) < after);
    });
    return last;
  }
}

function contextOf(): CommandContext {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: NAME };
}
