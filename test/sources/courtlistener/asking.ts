/** The source `courtlistener` over real sockets, with the service's own client, budget and ingest. */
import { randomUUID } from 'node:crypto';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { loadDocket } from '../../../src/commands/docket/load.ts';
import { createSourceCases } from '../../../src/processes/sources/source-cases.ts';
import { sourceCases } from '../../../src/projections/source-cases.ts';
import type { Instant, Micros } from '../../../src/runtime/instant.ts';
import type { Rate } from '../../../src/sources/budget.ts';
import { createCourtListenerClient } from '../../../src/sources/courtlistener/client.ts';
import { createCourtListenerSource } from '../../../src/sources/courtlistener/courtlistener-source.ts';
import { createLookStore } from '../../../src/sources/courtlistener/look-store.ts';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import { createSharedBudget } from '../../../src/sources/shared-budget.ts';
import type { Look, Priority } from '../../../src/sources/source.ts';
import { court, openWorld, TestClock } from '../../dockets/world.ts';
import { type CourtListenerImitation, openCourtListener } from './court-listener.ts';
import type { ImitatedRate } from './imitation/rates.ts';

export interface AskingOptions {
  readonly clock?: TestClock;
  /** Of the imitation; none by default. */
  readonly rates?: readonly ImitatedRate[];
  /** Of our budget; none by default. */
  readonly budget?: readonly Rate[];
  readonly token?: string;
  /** How long a search may take, milliseconds; as long as the service lets it if omitted. */
  readonly searchMs?: number;
}

export async function openAsking(options: AskingOptions = {}) {
  const clock = options.clock ?? new TestClock();
  const world = await openWorld(clock, [sourceCases]);
  const site: CourtListenerImitation = await openCourtListener({ clock, rates: options.rates ?? [] });
  const errors: string[] = [];
  const budget = createSharedBudget({
    readStore: world.storage.readStore,
    clock,
    name: 'courtlistener',
    rates: options.budget ?? [],
  });
  const priorities: Priority[] = [];
  const counting: typeof budget = {
    ...budget,
    take(priority) {
      priorities.push(priority);
      return budget.take(priority);
    },
  };
  const real = createSourceHttp({ userAgent: 'docket-test', allowPrivate: [new URL(site.url).host] });
  const { searchMs } = options;
  const http: typeof real =
    searchMs === undefined
      ? real
      : {
          send: (request) => real.send(request.url.includes('/search/') ? { ...request, totalMs: searchMs } : request),
          close: () => real.close(),
        };

  /** As a node has it after a restart: nothing in memory. */
  function node(token = options.token ?? site.token) {
    const { storage } = world;
    const client = createCourtListenerClient({
      http,
      budget: counting,
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
    priorities,
    heldUntil: async (): Promise<Micros | null> => (await budget.standing()).heldUntil,
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
      if (head !== null) await world.runner.waitFor('source-cases', head, 30_000);
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
      await http.close();
      await site.close();
      await world.close();
    },
  };
}

export type AskingWorld = Awaited<ReturnType<typeof openAsking>>;
