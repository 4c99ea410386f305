/**
 * The loop of `queried_at` and `last_checked` (docs/design/dockets.md#case-clock): no filing is lost and none is
 * announced twice, for any clocks, stalls, repeats and deaths. The model is a court with a list of entries; it knows
 * nothing of events.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { DocketContended, ingestDocket } from '../../src/commands/docket/ingest.ts';
import type { DocketSnapshot, SnapshotEntry } from '../../src/dockets/snapshot.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import { type Instant, MICROS_PER_MS, type Micros, toInstant } from '../../src/runtime/instant.ts';
import { judge } from '../audit/rules/judge.ts';
import { Killed, MemoryWorld, randomOf, Turns } from './memory-ports.ts';
import { bodyOf, contextOf, court } from './world.ts';

const MINUTE: Micros = 60_000 * MICROS_PER_MS;

/** An entry of the court's own docket. `key` is in its text and in its document id, so that the model recognizes it. */
export interface CourtEntry {
  readonly key: number;
  /** The docket version that adds it. */
  readonly since: number;
  readonly identified: boolean;
  readonly number: number | null;
  /** The version that gives it another number; ids stay. */
  readonly renumberedAt: number | null;
  /** The version that gives it a text; before, it has only a short name. */
  readonly textSince: number;
  /** The version that changes its text. */
  readonly editedAt: number | null;
  /** Minutes before or after the start at which the court says that it was entered. */
  readonly enteredMinute: number;
}

const VERSIONS = 5;

const courtEntry = fc.record({
  since: fc.integer({ min: 0, max: VERSIONS - 1 }),
  identified: fc.boolean(),
  number: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
  renumberedAt: fc.option(fc.integer({ min: 0, max: VERSIONS }), { nil: null }),
  textSince: fc.integer({ min: 0, max: 3 }),
  editedAt: fc.option(fc.integer({ min: 0, max: VERSIONS }), { nil: null }),
  enteredMinute: fc.oneof(fc.integer({ min: -600, max: 30 }), fc.integer({ min: -100_000, max: -5_000 })),
});

const courtDocket = fc
  .array(courtEntry, { minLength: 1, maxLength: 14 })
  .map((entries) => entries.map((entry, key): CourtEntry => ({ ...entry, key })));

const word = (key: number): string => `K${String(key).padStart(3, '0')}`;
const keyIn = (text: string): number => Number(/K(\d{3})/.exec(text)?.[1] ?? Number.NaN);

function entryAt(entry: CourtEntry, version: number, start: Micros): SnapshotEntry {
  const { key, identified, renumberedAt, textSince, editedAt } = entry;
  const told = !identified || version >= textSince;
  const edited = identified && editedAt !== null && version >= editedAt;
  const entered = toInstant(start + entry.enteredMinute * MINUTE);
  const number = identified && renumberedAt !== null && version >= renumberedAt ? 50 + key : entry.number;
  return {
    entryNumber: number,
    dateFiled: entered.slice(0, 10),
    dateEntered: entered.slice(0, 10),
    filedAt: null,
    enteredAt: entered,
    description: told ? `MOTION ${word(key)} to compel${edited ? ' (corrected)' : ''}` : '',
    shortDescription: `Motion ${word(key)}`,
    filedBy: null,
    documentIdentifier: identified ? `03500000${1000 + key}` : null,
    documentIdentifierType: identified ? 'pacer_doc_id' : 'none',
    sourceIds: identified ? { pacer_seq_no: String(2000 + key) } : {},
    externalUrl: null,
    attachments: [],
    sealed: false,
  };
}

/** After this many steps, or with an append sent and not answered. */
type Kill = number | 'in append' | null;

export type Act =
  | { readonly type: 'snapshot'; readonly complete: boolean; readonly late: boolean; readonly kill: Kill }
  | { readonly type: 'grow' }
  | { readonly type: 'poll'; readonly caller: number }
  | { readonly type: 'rest' }
  | { readonly type: 'pass'; readonly minutes: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('snapshot' as const),
      complete: fc.boolean(),
      late: fc.boolean(),
      kill: fc.option(fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('in append' as const)), {
        nil: null,
        freq: 3,
      }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ type: 'grow' as const }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('poll' as const), caller: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'rest' as const }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 90 }) }) },
);

interface Caller {
  first: { readonly at: Instant; readonly whole: boolean; readonly known: ReadonlySet<number> } | null;
  lastChecked: Instant | null;
  readonly told: number[];
}

const CASE = '3:24-cv-01234';

/** As `holdsOver`, for one history, with the order of steps that this seed gives. */
export async function holdsFor(
  docket: readonly CourtEntry[],
  acts: readonly Act[],
  seed: number,
  skews: readonly number[],
): Promise<void> {
  const random = randomOf(seed);
  const turns = new Turns(random);
  const world = new MemoryWorld(turns, { appendError: 0.15 });
  const start = world.time;
  const cand = court('cand');
  const pick = (): Micros => skews[Math.floor(random() * skews.length)]! * MINUTE;
  const projection = world.project();
  const callers: Caller[] = [0, 1, 2].map(() => ({ first: null, lastChecked: null, told: [] }));
  const busy = callers.map((): Promise<void> => Promise.resolve());
  let running: Promise<unknown>[] = [];
  let version = 0;
  let imported = false;

  const ingest = async (complete: boolean, late: boolean, kill: Kill): Promise<void> => {
    let left = typeof kill === 'number' ? kill : Number.POSITIVE_INFINITY;
    const ports = world.node(pick(), () => left-- > 0, kill === 'in append');
    const there = docket.filter(({ since }) => since <= version);
    const snapshot: DocketSnapshot = {
      court: cand,
      caseNumber: CASE,
      aliases: [],
      header: {
        caseName: 'A v. B',
        caseNameSecondary: null,
        caseNameSecondaryLanguage: null,
        caseType: 'civil',
        natureOfProceeding: null,
        cause: null,
        assignedJudge: null,
        referredJudge: null,
        dateFiled: null,
        dateClosed: null,
      },
      parties: [],
      crossReferences: [],
      entries: there.filter(() => complete || random() < 0.5).map((entry) => entryAt(entry, version, start)),
      complete,
      askedAt: toInstant(world.time),
      source: 'test',
    };
    // A snapshot taken now may be recorded after later ones.
    if (late) for (let wait = Math.floor(random() * 200); wait > 0; wait--) await turns.next();
    for (;;) {
      try {
        await ingestDocket(ports, snapshot, contextOf(`command-${random()}`));
        imported = true;
        return;
      } catch (error) {
        if (error instanceof Killed || (error as Error).cause instanceof Killed) return;
        if (!(error instanceof DocketContended)) throw error;
      }
    }
  };

  const poll = async (caller: Caller): Promise<void> => {
    const node = world.node(pick(), () => true);
    const wasImported = imported;
    const queries = createCaseQueries({
      readStore: node.readStore,
      freshness: world.freshness,
      clock: node.clock,
      sleep: node.sleep,
      patienceMs: 50,
    });
    const answer = await queries.answerCase({
      court: cand,
      courtCode: 'cand',
      caseId: CASE,
      lastChecked: caller.lastChecked,
      since: caller.lastChecked,
      context: 'full',
      language: null,
      filingTypes: null,
    });
    if ('problem' in answer) {
      if (wasImported) expect(answer.problem, 'an imported case').not.toBe('case_not_found');
      expect(['case_not_found', 'court_unavailable', 'service_unavailable']).toContain(answer.problem);
      return;
    }
    const body = bodyOf(answer);
    const keys = (filings: readonly { description: string }[]): number[] =>
      filings.map((one) => keyIn(one.description));
    if (caller.first === null) {
      const known = new Set(keys(body.case.docket_history));
      caller.first = { at: answer.queriedAt, whole: answer.coverageStatus === 'full', known };
    } else {
      const told = keys(body.delta.new_filings);
      expect(body.delta.change_count).toBe(told.length);
      caller.told.push(...told);
    }
    caller.lastChecked = answer.queriedAt;
  };

  const settle = async (): Promise<void> => {
    await turns.run([...running, ...busy]);
    running = [];
  };

  for (const one of acts) {
    if (one.type === 'grow') version = Math.min(VERSIONS, version + 1);
    else if (one.type === 'pass') world.time += one.minutes * MINUTE;
    else if (one.type === 'rest') await settle();
    else if (one.type === 'snapshot') running.push(ingest(one.complete, one.late, one.kill));
    else busy[one.caller] = busy[one.caller]!.then(() => poll(callers[one.caller]!));
  }
  // At the end the court is shown in full once more, and every caller asks twice.
  await settle();
  version = VERSIONS;
  running.push(ingest(true, false, null));
  await settle();
  for (let round = 0; round < 2; round++) {
    for (const [index, caller] of callers.entries()) if (caller.first) busy[index] = poll(caller);
    await settle();
  }
  world.stopped = true;
  await turns.run([projection]);

  check(docket, callers, start);
  checkLog(world);
  await checkEnd(world, docket, turns, start);
}

function check(docket: readonly CourtEntry[], callers: readonly Caller[], start: Micros): void {
  for (const { first, told } of callers) {
    if (!first) continue;
    expect(new Set(told).size, 'told twice').toBe(told.length);
    for (const key of told) expect(first.known.has(key), `${word(key)} was in the first answer`).toBe(false);
    for (const { key, enteredMinute } of docket) {
      // In a case that was known only in part, what is older than the caller's first query is history.
      const owed = first.whole || toInstant(start + enteredMinute * MINUTE) > first.at;
      if (owed && !first.known.has(key)) expect(told, `${word(key)} was lost`).toContain(key);
    }
  }
}

/** Times are unique in a docket, and rise in the order of the log if they come from the case clock. */
function checkLog(world: MemoryWorld): void {
  expect(judge(world.events).breaches).toEqual([]);
  const seen = new Set<string>();
  let newest = '';
  const use = (time: string, rising: boolean): void => {
    expect(seen.has(time), `${time} twice`).toBe(false);
    seen.add(time);
    if (rising) expect(time > newest, `${time} after ${newest}`).toBe(true);
    if (time > newest) newest = time;
  };
  for (const { type, data } of world.events) {
    if (type === 'FilingsRecorded') {
      for (const { availableAt } of data.filings as { availableAt: string }[])
        use(availableAt, data.baseline === false);
    } else if (typeof data.revisedAt === 'string') use(data.revisedAt, true);
  }
}

/** The court's docket is complete: each entry once, with its newest number and text. */
async function checkEnd(world: MemoryWorld, docket: readonly CourtEntry[], turns: Turns, start: Micros): Promise<void> {
  const node = world.node(0, () => true);
  const queries = createCaseQueries({ ...node, freshness: world.freshness });
  const asking = queries.answerCase({
    court: court('cand'),
    courtCode: 'cand',
    caseId: CASE,
    lastChecked: null,
    since: null,
    context: 'full',
    language: null,
    filingTypes: null,
  });
  await turns.run([asking]);
  const answer = await asking;
  if ('problem' in answer) throw new Error(answer.problem);
  const served = bodyOf(answer).case;
  expect(served.filing_count).toBe(docket.length);
  const byKey = new Map(
    served.docket_history.map((one: { description: string }) => [keyIn(one.description), one]),
  ) as Map<number, { description: string; entry_number: number | null }>;
  expect(byKey.size).toBe(docket.length);
  for (const entry of docket) {
    const now = entryAt(entry, VERSIONS, start);
    expect(byKey.get(entry.key)).toMatchObject({ description: now.description, entry_number: now.entryNumber });
  }
}

/** Over this many generated histories, no filing is lost and none is announced twice. */
export const holdsOver = (histories: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      courtDocket,
      fc.array(act, { minLength: 3, maxLength: 25 }),
      fc.integer(),
      fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 4 }),
      holdsFor,
    ),
    { numRuns: histories },
  );
