/** Raises an alarm once a day while a budget is too small for the cases that are watched. */
import type { BaseLogger } from 'pino';
import type { LiveSourceName } from '../../events/source.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { FreshnessReport } from './freshness.ts';

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const AGAIN: Micros = 24 * HOUR;

export class FreshnessAlarm {
  readonly #logger: Pick<BaseLogger, 'info' | 'warn'>;
  /** When the alarm was last raised for each source whose budget is short. */
  readonly #raisedAt = new Map<string, Micros>();

  constructor(logger: Pick<BaseLogger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  observe({ sources }: FreshnessReport, now: Micros): void {
    for (const source of Object.keys(sources) as LiveSourceName[]) {
      const plan = sources[source];
      const raisedAt = this.#raisedAt.get(source);
      if (!plan) continue;
      if (plan.cannotBeKept === 0) {
        if (raisedAt !== undefined)
          this.#logger.info({ part: source }, 'its budget suffices for the watched cases again');
        this.#raisedAt.delete(source);
      } else if (raisedAt === undefined || Math.abs(now - raisedAt) >= AGAIN) {
        this.#raisedAt.set(source, now);
        const [shortest] = plan.short;
        const hours = shortest ? `${inHours(shortest.every)} h, possible is every ${inHours(shortest.possible)} h` : '';
        this.#logger.warn(
          {
            alarm: 'cases_not_kept_fresh',
            part: source,
            reason: `${plan.cannotBeKept} watched cases need ${plan.requestsPerDayNeeded} requests a day, ${plan.requestsPerDay} are allowed; due every ${hours}`,
          },
          'the budget of a source is too small to keep the watched cases fresh',
        );
      }
    }
  }
}

const inHours = (micros: Micros): string => (micros / HOUR).toFixed(micros < 10 * HOUR ? 1 : 0);
