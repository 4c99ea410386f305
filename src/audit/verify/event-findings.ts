/** What rules find at one event goes to where it is kept. One object for all events: it is made for millions of them. */
import type { Json } from '../../events/event.ts';
import type { Findings, JudgedEvent, LogRules } from '../judging.ts';
import type { LogTime } from '../log-time.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { Breaches } from './breaches.ts';
import type { Facts } from './facts.ts';
import type { LookUps } from './look-ups.ts';

/** The present state of rules of the whole log. */
export type LogState = <State extends Json>(rules: LogRules<State>) => State | undefined;

export class EventFindings implements Findings {
  readonly #breaches: Breaches;
  readonly #facts: Facts;
  readonly #lookUps: LookUps;
  readonly #logState: LogState;
  readonly logTime: LogTime;
  #event: JudgedEvent | null = null;
  #followsFrom: string | null = null;
  #breached = false;

  constructor(breaches: Breaches, facts: Facts, lookUps: LookUps, logState: LogState, logTime: LogTime) {
    this.#breaches = breaches;
    this.#facts = facts;
    this.#lookUps = lookUps;
    this.#logState = logState;
    this.logTime = logTime;
  }

  /** @param followsFrom what every breach at this event follows from; null for breaches of their own */
  of(event: JudgedEvent, followsFrom: string | null): void {
    if (event !== this.#event) this.#breached = false;
    this.#event = event;
    this.#followsFrom = followsFrom;
  }

  /** Whether the rules have found a breach at this event. */
  get breached(): boolean {
    return this.#breached;
  }

  breach(rule: RuleName, expected: string, found: string): void {
    const { stream, revision, position } = this.#judged();
    this.#breached = true;
    this.#breaches.add({ rule, stream, revision, position, expected, found }, '', this.#followsFrom);
  }

  state(key: string, says: string, value: Json): void {
    const { stream, revision, position, metadata } = this.#judged();
    this.#facts.add({ key, says, value, stream, revision, position, at: metadata.recordedAt });
  }

  unprovable(rule: RuleName): void {
    this.#breaches.addUnprovable(rule);
  }

  logState<State extends Json>(rules: LogRules<State>): State | undefined {
    return this.#logState(rules);
  }

  refers(rule: RuleName, to: { readonly stream: string; readonly revision: number }, name: string): void {
    const { stream, revision, position } = this.#judged();
    this.#lookUps.reference({ rule, from: { stream, revision, position }, to, name });
  }

  withdrew(rule: RuleName): void {
    const { stream, revision, position, metadata } = this.#judged();
    this.#lookUps.withdrawal(rule, { stream, revision, position, recordedAt: metadata.recordedAt }, this.#followsFrom);
  }

  #judged(): JudgedEvent {
    if (this.#event === null) throw new Error('nothing is judged now');
    return this.#event;
  }
}
