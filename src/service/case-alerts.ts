/** Alerts at CourtListener for watched cases, put together from what the role of sources has. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type CaseAlerts, createCaseAlerts } from '../processes/sources/alerts.ts';
import type { CaseOfCourt } from '../processes/sources/desk.ts';
import { createSourceCases } from '../processes/sources/source-cases.ts';
import type { SourcePauses } from '../processes/sources/source-pauses.ts';
import { watchedCases } from '../processes/sources/watched.ts';
import type { Freshness } from '../projections/freshness.ts';
import type { Clock, Micros } from '../runtime/instant.ts';
import type { SourceBudget } from '../sources/budget.ts';
import { createDocketAlerts } from '../sources/courtlistener/alerts.ts';
import { createCourtListenerClient } from '../sources/courtlistener/client.ts';
import { isOnCourtListener } from '../sources/courtlistener/courts.ts';
import type { SourceHttp } from '../sources/http/source-http.ts';
import type { Storage } from '../storage/storage.ts';

export interface CaseAlertsOptions {
  readonly storage: Storage;
  readonly config: Pick<Config, 'sources'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  readonly http: SourceHttp;
  readonly budget: SourceBudget;
  readonly pauses: Pick<SourcePauses, 'isPaused'>;
  /** Of the read models that say which cases are watched. */
  readonly freshness: readonly Freshness[];
}

/** Null unless CourtListener is asked, pushes to this service, and may have alerts. */
export function openCaseAlerts({ storage, config, pauses, freshness, ...parts }: CaseAlertsOptions): CaseAlerts | null {
  const { log, readStore } = storage;
  const { courtListener, watchDays } = config.sources;
  const { token, url, alerts: limit, webhookSecret } = courtListener;
  if (token === null || webhookSecret === null || limit === 0) return null;
  const { http, budget, clock, logger, owner } = parts;
  const client = createCourtListenerClient({ http, budget, clock, url, token, logger });
  return createCaseAlerts({
    log,
    readStore,
    clock,
    logger,
    owner,
    limit,
    alerts: createDocketAlerts(client),
    cases: createSourceCases({ log, readStore, clock }, 'courtlistener'),
    watched: (now) => newestAskedFirst(readStore, now, watchDays),
    knowsAllWatched: async () => (await Promise.all(freshness.map((model) => model.showsEverything()))).every(Boolean),
    isAllowed: () => !pauses.isPaused('courtlistener', null),
    covers: (court) => isOnCourtListener(court) && !pauses.isPaused('courtlistener', court.code),
  });
}

/** Open cases before closed ones, in which little happens. */
async function* newestAskedFirst(
  readStore: Pick<Storage['readStore'], 'find' | 'load'>,
  now: Micros,
  watchDays: number,
): AsyncGenerator<CaseOfCourt> {
  const [open, closed]: [CaseOfCourt[], CaseOfCourt[]] = [[], []];
  for await (const known of watchedCases(readStore, { now, watchDays })) {
    (known.closed ? closed : open).push({ court: known.court, caseNumber: known.caseNumber });
  }
  yield* open.reverse();
  yield* closed.reverse();
}
