/** A storage with the read models of the watch, cases that sources have shown, and a desk that does as a test says. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { IngestPorts } from '../../../src/commands/docket/clock.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { handle } from '../../../src/commands/handle.ts';
import { want } from '../../../src/commands/source/wanted.ts';
import type { Court } from '../../../src/courts/court.ts';
import { findCourt } from '../../../src/courts/registry.ts';
import type { SnapshotEntry } from '../../../src/dockets/snapshot.ts';
import { DocketChecked, docketStream } from '../../../src/events/docket.ts';
import type { DomainEvent } from '../../../src/events/event.ts';
import { paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { type LiveSourceName, sourceStream } from '../../../src/events/source.ts';
import type { CaseOfCourt, SourceDesk } from '../../../src/processes/sources/desk.ts';
import { cases } from '../../../src/projections/cases.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { WATCHED_CASES, watchedCases } from '../../../src/projections/watched-cases.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../../src/runtime/instant.ts';
import type { Fault, Look, Priority } from '../../../src/sources/source.ts';
import { NO_STREAM, type StreamHead } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { contextOf } from '../../storage/samples.ts';
import { openTestStorage } from '../../support/storage.ts';

export const MINUTE: Micros = 60 * MICROS_PER_SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;
export const NOON = toMicros('2026-03-20T12:00:00.000000Z');

export const courtOf = (code: string): Court => findCourt(code) as Court;
export const fault = (name: Fault['fault'], retryAt: Micros | null = null): Fault => ({
  fault: name,
  reason: `scripted ${name}`,
  retryAt,
});

const entryOf = (number: number, enteredAt: Instant, description: string): SnapshotEntry => ({
  entryNumber: number,
  dateFiled: enteredAt.slice(0, 10),
  dateEntered: enteredAt.slice(0, 10),
  filedAt: null,
  enteredAt,
  description,
  shortDescription: 'Motion',
  filedBy: null,
  documentIdentifier: `0350${String(number).padStart(8, '0')}`,
  documentIdentifierType: 'pacer_doc_id',
  sourceIds: {},
  externalUrl: null,
  attachments: [],
  sealed: false,
});

const EMPTY_HEADER = {
  caseName: 'Harrowgate Tile Works, LLC v. Pellworth',
  caseNameSecondary: null,
  caseNameSecondaryLanguage: null,
  caseType: 'civil',
  natureOfProceeding: null,
  cause: null,
  assignedJudge: null,
  referredJudge: null,
  dateFiled: '2026-01-05',
  dateClosed: null,
} as const;

/** What a test says that a look comes to; by default it shows the case whole. */
export type Behaviour = (asked: CaseOfCourt, priority: Priority) => Look | null | Promise<Look | null>;

export interface Seen {
  readonly caseNumber: string;
  readonly priority: Priority;
  readonly at: Micros;
}

export async function openWatchWorld() {
  const directory = await mkdtemp(join(tmpdir(), 'docket-watch-'));
  let now = NOON;
  const clock = { now: () => now };
  const storage = await openTestStorage(directory, clock);
  const { log, readStore } = storage;
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases, watchedCases],
    clock: { now: () => Date.now() * 1_000 },
    logger: pino({ level: 'silent' }),
    owner: `test-${randomUUID()}`,
  });
  await runner.start();
  const projected = async (): Promise<void> => {
    const head = await log.head();
    if (head === null) return;
    for (const name of [cases.name, WATCHED_CASES]) {
      if (!(await runner.waitFor(name, head, 30_000))) throw new Error(`${name} is behind`);
    }
  };
  const ports: IngestPorts = { ...storage, clock, newId: randomUUID, sleep: () => projected() };

  async function append(stream: string, events: readonly DomainEvent[], head: StreamHead = NO_STREAM): Promise<void> {
    const recordedAt = toInstant(now);
    await log.append(prepareAppend({ stream, head, events, context: contextOf(), recordedAt }));
    await projected();
  }

  interface Shown {
    readonly source?: string;
    readonly complete?: boolean;
    /** When each entry was made. */
    readonly entries?: readonly Micros[];
    readonly closed?: boolean;
    readonly description?: string;
  }
  /** A source shows a case now. */
  async function shown(code: string, caseNumber: string, more: Shown = {}): Promise<string> {
    const { source = 'courtlistener', complete = true, entries = [now - 2 * DAY], closed = false } = more;
    const snapshot = {
      court: courtOf(code),
      caseNumber,
      aliases: [],
      header: { ...EMPTY_HEADER, dateClosed: closed ? '2026-02-01' : null },
      parties: [],
      crossReferences: [],
      entries: entries.map((at, index) => entryOf(index + 1, toInstant(at), more.description ?? `MOTION ${index + 1}`)),
      complete,
      askedAt: toInstant(now),
      source,
    };
    const report = await ingestDocket(ports, snapshot, contextOf());
    if ('refused' in report) throw new Error(report.refused);
    await projected();
    return report.stream;
  }

  const seen: Seen[] = [];
  const script = {
    behave: (() => null) as Behaviour,
    isPaused: false,
    sources: (court: Court): readonly LiveSourceName[] => (court.code === 'scotus' ? ['scotus'] : ['courtlistener']),
  };
  const desk: SourceDesk = {
    sourcesFor: (court) => script.sources(court),
    async look(asked, { priority }) {
      const { court, caseNumber } = asked;
      seen.push({ caseNumber, priority, at: now });
      const said = await script.behave(asked, priority);
      if (said) return said;
      const source = script.sources(court)[0] ?? 'courtlistener';
      return { look: 'complete', stream: await shown(court.code, caseNumber, { source }) };
    },
    standing: (source) => ({ source, standing: 'working', why: null, openUntil: null, isPaused: script.isPaused }),
  };

  return {
    ...storage,
    directory,
    clock,
    desk,
    script,
    seen,
    shown,
    projected,
    async restart(): Promise<void> {
      await projected();
    },
    move(micros: Micros): void {
      now += micros;
    },
    /** Somebody pays for an answer about these cases. */
    async asked(...streams: readonly string[]): Promise<void> {
      const answered = QueryAnswered.of({
        requestId: randomUUID(),
        answer: null,
        keepUntil: toInstant(now + 30 * DAY),
        answeredCases: streams.length,
        cases: [...streams],
        keyCall: null,
        callbacks: [],
      });
      await append(paymentStream(randomUUID().replaceAll('-', '').repeat(2)), [answered]);
    },
    async wanted(code: string, caseNumber: string): Promise<void> {
      const stream = sourceStream.wanted(code, caseNumber);
      await handle({ log, clock }, want, stream, { type: 'Want', court: code, caseNumber, by: 'query' }, contextOf());
      await projected();
    },
    async failedLook(stream: string, source = 'courtlistener'): Promise<void> {
      const events = await log.read(stream);
      const last = events.at(-1);
      if (!last) throw new Error(`no such docket: ${stream}`);
      const checked = DocketChecked.of({
        source,
        askedAt: toInstant(now),
        complete: false,
        outcome: 'failed',
        ingestId: null,
      });
      await append(stream, [checked], { revision: last.revision, hash: last.metadata.hash });
    },
    eventsOf: (stream: string) => log.read(stream),
    streamOf: docketStream,
    looked: () => seen.splice(0).map(({ caseNumber }) => caseNumber),
    async close(): Promise<void> {
      await runner.stop();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
    readStore,
  };
}

export type WatchWorld = Awaited<ReturnType<typeof openWatchWorld>>;
