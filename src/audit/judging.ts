/**
 * How the rules of money and promise are judged (docs/design/audit.md#judging). Rules about one stream fold its events.
 * Rules that tie streams together are judged from facts: each event states facts under a key, and all facts of one key
 * are judged together. Both need only a small part of the log at a time, so memory does not grow with the log.
 */
import type { Json, JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventMetadata, Position } from '../storage/event-log.ts';
import type { LogTime } from './log-time.ts';
import type { RuleName } from './rules/catalogue.ts';

/** Where a breach is. `revision` is null if the event is missing or the breach concerns a whole stream. */
export interface BreachPlace {
  readonly stream: string;
  readonly revision: number | null;
  readonly position: Position | null;
}

export interface Breach extends BreachPlace {
  readonly rule: RuleName;
  /** What the rule expects here, in words or as a value. */
  readonly expected: string;
  /** What is there. Never content, a URL or a secret. */
  readonly found: string;
}

/** Where an event is and what it is called, which is known of broken ones too. */
export interface EventPlace {
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
}

/** An event in its newest schema, with the version that was written. */
export interface JudgedEvent extends EventPlace {
  readonly data: JsonObject;
  readonly metadata: JudgedMetadata;
}

/** As much of an event's metadata as rules need: it is made for millions of events. */
export interface JudgedMetadata extends Pick<EventMetadata, 'recordedAt' | 'schemaVersion'> {
  readonly commandId?: string | undefined;
}

/** Something that an event states about a subject in another stream. */
export interface Fact extends BreachPlace {
  /** `KIND:SUBJECT`, e.g. `transaction:5f…`; all facts of one key are judged together. */
  readonly key: string;
  readonly says: string;
  readonly value: Json;
  /** When the event was recorded. */
  readonly at: Instant;
}

/** What a rule says while it judges one event. */
export interface Findings {
  /** At the judged event. */
  breach(rule: RuleName, expected: string, found: string): void;
  state(key: string, says: string, value: Json): void;
  /** Something that an event of an earlier version cannot prove: counted by rule, and no breach. */
  unprovable(rule: RuleName): void;
  /** The state of rules of the whole log, just before this event, or at the end. Undefined before their first event. */
  logState?<State extends Json>(rules: LogRules<State>): State | undefined;
  /** What time the events before this one say it is; undefined at the end of a stream. */
  readonly logTime?: Pick<LogTime, 'newest' | 'silences' | 'momentAt'> | undefined;
  /**
   * The rule holds only if the event at a place has this text as a value. The place is looked up, because few events
   * refer to others in this way and keeping what all others name would cost more.
   */
  refers?(rule: RuleName, to: { readonly stream: string; readonly revision: number }, name: string): void;
  /** The rule holds only if the content that the delivery needs was gone by record or past its time: looked up too. */
  withdrew?(rule: RuleName): void;
}

/**
 * The rules of one family of streams. The state is JSON; undefined before the first event of the stream. `judge` may
 * change the state that it is given, and then returns that.
 */
export interface StreamRules<State extends Json> {
  covers(stream: string): boolean;
  judge(state: State | undefined, event: JudgedEvent, findings: Findings): State;
  /**
   * What a stream must not leave open. Called with its last state once the whole log was read.
   * @param until when the newest event of the log was recorded
   */
  end?(state: State, stream: string, until: Instant, findings: Findings): void;
}

/**
 * Rules that need a small state of the whole log, such as who receives payments at the time. They see events of these
 * types in log order; the state is JSON, undefined before the first of them, and may be changed in place.
 */
export interface LogRules<State extends Json> {
  readonly types: ReadonlySet<string>;
  judge(state: State | undefined, event: JudgedEvent, findings: Findings): State;
}

/** The rules about the facts of one kind of key. */
export interface FactRules {
  /** The part of the key before the colon. */
  readonly kind: string;
  /** @param facts of one key, in log order; a wallet may have very many, so they are read once */
  judge(
    facts: Iterable<Fact>,
    until: Instant,
    breach: (breach: Breach) => void,
    unprovable: (rule: RuleName) => void,
  ): void;
}
