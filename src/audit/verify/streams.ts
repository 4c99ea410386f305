/**
 * What is known of each stream: its newest revision and the states of its rules. Streams in use are in memory, all
 * others in the scratch database, so that memory does not grow with the log.
 */
import type { Json, JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import type { Breach, EventPlace, Findings, StreamRules } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { Breaches } from './breaches.ts';
import type { LogState } from './event-findings.ts';
import { Generations } from './generations.ts';
import { type Scratch, spreadOf, storedRow } from './scratch.ts';

/**
 * Twice as many things are in memory: a stream counts as 100, and each thing in its state, such as a filing, as one of
 * about 200 bytes.
 */
const IN_MEMORY = 100_000;
const OF_A_STREAM = 100;
/** Characters that one thing takes in the scratch database. */
const STORED_LENGTH = 90;
/** Revisions that were passed over and may still come, if two events were exchanged. */
const MOST_AWAITED = 64;
/** A time at which every deadline of a log has passed. Instants after 2255 lose precision. */
export const END_OF_TIME: Instant = '2200-01-01T00:00:00.000000Z';

export interface StreamRecord {
  readonly stream: string;
  readonly rules: readonly StreamRules<Json>[];
  /** One for each of the rules; undefined before it has judged an event. */
  readonly states: (Json | undefined)[];
  revision: number;
  /** Of the newest event; null before the first. */
  position: Position | null;
  /** An event is broken or missing: what the rules find from here on follows from that. */
  tainted: boolean;
  awaited: number[];
  /** Its row in the scratch database. */
  id: number | null;
  /** About how many things its states hold. */
  things: number;
}

type Stored = readonly [
  revision: number,
  position: Position,
  tainted: 0 | 1,
  awaited: number[],
  states: (Json | null)[],
];

interface Row {
  readonly id: number;
  readonly stream: string;
  readonly state: string;
}

/** How an event continues its stream. */
export type Continuation =
  | { readonly kind: 'next' }
  /** Events before it are missing, as far as the log was read. */
  | { readonly kind: 'gap'; readonly missing: number }
  /** It was passed over before: events were exchanged. */
  | { readonly kind: 'late' }
  | { readonly kind: 'again' };

export class Streams {
  readonly #rules: readonly StreamRules<Json>[];
  readonly #breaches: Breaches;
  readonly #memory: Generations<StreamRecord>;
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #open;
  readonly #twice;

  constructor({ database }: Scratch, rules: readonly StreamRules<Json>[], breaches: Breaches) {
    this.#rules = rules;
    this.#breaches = breaches;
    this.#memory = new Generations(
      IN_MEMORY,
      (old) => this.#store(old),
      ({ things }) => OF_A_STREAM + things,
    );
    this.#find = database.prepare<[number], Row>('SELECT id, stream, state FROM streams WHERE hash = ?');
    this.#insert = database.prepare('INSERT INTO streams (hash, stream, open, state) VALUES (?, ?, ?, ?)');
    this.#update = database.prepare('UPDATE streams SET open = ?, state = ? WHERE id = ?');
    this.#open = database.prepare<[number], Row>(
      'SELECT id, stream, state FROM streams WHERE open = 1 AND id > ? ORDER BY id LIMIT 500',
    );
    this.#twice = database.prepare<[], Row>(
      `SELECT id, stream, state FROM streams WHERE hash IN (SELECT hash FROM streams GROUP BY hash HAVING count(*) > 1)
       ORDER BY stream, id`,
    );
  }

  /** The stream of an event, before that event. */
  of({ stream, revision }: EventPlace): StreamRecord {
    const known = this.#memory.get(stream);
    if (known) return known;
    // A first event begins a stream, so nothing is looked up for it. `beginningTwice` finds one that began before.
    const found = revision === 0 ? null : this.#load(stream);
    const record = found ?? this.#begin(stream);
    this.#memory.set(stream, record);
    return record;
  }

  /** Notes an event as the newest of its stream. */
  advance(record: StreamRecord, { revision, position }: EventPlace): Continuation {
    const expected = record.revision + 1;
    record.position = position;
    if (revision === expected) {
      record.revision = revision;
      return { kind: 'next' };
    }
    if (revision > expected) {
      const missing = revision - expected;
      for (let at = expected; at < revision && record.awaited.length < MOST_AWAITED; at++) record.awaited.push(at);
      record.revision = revision;
      return { kind: 'gap', missing };
    }
    const awaited = record.awaited.indexOf(revision);
    if (awaited === -1) return { kind: 'again' };
    record.awaited.splice(awaited, 1);
    return { kind: 'late' };
  }

  /** Notes what an event may have added to the states of its stream, which `of` has returned last. */
  grew(record: StreamRecord, data: JsonObject): void {
    let things = 0;
    for (const value of Object.values(data)) if (Array.isArray(value)) things += value.length;
    record.things += things;
    this.#memory.grew(things);
  }

  /** Moves every stream to the scratch database. */
  store(): void {
    this.#memory.clear();
  }

  /**
   * What streams leave open, and streams that begin more than once. To be called after `store`.
   * @param lacking streams in which an event is missing
   * @param logState what is known of the whole log by then
   * @param unfinished the position of an event whose append may not be readable as a whole yet; null if there is none
   */
  end(until: Instant, lacking: ReadonlySet<string>, unfinished: Position | null, logState: LogState): void {
    for (let after = 0; ; ) {
      const rows = this.#open.all(after);
      for (const row of rows) {
        const record = this.#recordOf(row);
        if (unfinished === null || record.position !== unfinished) this.#endOf(record, until, lacking, logState);
      }
      const last = rows.at(-1);
      if (!last) break;
      after = last.id;
    }
    this.#beginningTwice();
  }

  #endOf(record: StreamRecord, until: Instant, lacking: ReadonlySet<string>, logState: LogState): void {
    const source = sourceOf(record.stream);
    this.#breaches.forget(source);
    const follows = record.tainted || lacking.has(record.stream) ? TAINTED : null;
    judgeEnd(record, until, {
      breach: (breach) => this.#breaches.add(breach, source, follows),
      unprovable: (rule) => this.#breaches.addUnprovable(rule, 1, source),
      logState,
    });
  }

  #beginningTwice(): void {
    let before: string | null = null;
    for (const { stream, state } of this.#twice.all()) {
      if (stream === before) {
        const [revision, position] = storedRow<Stored>(state);
        const source = `twice ${stream}`;
        this.#breaches.forget(source);
        const found = `a second beginning, up to revision ${revision}`;
        const rule = 'revisions_contiguous';
        this.#breaches.add({ rule, stream, revision: null, position, expected: 'one beginning', found }, source);
      }
      before = stream;
    }
  }

  #begin(stream: string): StreamRecord {
    const rules = this.#rules.filter((each) => each.covers(stream));
    const states = rules.map(() => undefined);
    return { stream, rules, states, revision: -1, position: null, tainted: false, awaited: [], id: null, things: 0 };
  }

  #load(stream: string): StreamRecord | null {
    const row = this.#find.all(spreadOf(stream)).findLast((each) => each.stream === stream);
    return row ? this.#recordOf(row) : null;
  }

  #recordOf({ id, stream, state }: Row): StreamRecord {
    const [revision, position, tainted, awaited, states] = storedRow<Stored>(state);
    const known = states.map((each) => each ?? undefined);
    const things = Math.floor(state.length / STORED_LENGTH);
    return { ...this.#begin(stream), revision, position, tainted: tainted === 1, awaited, id, things, states: known };
  }

  #store(records: ReadonlyMap<string, StreamRecord>): void {
    for (const record of records.values()) {
      const { stream, revision, position, tainted, awaited, states, id } = record;
      const stored = [revision, position, tainted ? 1 : 0, awaited, states.map((each) => each ?? null)];
      const [open, state] = [staysOpen(record) ? 1 : 0, JSON.stringify(stored)];
      if (id === null) this.#insert.run(spreadOf(stream), stream, open, state);
      else {
        this.#update.run(open, state, id);
        this.#breaches.forget(sourceOf(stream));
      }
    }
  }
}

export const TAINTED = 'an event of this stream that is broken or missing';

const sourceOf = (stream: string): string => `end ${stream}`;

interface EndFindings {
  breach(breach: Breach): void;
  unprovable(rule: RuleName): void;
  readonly logState?: LogState;
}

function judgeEnd({ stream, rules, states, position }: StreamRecord, until: Instant, found: EndFindings): void {
  const findings: Findings = {
    breach: (rule, expected, what) => found.breach({ rule, stream, revision: null, position, expected, found: what }),
    unprovable: (rule) => found.unprovable(rule),
    ...(found.logState && { logState: found.logState }),
    state: () => {
      throw new Error('a stream states facts by its events, not by its end');
    },
  };
  for (const [index, { end }] of rules.entries()) {
    const state = states[index];
    if (end && state !== undefined) end(state, stream, until, findings);
  }
}

/** Whether the stream leaves something open, now or once time has passed. */
function staysOpen(record: StreamRecord): boolean {
  let open = false;
  const note = (): void => {
    open = true;
  };
  judgeEnd(record, END_OF_TIME, { breach: note, unprovable: note });
  return open;
}
