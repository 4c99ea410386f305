/** Raises an alarm once, on the node that records it, when a source or one court of it fails; logs its recovery. */
import type { BaseLogger } from 'pino';
import type { StandingReport } from './standings.ts';

export type AlarmLogger = Pick<BaseLogger, 'warn' | 'error'> & Partial<Pick<BaseLogger, 'info'>>;

export function reportStanding(logger: AlarmLogger, { source, court, standing, why }: StandingReport): void {
  const part = court === null ? source : `${source} ${court}`;
  const facts = { part, reason: why };
  switch (standing) {
    case 'working':
      logger.info?.({ part }, 'a source works again');
      return;
    case 'misconfigured':
      logger.error({ ...facts, alarm: 'source_misconfigured' }, 'a source refuses the account of this service');
      return;
    case 'degraded':
      logger.warn({ ...facts, alarm: 'court_feed_silent' }, 'the feed of a court has not moved for two hours');
      return;
    default:
      if (court === null)
        logger.warn({ ...facts, alarm: 'source_failing' }, 'a source fails; it is left alone for a while');
      else logger.warn({ ...facts, alarm: 'court_feed_failing' }, 'the feed of a court cannot be read');
  }
}
