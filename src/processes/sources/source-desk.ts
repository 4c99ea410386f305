/**
 * The desk of sources: pauses, circuit breakers and standings around each look, and one look at a case at a time over all
 * nodes. See desk.ts for what it promises.
 */
import type { BaseLogger } from 'pino';
import { completeSince, type LookedAt, looksAt, recordFailedLook } from '../../commands/docket/looks.ts';
import type { Court } from '../../courts/court.ts';
import type { LiveSourceName } from '../../events/source.ts';
import { type Clock, MICROS_PER_MS } from '../../runtime/instant.ts';
import { untilAborted } from '../../runtime/on-abort.ts';
import type { Breaker, BreakerState } from '../../sources/breaker.ts';
import { createBreaker } from '../../sources/breaker.ts';
import type { AskableSource, Fault, Ingest, Look, Priority, SourceFault } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { CaseOfCourt, DeskAsking, DeskStanding, SourceDesk } from './desk.ts';
import { lookLease } from './look-lease.ts';
import { type SharedLook, SharedLooks } from './shared-looks.ts';
import type { SourcePauses } from './source-pauses.ts';
import { sourcesContext } from './sources-context.ts';
import type { Standings } from './standings.ts';

export interface SourceDeskOptions {
  /** In the order in which they are asked about a court that several cover. */
  readonly sources: readonly AskableSource[];
  readonly pauses: Pick<SourcePauses, 'isPaused' | 'ready'>;
  readonly standings: Pick<Standings, 'report' | 'of'>;
  readonly ingest: Ingest;
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn'>;
  readonly owner: string;
  readonly observe?: (source: LiveSourceName, priority: Priority, look: Look['look'], seconds: number) => void;
  /** No request was made for that reason, for metrics. */
  readonly heldBack?: (source: LiveSourceName, by: HeldBack) => void;
  /** After a node was killed, the next look at its case waits that long. */
  readonly leaseMs?: number;
}

export type HeldBack = Extract<SourceFault, 'budget' | 'open' | 'paused'>;

export interface RunningDesk extends SourceDesk {
  breaker(source: LiveSourceName): BreakerState | null;
  /** Ends the looks that are under way, and starts none. */
  stop(): Promise<void>;
}

const LEASE_MS = 15_000;

/** Without a request, nothing was looked at: such a fault says nothing about the age of a case. */
const NOT_ASKED: ReadonlySet<SourceFault> = new Set(['budget', 'open', 'paused', 'interrupted']);

export const createSourceDesk = (options: SourceDeskOptions): RunningDesk => new Desk(options);

class Desk implements RunningDesk {
  readonly #options: SourceDeskOptions;
  readonly #breakers: ReadonlyMap<LiveSourceName, Breaker>;
  readonly #looks = new SharedLooks();

  constructor(options: SourceDeskOptions) {
    this.#options = options;
    this.#breakers = new Map(
      options.sources.map(({ name }) => [
        name,
        createBreaker(options.clock, name, (state) => this.#reportStanding(name, state)),
      ]),
    );
  }

  sourcesFor(court: Court): readonly LiveSourceName[] {
    return this.#covering(court).map(({ name }) => name);
  }

  look(asked: CaseOfCourt, asking: DeskAsking): Promise<Look> {
    return this.#looks.join(`${asked.court.code} ${asked.caseNumber}`, asking, (shared) => this.#run(asked, shared));
  }

  standing(source: LiveSourceName): DeskStanding {
    const { standings, pauses } = this.#options;
    const state = this.breaker(source);
    return {
      source,
      ...standings.of(source, null),
      openUntil: state?.is === 'open' ? state.until : null,
      isPaused: pauses.isPaused(source, null),
    };
  }

  breaker(source: LiveSourceName): BreakerState | null {
    return this.#breakers.get(source)?.state ?? null;
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  #covering(court: Court): readonly AskableSource[] {
    return this.#options.sources.filter((source) => source.covers(court));
  }

  async #run(asked: CaseOfCourt, shared: SharedLook): Promise<Look> {
    const { log, readStore, clock, owner, logger, pauses, leaseMs = LEASE_MS } = this.#options;
    const sources = this.#covering(asked.court);
    if (sources.length === 0) return { look: 'not_found' };
    // A node that has just started does not know the pauses yet.
    await Promise.race([pauses.ready, untilAborted(shared.signal)]);
    const lease = await lookLease({ log, readStore, clock, owner, durationMs: leaseMs }, asked, shared);
    if ('look' in lease) return lease;
    try {
      const known = await looksAt(log, asked.court, asked.caseNumber);
      if (known?.isForgotten) return failed('forbidden', 'an order forbids to record the case');
      const signal = AbortSignal.any([shared.signal, lease.lost]);
      return await this.#askInTurn(sources, asked, known, shared, signal);
    } finally {
      await lease.release().catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of a look could not be released; it expires');
      });
    }
  }

  /** The first source that shows the case, or knows that there is none. */
  async #askInTurn(
    sources: readonly AskableSource[],
    asked: CaseOfCourt,
    known: LookedAt | null,
    shared: SharedLook,
    signal: AbortSignal,
  ): Promise<Look> {
    let failure: Look | null = null;
    for (const source of sources) {
      const look = await this.#ask(source, asked, known, shared, signal);
      // Another source does not know what the one before it may have shown.
      if (look.look === 'not_found') return failure ?? look;
      if (look.look !== 'failed') return look;
      failure ??= look;
      if (signal.aborted) break;
    }
    return failure ?? { look: 'not_found' };
  }

  async #ask(
    source: AskableSource,
    { court, caseNumber }: CaseOfCourt,
    known: LookedAt | null,
    shared: SharedLook,
    signal: AbortSignal,
  ): Promise<Look> {
    const { name } = source;
    const { pauses, ingest, clock, observe, heldBack } = this.#options;
    const breaker = this.#breakers.get(name);
    if (signal.aborted) return failed('interrupted', 'the look was ended');
    if (pauses.isPaused(name, court.code)) {
      heldBack?.(name, 'paused');
      return failed('paused', `an operator has paused ${name}`);
    }
    const refused = breaker?.admit() ?? null;
    if (refused) {
      heldBack?.(name, 'open');
      return { look: 'failed', because: refused };
    }
    const startedAt = clock.now();
    let seen: SourceFault | null = 'interrupted';
    try {
      const look = await source.ask(
        { court, caseNumber, known: known && { stream: known.stream, completeSince: completeSince(known, name) } },
        {
          get priority() {
            return shared.priority;
          },
          signal,
          ingest,
        },
      );
      if (!signal.aborted || !('because' in look)) seen = faultIn(look);
      if (seen === 'budget') heldBack?.(name, 'budget');
      observe?.(name, shared.priority, look.look, (clock.now() - startedAt) / MICROS_PER_MS / 1_000);
      if (look.look === 'failed' && seen !== null) await this.#recordFailure(name, known, seen);
      return look;
    } finally {
      breaker?.observe(seen, `${court.code} ${caseNumber}`);
      if (seen === null) this.#reportStanding(name, breaker?.state ?? null);
    }
  }

  /** So that an age survives a rebuild: the log says that the case was looked at in vain. */
  async #recordFailure(source: LiveSourceName, known: LookedAt | null, fault: SourceFault): Promise<void> {
    if (known === null || NOT_ASKED.has(fault)) return;
    await recordFailedLook(this.#options, known.stream, source, sourcesContext());
  }

  #reportStanding(source: LiveSourceName, state: BreakerState | null): void {
    const report = { source, court: null };
    const { standings } = this.#options;
    if (state?.is !== 'open') standings.report({ ...report, standing: 'working', why: null });
    else if (state.fault === 'unauthorised')
      standings.report({ ...report, standing: 'misconfigured', why: state.fault });
    else standings.report({ ...report, standing: 'failing', why: state.fault });
  }
}

/** A source that showed all that it may show works. */
function faultIn(look: Look): SourceFault | null {
  if (!('because' in look)) return null;
  const { fault } = look.because;
  return look.look === 'partial' && fault === 'forbidden' ? null : fault;
}

const failed = (fault: SourceFault, reason: string): Look => {
  const because: Fault = { fault, reason, retryAt: null };
  return { look: 'failed', because };
};
