/** The desk of a simulated day with its source CourtListener, put together as a node has it. */
import { randomUUID } from 'node:crypto';
import type { IngestPorts } from '../../../src/commands/docket/clock.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import type { Court } from '../../../src/courts/court.ts';
import { createSourceCases } from '../../../src/processes/sources/source-cases.ts';
import { createSourceDesk } from '../../../src/processes/sources/source-desk.ts';
import { createStandings } from '../../../src/processes/sources/standings.ts';
import { sourceCases } from '../../../src/projections/source-cases.ts';
import type { Clock } from '../../../src/runtime/instant.ts';
import type { Rate } from '../../../src/sources/budget.ts';
import { createCourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { createCourtListenerSource } from '../../../src/sources/courtlistener/courtlistener-source.ts';
import { courtListenerId } from '../../../src/sources/courtlistener/courts.ts';
import { createLookStore } from '../../../src/sources/courtlistener/look-store.ts';
import type { SourceHttp } from '../../../src/sources/http/source-http.ts';
import { createSharedBudget } from '../../../src/sources/shared-budget.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TroubleLogger } from '../../../src/storage/trouble.ts';
import type { CourtListenerImitation } from '../../sources/courtlistener/court-listener.ts';

export interface DeskOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ingest: IngestPorts;
  readonly http: SourceHttp;
  readonly courtListener: CourtListenerImitation;
  readonly rates: readonly Rate[];
  readonly logger: TroubleLogger;
}

export function openDesk({ storage, clock, ingest, http, courtListener, rates, logger }: DeskOptions) {
  const { log, readStore } = storage;
  const { url, token } = courtListener;
  const budget = createSharedBudget({ readStore, clock, name: 'courtlistener', rates });
  const client = createCourtListenerClient({ http, budget, clock, url, token, logger });
  const cases = createSourceCases({ ...storage, clock }, 'courtlistener');
  const looks = createLookStore({ ...storage, clock });
  const desk = createSourceDesk({
    ...{ log, readStore, clock, logger, owner: 'day' },
    sources: [createCourtListenerSource({ client, cases, looks, clock })],
    pauses: { isPaused: () => false, ready: Promise.resolve() },
    standings: createStandings({ log, clock, logger }),
    ingest: (snapshot) => {
      const id = randomUUID();
      const context = { commandId: id, requestId: null, correlationId: id, causationId: null, actor: 'day' };
      return ingestDocket(ingest, snapshot, context);
    },
  });
  return { desk, projections: [sourceCases], idOf: (court: Court) => courtListenerId(court) };
}
