/** A desk on a whole storage, with sources that do as a test says: the port is real, the court behind it is scripted. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import type { DocketSnapshot } from '../../../src/dockets/snapshot.ts';
import type { LiveSourceName } from '../../../src/events/source.ts';
import { createSourceDesk, type SourceDeskOptions } from '../../../src/processes/sources/source-desk.ts';
import { createSourcePauses } from '../../../src/processes/sources/source-pauses.ts';
import { createStandings } from '../../../src/processes/sources/standings.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import type { AskableSource, AskedCase, Asking, Fault, Look, SourceFault } from '../../../src/sources/source.ts';
import { contextOf, court, openWorld, TestClock } from '../../dockets/world.ts';

export const CASE = { court: court('ilnd'), caseNumber: '1:26-cv-02417' };

export const faultOf = (fault: SourceFault): Fault => ({ fault, reason: `scripted ${fault}`, retryAt: null });
export const failedLook = (fault: SourceFault): Look => ({ look: 'failed', because: faultOf(fault) });

/** One look that a test has seen begin, and ends. */
export interface BegunLook {
  readonly asked: AskedCase;
  readonly asking: Asking;
  end(look: Look): void;
}

/** A source whose looks a test ends one by one, or all in the same way. */
export class ScriptedSource implements AskableSource {
  readonly begun: BegunLook[] = [];
  /** If set, each look ends so at once. */
  always: ((asked: AskedCase, asking: Asking) => Promise<Look>) | null = null;
  #seen: (() => void)[] = [];

  constructor(
    readonly name: LiveSourceName = 'courtlistener',
    readonly codes: readonly string[] = ['ilnd', 'scotus'],
  ) {}

  covers({ code }: { readonly code: string }): boolean {
    return this.codes.includes(code);
  }

  ask(asked: AskedCase, asking: Asking): Promise<Look> {
    const look = this.always
      ? this.always(asked, asking)
      : new Promise<Look>((resolve) => {
          this.begun.push({ asked, asking, end: resolve });
          asking.signal.addEventListener('abort', () => resolve(failedLook('interrupted')));
        });
    if (this.always) this.begun.push({ asked, asking, end: () => undefined });
    for (const seen of this.#seen.splice(0)) seen();
    return look;
  }

  /** The look of that number, counted from 0, once it has begun. */
  async look(index: number): Promise<BegunLook> {
    for (;;) {
      const begun = this.begun[index];
      if (begun) return begun;
      await new Promise<void>((resolve) => {
        this.#seen.push(resolve);
      });
    }
  }
}

export const snapshotOf = (asked: AskedCase, askedAt: string, complete = true): DocketSnapshot => ({
  court: asked.court,
  caseNumber: asked.caseNumber,
  aliases: [],
  header: {
    caseName: 'Harrowgate Tile Works, LLC v. Pellworth',
    caseNameSecondary: null,
    caseNameSecondaryLanguage: null,
    caseType: null,
    natureOfProceeding: null,
    cause: null,
    assignedJudge: null,
    referredJudge: null,
    dateFiled: '2026-03-02',
    dateClosed: null,
  },
  parties: [],
  crossReferences: [],
  entries: [],
  complete,
  askedAt,
  source: 'courtlistener',
});

export async function openDeskWorld() {
  const clock = new TestClock();
  const world = await openWorld(clock);
  const { storage } = world;
  const logger = pino({ level: 'silent' });
  const following = new AbortController();
  const pauses = createSourcePauses({ log: storage.log, logger });
  const followed = pauses.run(following.signal);
  await pauses.ready;
  const standings = createStandings({ log: storage.log, clock, logger });
  const shown = (asked: AskedCase, { ingest }: Asking, complete = true): Promise<Look> =>
    ingest(snapshotOf(asked, toInstant(clock.now()), complete)).then((report) => {
      if ('refused' in report) throw new Error(report.refused);
      return { look: 'complete', stream: report.stream };
    });
  return {
    ...world,
    clock,
    pauses,
    standings,
    /** Shows the case, and records it. */
    shown,
    /** The desk of one node. */
    node(sources: readonly AskableSource[], more: Partial<SourceDeskOptions> = {}) {
      return createSourceDesk({
        sources,
        pauses,
        standings,
        ingest: (snapshot) => ingestDocket(world.ports, snapshot, contextOf()),
        log: storage.log,
        readStore: storage.readStore,
        clock: { now: () => Date.now() * 1_000 },
        logger,
        // Of another machine, so that nobody can know that it is gone.
        owner: `elsewhere/1/1/${randomUUID()}`,
        leaseMs: 5_000,
        ...more,
      });
    },
    events: (stream: string) => storage.log.read(stream),
    async close() {
      following.abort();
      await followed;
      await world.close();
    },
  };
}

export type DeskWorld = Awaited<ReturnType<typeof openDeskWorld>>;
