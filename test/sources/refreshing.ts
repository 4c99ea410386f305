/** Refresh on query as the service composes it: the desk, the real ingest, limits of unpaid looks. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { createRefresh } from '../../src/processes/sources/refresh.ts';
import { createSourceDesk } from '../../src/processes/sources/source-desk.ts';
import { createUnpaidLooks } from '../../src/processes/sources/unpaid-looks.ts';
import { cases } from '../../src/projections/cases.ts';
import { createFreshness } from '../../src/projections/freshness.ts';
import type { ProjectionRunner } from '../../src/projections/runner.ts';
import type { Clock } from '../../src/runtime/instant.ts';
import { createSourceHttp } from '../../src/sources/http/create-source-http.ts';
import { createSupremeCourt } from '../../src/sources/scotus/scotus.ts';
import type { AskableSource } from '../../src/sources/source.ts';
import type { CommandContext } from '../../src/storage/event-log.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { SupremeCourt } from './supreme-court/supreme-court.ts';

const logger = pino({ level: 'silent' });

export const newContext = (): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
};

export interface RefreshingParts {
  readonly storage: Storage;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly clock: Clock;
}

/** @param lookMs how long a query waits for sources; if omitted, as in the service */
export function openRefreshing(
  { storage, runner, clock }: RefreshingParts,
  sources: readonly AskableSource[],
  lookMs?: number,
) {
  const ports = { ...storage, clock, newId: randomUUID, sleep: (ms: number) => sleep(ms) };
  const desk = createSourceDesk({
    ...storage,
    sources,
    pauses: { ready: Promise.resolve(), isPaused: () => false },
    standings: { report: () => {}, of: () => ({ standing: 'working', why: null }) },
    ingest: (snapshot) => ingestDocket(ports, snapshot, newContext()),
    clock,
    logger,
    owner: `desk-${randomUUID()}`,
  });
  const refresh = createRefresh({
    ...storage,
    desk,
    freshness: createFreshness({ ...storage, runner, projection: cases.name }),
    unpaid: createUnpaidLooks(storage.readStore, clock),
    clock,
    logger,
    lookMs,
  });
  return {
    refresh,
    async close(): Promise<void> {
      refresh.stop();
      await desk.stop();
    },
  };
}

/** The Supreme Court's source, without its manners. */
export const impatientSupremeCourt = (site: SupremeCourt, { storage, clock }: Omit<RefreshingParts, 'runner'>) =>
  createSupremeCourt({
    http: createSourceHttp({
      userAgent: 'DocketMonitor/2 (+https://dockets.example/docs)',
      allowPrivate: [site.address],
    }),
    budget: {
      take: async () => ({ taken: true }),
      hold: async () => {},
      standing: async () => ({ rates: [], heldUntil: null }),
    },
    readStore: storage.readStore,
    clock,
    url: site.url,
    spacing: 0,
  });
