/** The source `courtlistener` over real sockets and a real ingest, with a budget in memory that counts what it gives. */
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { loadDocket } from '../../../src/commands/docket/load.ts';
import { createSourceCases } from '../../../src/processes/sources/source-cases.ts';
import { sourceCases } from '../../../src/projections/source-cases.ts';
import type { Clock, Instant, Micros } from '../../../src/runtime/instant.ts';
import type { Rate, SourceBudget } from '../../../src/sources/budget.ts';
import { createCourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { createCourtListenerSource } from '../../../src/sources/courtlistener/courtlistener-source.ts';
import { createLookStore } from '../../../src/sources/courtlistener/look-store.ts';
import type { SourceHttp } from '../../../src/sources/http/source-http.ts';
import type { Look, Priority } from '../../../src/sources/source.ts';
import { court, openWorld, TestClock } from '../../dockets/world.ts';
import { type CourtListenerImitation, openCourtListener } from './court-listener.ts';
import type { ImitatedRate } from './imitation/rates.ts';

/** Real requests by node:http, without redirects. */
export const plainHttp: SourceHttp = {
  send: ({ url, method = 'GET', headers = {}, body, maxBytes, signal }) =>
    new Promise((resolve) => {
      const failed = (reason: string) => resolve({ fault: 'connection', reason, retryAt: null });
      const request = httpRequest(url, { method, headers, agent: false, ...(signal ? { signal } : {}) }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxBytes) request.destroy(new Error('too large'));
          else chunks.push(chunk);
        });
        response.on('error', (error) => failed(error.message));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
            body: Buffer.concat(chunks),
          }),
        );
      });
      request.on('error', (error) => failed(error.message));
      request.end(body);
    }),
  close: async () => {},
};

/** Rolling windows in memory, as the budget shared by all nodes has them. */
export function memoryBudget(clock: Clock, rates: readonly Rate[] = []) {
  let taken: Micros[] = [];
  let heldUntil: Micros | null = null;
  const priorities: Priority[] = [];
  const budget: SourceBudget = {
    async take(priority) {
      const now = clock.now();
      if (heldUntil !== null && heldUntil > now) return { taken: false, retryAt: heldUntil };
      for (const { requests, micros } of rates) {
        const within = taken.filter((at) => at > now - micros);
        const oldest = within[within.length - requests];
        if (within.length >= requests && oldest !== undefined) return { taken: false, retryAt: oldest + micros };
      }
      taken = [...taken, now];
      priorities.push(priority);
      return { taken: true };
    },
    async hold(until) {
      heldUntil = Math.max(heldUntil ?? 0, until);
    },
    standing: async () => ({ rates: [], heldUntil }),
  };
  return { budget, priorities, heldUntil: () => heldUntil };
}

export interface AskingOptions {
  readonly clock?: TestClock;
  /** Of the imitation; none by default. */
  readonly rates?: readonly ImitatedRate[];
  /** Of our budget; none by default. */
  readonly budget?: readonly Rate[];
  readonly token?: string;
}

export async function openAsking(options: AskingOptions = {}) {
  const clock = options.clock ?? new TestClock();
  const world = await openWorld(clock, [sourceCases]);
  const site: CourtListenerImitation = await openCourtListener({ clock, rates: options.rates ?? [] });
  const errors: string[] = [];
  const counted = memoryBudget(clock, options.budget ?? []);

  /** As a node has it after a restart: nothing in memory. */
  function node(token = options.token ?? site.token) {
    const { storage } = world;
    const client = createCourtListenerClient({
      http: plainHttp,
      budget: counted.budget,
      clock,
      url: site.url,
      token,
      logger: { error: (_, message) => errors.push(message) },
    });
    const cases = createSourceCases({ ...storage, clock }, 'courtlistener');
    const looks = createLookStore({ ...storage, clock });
    return { client, cases, looks, source: createCourtListenerSource({ client, cases, looks, clock }) };
  }

  async function knownOf(stream: string | null): Promise<{ stream: string; completeSince: Instant | null } | null> {
    if (stream === null) return null;
    const { state } = await loadDocket(world.storage, stream);
    return { stream, completeSince: state.baseline === 'completed' ? state.lastCompleteAskedAt : null };
  }

  return {
    world,
    site,
    clock,
    errors,
    counted,
    node,
    knownOf,
    async ask(
      code: string,
      caseNumber: string,
      {
        stream = null,
        priority = 'paid',
        signal = new AbortController().signal,
        source = node().source,
      }: {
        stream?: string | null;
        priority?: Priority;
        signal?: AbortSignal;
        source?: ReturnType<typeof node>['source'];
      } = {},
    ): Promise<Look> {
      const look = await source.ask(
        { court: court(code), caseNumber, known: await knownOf(stream) },
        {
          priority,
          signal,
          ingest: async (snapshot) => {
            const id = randomUUID();
            return ingestDocket(world.ports, snapshot, {
              commandId: id,
              requestId: null,
              correlationId: id,
              causationId: null,
              actor: 'courtlistener',
            });
          },
        },
      );
      const head = await world.storage.log.head();
      if (head !== null) await world.runner.waitFor('source-cases', head, 10_000);
      return look;
    },
    /** The filings of a docket, as its events have them. */
    async filings(stream: string) {
      const { state, contents } = await loadDocket(world.storage, stream);
      return [...state.filings.values()].map(({ recorded, withdrawn }) => ({
        ...recorded,
        withdrawn,
        ...(contents.filings.get(recorded.filingId) as NonNullable<ReturnType<typeof contents.filings.get>>),
      }));
    },
    async checks(stream: string) {
      const events = await world.storage.log.read(stream);
      return events.filter(({ type }) => type === 'DocketChecked').map(({ data }) => data);
    },
    async close(): Promise<void> {
      await site.close();
      await world.close();
    },
  };
}

export type AskingWorld = Awaited<ReturnType<typeof openAsking>>;
